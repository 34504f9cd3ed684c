#!/bin/sh
# trace: where address space randomisation cannot be switched off, as in a
# container whose filter forbids personality(2), the program's image is moved
# to where it lies otherwise; where that cannot be either it is said, once
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
personality=135 prctl=157
forbid() {	# CALL COMMAND...
	"$TB/forbid" "$@"
}
forbid $personality true || skip_all "no filters of system calls"
setarch -R true 2>/dev/null || skip_all "it cannot be switched off here"
moved() {
	forbid $personality "$@"
}

tell() {	# TEXT COMMAND...: sets said
	text=$1
	shift
	status 0 "$text" "$@"
	said=$(cat "$T/err")
}

# --- places: those without randomisation but for upper digits in the area of
# mappings, and what fills it up to the place that the kernel chose
upper() {	# FILE: the upper digits are those without randomisation
	sed 's/7eef/7fff/g; s/6fef/7fff/g' "$1"
}
shown() {	# COMMAND...: by trace, which must not show its own vector
	env -i PATH="$PATH" "$@"
}
fixed="--clear-env=LD_SHOW_AUXV=1,A=b,PATH"
equal() {	# WHAT COMMAND...
	what=$1
	shift
	shown "$B/trace" "$fixed" -e none "$@" 2>&1 |
	    sed '/memfd:quern/d' >"$T/usual"
	for i in 1 2; do
		shown "$TB/forbid" $personality "$B/trace" "$fixed" -e none \
		    "$@" 2>&1 |
		    sed '/---p 00000000 00:00 0 *$/d; /memfd:quern/d' >"$T/$i"
	done
	check "$what: the same twice" cmp -s "$T/1" "$T/2"
	upper "$T/1" >"$T/1.upper"
	check "$what: as without randomisation" \
	    cmp -s "$T/usual" "$T/1.upper"
}
equal "mappings" cat /proc/self/maps
check "there are some" grep -q '^55555555[4-9a-f]000-.*/cat$' "$T/1.upper"
check "the stack is one" grep -q '^7ffff.*-7ffffffff000.*\[stack\]' "$T/1.upper"
equal "the auxiliary vector" true
check "it has the loader" grep -q '^AT_BASE: *0x7ffff7f' "$T/1.upper"
equal "the command line" tr '\0' ' ' /proc/self/cmdline
equal "the kernel's fields" cut -d " " -f 26-28,45-51 /proc/self/stat
equal "the kernel's vector" od -An -tx8 -w16 /proc/self/auxv
equal "an image that another one executes" \
    sh -c 'exec sh -c "exec cat /proc/self/maps"'
equal "a program that the loader is told" \
    /lib64/ld-linux-x86-64.so.2 /bin/cat /proc/self/maps

# --- programs of all forms
cat >"$T/places.c" <<'EOC'
#include <alloca.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int deep(int n)
{
	char *p = alloca(4096);

	memset(p, n, 4096);
	return n == 0 ? p[9] : deep(n - 1) + p[7];
}
int main(int argc, char **argv)
{
	char *p = sbrk(1 << 20), *q;

	memset(p, 1, 1 << 20);
	q = malloc(1 << 24);
	memset(q, 1, 1 << 24);
	printf("%p %p %p %p %d\n", (void *)main, (void *)&argc, (void *)p,
	    (void *)q, deep(1500));
	while (argc-- > 0)
		printf("%p %s\n", (void *)argv[argc], argv[argc]);
	printf("%s\n", getenv("A"));
	return 0;
}
EOC
form() {	# FLAGS...
	if $CC -O1 -o "$T/places" "$T/places.c" "$@" 2>/dev/null; then
		equal "cc $*" "$T/places" "a b" ""
		check "cc $*: it ran" grep -q '^b$' "$T/1"
	else
		for i in 1 2 3; do skip "cc $*" "it cannot be compiled"; done
	fi
}
CC=${CC:-cc}
form -pie -fPIE
form -no-pie
form -static
form -static-pie -fPIE
form -pie -fPIE -Wl,-z,max-page-size=0x200000
form -static-pie -fPIE -Wl,-z,max-page-size=0x200000

# the kernel's random bytes may end anywhere
cp /bin/true "$T/a"
same "200 starts with hardly any strings" "" "$(cd "$T" && for i in $(seq 200); do
	env -i "$TB/forbid" $personality "$B/trace" --clear-env -e none ./a
