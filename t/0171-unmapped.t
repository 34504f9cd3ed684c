#!/bin/sh
# code that is unmapped before the run ends, or replaced by an exec, keeps the
# names of its object: in kinds counts and cache, which tell counts late, too
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
cat >"$T/lib.c" <<'END'
int guest(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s = s * 3 + i;
	return s;
}
END
cat >"$T/prog.c" <<'END'
#include <dlfcn.h>
#include <stddef.h>
#include <unistd.h>
int before(int n)
{
	volatile int s = 0;

	for (int i = 0; i < n; i++)
		s = s * 3 + i;
	return s;
}
int main(int argc, char **argv)
{
	void *lib = dlopen(argv[1], RTLD_NOW);
	int (*f)(int) = (int (*)(int))dlsym(lib, "guest");
	int r = f(1000) == 1 || before(1000) == 1;

	if (dlclose(lib) != 0 || dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
		return 1;
	if (argc > 2)
		execv(argv[2], argv + 2);
	return r;
}
END
${CC:-gcc} -O1 -g -shared -fPIC -o "$T/lib.so" "$T/lib.c" || exit 99
${CC:-gcc} -O1 -g -fno-inline -o "$T/prog" "$T/prog.c" -ldl || exit 99

# what KIND: the instructions of the two functions
what() {
	"$B/trace" -e "$1" -o "$T/ev" "$T/prog" "$T/lib.so" $2 || return 1
	"$B/icount" "$T/ev" | "$B/fmt-cachegrind" | awk '
	    /^fn=/ { fn = substr($0, 4) } /^[0-9]/ { n[fn] += $2 }
	    END { print n["guest"], n["before"] }'
}

want=$(what all)
ok "both functions have costs: $want" "$(set -- $want
    [ "$1" -gt 3000 ] && [ "$2" -gt 3000 ]; echo $?)"
for kind in blocks counts cache; do
	same "kind $kind" "$want" "$(what $kind)"
	same "kind $kind, before an exec" "$want" \
	    "$(what $kind /bin/true)"
done
"$B/trace" -e counts --contexts -o "$T/ev" "$T/prog" "$T/lib.so"
"$B/callgraph" "$T/ev" | "$B/fmt-folded" >"$T/folded" 2>/dev/null
same "counts --contexts" "main;guest ${want% *}" \
    "$(grep -o 'main;guest [0-9]*' "$T/folded")"

# what was mapped before an exec is not what is there now
cat >"$T/fixed.c" <<'END'
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#define AT ((unsigned char *)0x600000000000)
int main(int argc, char **argv)
{
	int anew = argc < 3, fd = anew ? -1 : open(argv[1], O_RDONLY);

	if (mmap(AT, 65536, PROT_READ | PROT_EXEC | (anew ? PROT_WRITE : 0),
	    MAP_PRIVATE | MAP_FIXED | (anew ? MAP_ANONYMOUS : 0), fd, anew ? 0 :
	    0x40000) != AT)
		return 1;
	if (!anew)
		execv(argv[0], (char *[]){ argv[0], argv[1], NULL });
	for (int i = 0; i < 65536; i += 16) {
		memcpy(AT + i, "\x90\xc3", 2);
		((void (*)(void))(AT + i))();
	}
	return 0;
}
END
${CC:-gcc} -O1 -o "$T/fixed" "$T/fixed.c" || exit 99
libc=$(ldd "$T/fixed" | awk '/libc\./ { print $3 }')
check "code where a library was before an exec" "$B/trace" -e counts \
    --contexts -o "$T/ev" "$T/fixed" "$libc" again
"$B/callgraph" --contexts "$T/ev" | "$B/fmt-folded" >"$T/folded" 2>/dev/null
same "has functions of its own" 4096 \
    "$(grep -c 'main;0x00006000000[0-9a-f]*0 2$' "$T/folded")"

# an mmap that fails takes no place, so no code is dropped: where there is none
# given, that would be all up to its length
cat >"$T/failing.c" <<'END'
#include <sys/mman.h>

int
main(void)
{
	int i, n = 0;

	for (i = 0; i < 300; i++)
		n += mmap(0, 1ul << 46, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS,
		    -1, 0) == MAP_FAILED;
	return n < 290;
}
END
if ${CC:-gcc} -O1 -static -o "$T/failing" "$T/failing.c" 2>/dev/null &&
    "$T/failing"; then
	check "mappings that fail" "$B/trace" -v -e none "$T/failing"
	n=$(sed -n 's/^trace: \([0-9]*\) fragments, .*/\1/p' "$T/err")
	[ "$n" -lt 1500 ]
	ok "leave code alone: $n fragments" $?
else
	skip "mappings that fail" "there is so much room, or no static program"
	skip "leave code alone" "likewise"
fi

# A page of loops is mapped anew 300 times.  The exits of what it held before
# are not linked again each time: that would be 5 million.
cat >"$T/anew.c" <<'END'
#include <string.h>
#include <sys/mman.h>

/* mov $3, %ecx; 1: inc %eax; dec %ecx; jnz 1b */
static const char loop[] = "\xb9\3\0\0\0\xff\xc0\xff\xc9\x75\xfa";

int
main(void)
{
	char *at, *p = NULL;
	int i, j, sum = 0;

	for (i = 0; i < 300; i++) {
		p = mmap(p, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
		    MAP_PRIVATE | MAP_ANONYMOUS | (p ? MAP_FIXED : 0), -1, 0);
		if (p == MAP_FAILED)
			return 1;
		at = stpcpy(p, "\x31\xc0");	/* xor %eax, %eax */
		for (j = 0; j < 60; j++, at += 11)
			memcpy(at, loop, 11);
		*at = (char)0xc3;
		sum += ((int (*)(void))p)();
	}
	return sum != 300 * 180;
}
END
${CC:-gcc} -O1 -D_GNU_SOURCE -o "$T/anew" "$T/anew.c" || exit 99
check "a page of code is mapped 300 times" "$B/trace" -v -e none "$T/anew"
n=$(sed -n 's/.* \([0-9]*\) exits linked.*/\1/p' "$T/err")
[ "$n" -gt 18000 ] && [ "$n" -lt 200000 ]
ok "few exits are linked again: $n in all" $?

done_testing
