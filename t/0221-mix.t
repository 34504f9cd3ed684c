#!/bin/sh
# mix: sums are those of all instructions, names those of objdump

. t/lib.sh

M=$B/mix

# widths come from the stream alone
cat >"$T/page.ev" <<'END'
H quern-events 1
H kind counts
M 1 1000 2000 0 /no such/file
B 1 >1000 4r8 2C1000
P 2 1 1
B 3 >1006 3r4r4r4r4 3m2 5r8w8 1
1*4
2
3*9
E exit 0 16
END
cat >"$T/page" <<'END'
# instructions by width
insns 51

# all class insns share
all none 15 0.294118
all m2 10 0.196078
all r4x4 10 0.196078
all r8w8 10 0.196078
all r8 6 0.117647

# function insns share object name
# of class insns share-of-function object name

function 51 1.000000 /no\040such/file ???
of none 15 0.294118 /no\040such/file ???
of m2 10 0.196078 /no\040such/file ???
of r4x4 10 0.196078 /no\040such/file ???
of r8w8 10 0.196078 /no\040such/file ???

end
END
check "widths" "$M" --by=width --classes=4 "$T/page.ev"
samefile "as the page says" "$T/page" "$T/out"
check "an object that is not there" "$M" --functions=0 "$T/page.ev"
same "all is unknown" "all unknown 51 1.000000" "$(grep ^all "$T/out")"
same "in a line" "mix: /no such/file: the bytes of instructions executed 51\
 times are not known" "$(cat "$T/err")"

# bytes in the stream: code that no file has
cat >"$T/jit.ev" <<'END'
H quern-events 1
H kind blocks
B 1 >7000 3=4801d8 2=7402C7005 >7005 4=f30f1efa 1=90 1=c3r8.0R
P 2 1 1
1+7ffe0000*2
2
B 3 >7000 3=4829d8 2=eb03J7005
3
E exit 0 5
END
check "code of no file" "$M" --functions=0 "$T/jit.ev"
same "as it was each time" "add 4;endbr64 3;jz 3;nop 3;ret 3;jmp 1;sub 1;" \
    "$(awk '/^all/ { printf "%s %s;", $2, $3 }' "$T/out")"
same "and nothing is unknown" "" "$(cat "$T/err")"
sed 's/4801d8/4801d/; s/kind blocks/kind all/' "$T/jit.ev" >"$T/bad.ev"
status 2 "bytes of another number" "$M" "$T/bad.ev"
grep -q 'bad.ev:3: not the bytes of an instruction' "$T/err"
ok "in a line" $?
sed 's/4801d8/0606d8/' "$T/jit.ev" >"$T/odd.ev"
check "bytes that are no instruction" "$M" --functions=0 "$T/odd.ev"
same "are unknown" "all unknown 4 0.222222" "$(grep unknown "$T/out")"
check "plain text of it stays" "$TB/ev" copy "$T/jit.ev"

# a program: objdump's names, all kinds alike, sums are those of icount
for kind in all blocks counts cache; do
	"$B/trace" -e $kind -o "$T/ls.$kind" ls / >/dev/null
	n=$("$TB/evcount" "$T/ls.$kind")
	for by in mnemonic category extension set width; do
		"$M" --by=$by --functions=0 "$T/ls.$kind" >"$T/mix" 2>"$T/err2"
		same "$kind, $by: the sum" "$n $n" "$(awk '
			/^all/ { n += $3 } /^insns/ { all = $2 }
			END { print all, n }' "$T/mix")"
	done
done
names() {
	# objdump has one name for both ways to compare into a mask
	sed -E 's/^vpcmp(eq|gt)?(u?[bwdq]) /vpcmp\2 /' | awk '{ n[$1] += $2 }
		END { for (i in n) print i, n[i] }' | sort
}
if command -v objdump >/dev/null; then
	"$B/icount" "$T/ls.all" >"$T/costs"
	perl t/models/mnemonics.pl "$T/costs" | names >"$T/objdump"
	"$M" --functions=0 "$T/ls.all" 2>/dev/null |
	    awk '/^all/ { print $2, $3 }' | names >"$T/ours"
	[ "$(wc -l <"$T/ours")" -gt 60 ] && ! grep -q unknown "$T/objdump"
	if [ $? -eq 0 ]; then
		samefile "mnemonics are objdump's" "$T/objdump" "$T/ours"
	else
		skip "mnemonics are objdump's" "code that is in no file ran"
	fi
else
	skip "mnemonics are objdump's" "no objdump"
fi

# functions and classes add up
"$M" --functions=100000 --classes=100000 "$T/ls.counts" >"$T/mix"
same "functions add up to all" "$(awk '/^insns/ { print $2, $2 }' "$T/mix")" \
    "$(awk '/^function/ { f += $2 } /^of/ { c += $3 } END { print f, c }' \
    "$T/mix")"

# costs, by address and to the end of the pipe
check "costs" "$M" --costs --by=category "$T/ls.counts"
cp "$T/out" "$T/mix.costs"
"$M" --by=category --functions=0 "$T/ls.counts" >"$T/mix"
same "their columns" "$(awk '/^all/ { printf " %s", $2 }' "$T/mix")" \
    "$(sed -n 's/^events: Ir//p' "$T/mix.costs")"
same "their sums" "$(awk '/^all/ { printf " %s", $3 }' "$T/mix")" \
    "$(sed -n 's/^totals: [0-9]*//p' "$T/mix.costs")"
check "to lines" "$B/fmt-cachegrind" -o "$T/cg.out" "$T/mix.costs"
check "and sources" "$B/annotate" --sort=COND_BR "$T/cg.out"
check "mnemonics as costs" "$M" --costs "$T/ls.counts"
same "have a column for the others" "others" \
    "$(sed -n 's/^events: .* //p' "$T/out")"