done 2>&1)"

# --- counts, victims, children, a store; times are not read: the vDSO's loops
mkdir "$T/old"
touch "$T/old/file"
counts() {
	env -i "$@" -e counts -o "$T/ev" ls -is "$T/old" >/dev/null 2>"$T/err" &&
	    "$B/icount" -o "$T/count" "$T/ev" && grep '^summary' "$T/count"
}
same "counts are those without randomisation" "$(counts "$B/trace")" \
    "$(counts "$TB/forbid" $personality "$B/trace")"
for v in sig-altstack sig-die-stack thr-many prc-mmap prc-brk prc-brkstatic \
    prc-shared prc-vfork prc-aslimit smc-remap prc-name; do
	[ -x "$TB/victim/$v" ] || { skip "$v" "not built"; continue; }
	# the inner shell tells of a program that dies
	(cd "$T" && "$TB/victim/$v" >"$T/native" 2>&1; exit $?) 2>/dev/null
	want=$?
	(cd "$T" && moved "$B/trace" -e none "$TB/victim/$v" >"$T/traced" \
	    2>"$T/err"; exit $?) 2>/dev/null
	same "$v ends as natively" $want $?
done
(cd "$T" && moved "$B/trace" -f -e none "$TB/victim/prc-aslimit") >"$T/out" 2>&1
same "a limit of the address space, with -f" "ok prc-aslimit" \
    "$(grep -v 'randomisation stays on' "$T/out")"
rm -f "$T"/run.*
tell "with children" moved "$B/trace" -f -e counts -o "$T/run.%p.ev" \
    sh -c 'cat /proc/self/maps; sh -c "exec cat /proc/self/maps"; true'
same "nothing is said" "" "$said"
same "their addresses are fixed, too" 2 \
    "$(grep -c '^55555555[4-9a-f]000-.* 00000000 .*/cat$' "$T/out")"
tell "with a store" moved "$B/trace" --store="$T/store" -e counts \
    -o "$T/ev" true
same "nothing is said then" "" "$said"
tell "with a store that has all" moved "$B/trace" -v --store="$T/store" \
    -e counts -o "$T/ev" true
check "fragments come from there" \
    grep -q '^trace: [1-9][0-9]* fragments from the store' "$T/err"

# --- where they cannot be moved
never() {
	forbid $personality "$TB/forbid" $prctl "$@"
}
says="trace: address space randomisation stays on, as with --aslr: \
Operation not permitted"
tell "where prctl is forbidden as well" never "$B/trace" -e counts \
    -o "$T/ev" true
same "that is said" "$says" "$said"
check "the stream is whole" "$B/icount" -o /dev/null "$T/ev"
tell "with --aslr" never "$B/trace" --aslr -e counts -o "$T/ev" true
same "with --aslr nothing is said" "" "$said"
tell "with children, and images of their own" never "$B/trace" -f --exec=new \
    -e counts -o "|'$B/icount' -o /dev/null" \
    sh -c "sh -c true; sh -c true; exec true"
same "with children, and images of their own, it is said once" "$says" "$said"
tell "with a store" never "$B/trace" --store="$T/store" -e counts \
    -o "$T/ev" true
same "with a store, that is not used" "$says
trace: --store: with --aslr all addresses are others each time: it is not used" \
    "$said"
tell "where it is off already" setarch -R "$TB/forbid" $personality \
    "$TB/forbid" $prctl "$B/trace" -e counts -o "$T/ev" true
same "where it is off already nothing is said" "" "$said"
tell "under a limit of the address space" sh -c 'ulimit -v 40000000
    exec "$@"' - "$TB/forbid" $personality "$B/trace" -e none true
same "under a limit it is said" "trace: address space randomisation stays on, \
as with --aslr: Cannot allocate memory" "$said"
tell "without a limit of the stack" sh -c 'ulimit -s unlimited
    exec "$@"' - "$TB/forbid" $personality "$B/trace" -e none true
same "without a limit of the stack it is said" "trace: address space \
randomisation stays on, as with --aslr: the limit of the stack is too high" \
    "$said"
tell "programs that are not moved still run" sh -c 'ulimit -s unlimited
    exec "$@"' - "$TB/forbid" $personality "$B/trace" -e none cat /proc/self/maps
done_testing