same "and all of them" 0 "$(sed -n 's/^totals: //p' "$T/out" | awk '
	{ n = $1; for (i = 2; i <= NF; i++) n -= $i; print n }')"
want=$("$M" --show=push,jz,push "$T/ls.counts" | sed -n 's/^totals: //p')
same "--show" "$(awk '$1 == "all" && $2 == "push" { p = $3 }
	$1 == "all" && $2 == "jz" { j = $3 } $1 == "insns" { i = $2 }
	END { print i, p, j }' "$T/mix" | sed 's/ [0-9]* [0-9]*$//')" \
    "${want%% *}"
check "-t" "$M" -t --show=push,jz "$T/ls.all"
cp "$T/out" "$T/told.ev"
same "tells the same" "$("$M" --show=push,jz "$T/ls.all" |
    sed -n 's/^totals: [0-9]*//p')" \
    "$("$B/branchsim" "$T/told.ev" | awk '/^totals/ {
	print " " $(NF - 1) " " $NF }')"
grep -v '^O \|^H outcomes' "$T/told.ev" | "$TB/ev" copy >"$T/a.ev"
"$TB/ev" copy "$T/ls.all" >"$T/b.ev"
samefile "passes all on" "$T/b.ev" "$T/a.ev"

# code made at run time: trace tells its bytes
J=$TB/victim/smc-jit
for kind in counts all; do
	"$B/trace" -e $kind -o "$T/jit" "$J" >/dev/null 2>&1
	check "code made at run time, kind $kind" "$M" "$T/jit"
	same "is known" "" "$(cat "$T/err"; grep unknown "$T/out")"
	grep -q '^function [0-9]* [0-9.]* ??? ???' "$T/out"
	ok "and is a function" $?
done

# threads
python3 t/models/repeats.py 1 40 12 >"$T/thr.ev"
"$M" --by=width --per-thread --functions=0 "$T/thr.ev" >"$T/mix"
same "threads add up" "$("$TB/evcount" "$T/thr.ev")" \
    "$(awk '/^insns/ { n += $2 } END { print n }' "$T/mix")"
same "each is told" "$(sed -n 's/^T \([0-9]*\).*/\1/p' "$T/thr.ev" | sort -u |
    tr '\n' ' ')" "$(awk '/^thread/ { print $3 }' "$T/mix" | sort -u |
    tr '\n' ' ')"

# one thread behind another: the second may have the place of the first
cat >"$T/behind.c" <<'EOF'
#include <pthread.h>

static void *
work(void *n)
{
	for (volatile long i = 0; i < (long)n; i++)
		;
	return NULL;
}

int
main(void)
{
	pthread_t t;

	for (long n = 1000; n <= 3000; n += 1000) {
		pthread_create(&t, NULL, work, (void *)n);
		pthread_join(t, NULL);
	}
	return 0;
}
EOF
${CC:-gcc} -O1 -o "$T/behind" "$T/behind.c" -lpthread
others() {	# KIND ...: instructions of all threads but the first
	"$B/trace" -e "$@" -o "$T/behind.ev" "$T/behind" 2>&1
	"$M" --by=width --per-thread --functions=0 "$T/behind.ev" | awk '
		/^thread/ { n = $3 } /^insns/ && n > 1 { print n, $2 }' | sort
}
want=$(others blocks)
same "threads behind each other" 3 "$(echo "$want" | grep -c .)"
for kind in counts "counts --contexts" "counts -i 5000"; do
	same "have what they did, $kind" "$want" "$(others $kind)"
done

# more threads at one time than a thousand
${CC:-gcc} -O1 -o "$T/beside" t/src/beside.c -lpthread
if "$T/beside"; then
	for kind in cache branches counts; do
		check "1100 threads, kind $kind" "$B/trace" -e $kind \
		    -o "$T/many.ev" "$T/beside"
	done
	same "each has counts" 1101 \
	    "$(grep '^T' "$T/many.ev" | sort -u | wc -l)"
else
	skip "1100 threads" "they cannot be made here"
fi

# what it refuses
status 2 "kind cache by thread" "$M" --per-thread "$T/ls.cache"
grep -q 'kind cache.*how often each thread' "$T/err"
ok "is refused by name" $?
status 2 "kind counts with -t" "$M" -t --show=push "$T/ls.counts"
grep -q 'kind counts.*the order of executions' "$T/err"
ok "is refused by name" $?
for bad in --by=name --show= --show=, --show=nosuch --functions=x -t --nonsense; do
	status 2 "$bad" "$M" "$bad" "$T/page.ev"
done
for bad in mov r r8x 'r8 w8' "r8$(printf 'w%079d' 8)"; do
	status 2 "no width: $bad" "$M" --by=width --show="$bad" "$T/page.ev"
	same "is named" "mix: --show: there is no class \`$bad'" \
	    "$(cat "$T/err")"
done
check "widths that none has" "$M" --by=width --show=r4x8,m2w16 "$T/page.ev"
same "have columns" "events: Ir r4x8 m2w16" "$(grep ^events "$T/out")"
printf 'H quern-events 1\nE exit 0 0\n' >"$T/empty.ev"
check "an empty stream" "$M" "$T/empty.ev"
check "and its costs" "$M" --costs "$T/empty.ev"
head -n 6 "$T/page.ev" >"$T/cut.ev"
status 2 "a cut stream" "$M" --by=width "$T/cut.ev"
same "has no end" 0 "$(grep -c ^end "$T/out")"
done_testing
