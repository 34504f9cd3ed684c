#!/bin/sh
# quern(7)'s recipes: run as they stand, but for names of what is not here

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
LIMIT=120
export TMPDIR=$T
sed -n '/^\.Sh RECIPES/,/^\.Sh SEE ALSO/p' man/quern.7 >"$T/recipes"

# shown TITLE: the commands of a recipe, our programs by their paths
shown() {
	awk -v title=".Ss $1" '
	/^\.S[hs]/ { on = $0 == title }
	on && /^\.Bd/ { display = 1; next }
	on && /^\.Ed/ { display = 0 }
	on && /^\.Dl / { sub(/^\.Dl /, ""); print; next }
	on && display { gsub(/\\e/, "\\"); print }' "$T/recipes" |
	    sed 's/100M/100k/'
}
mkdir "$T/bin" "$T/d" "$T/d/inputs"
for s in $(ls "$B"); do
	ln -s "$B/$s" "$T/bin/$s"
done
run_it() { # TITLE: in $T/d
	shown "$1" >"$T/script"
	[ -s "$T/script" ] && (cd "$T/d" && PATH=$T/bin:$PATH \
	    timeout -k 5 100 sh "$T/script") >"$T/said" 2>&1
}
good() { # TITLE TEXT: a recipe runs, and prints this
	run_it "$1"
	ok "$1" $? || sed 's/^/# /' "$T/said"
	check "$1: shows $2" grep -q -e "$2" "$T/said"
}
cd "$T/d" || exit 99
cat >prog.c <<'EOF'
static int v[100000];
int main(void)
{
	for (int i = 0; i < 100000; i++)
		v[i] = v[i * 7 % 100000] + i;
	return 0;
}
EOF
$CC -O1 -g -o prog prog.c || skip_all "no compiler"
printf 'all:\n\t./prog\n' >Makefile
touch inputs/a inputs/b

good "Children" 'prog.c:main'
good "Misses of the TLB, and of caches with a second level" 'LL\|L2\|TLB'
same "of L2: a profile" 1 "$(grep -c '^summary' l2.out)"
good "The lines that cost most" 'prog.c:'
shown "Simulation points for gem5" | sed '/^gem5/,$d' >"$T/script"
check "Simulation points for gem5" \
    sh -c "cd '$T/d' && PATH=$T/bin:\$PATH sh '$T/script'"
same "as many weights as points" "$(wc -l <run.simpts)" "$(wc -l <run.weights)"
check "array --regions" "$B/array" --regions=100k -d regions -- ./prog
shown "Many inputs, a cluster" | sed 's/ --slurm=.* list/ list/' >"$T/script"
check "Many inputs" sh -c "cd '$T/d' && PATH=$T/bin:\$PATH sh '$T/script'"
check "Many inputs: their sum" grep -q 'prog.c:main' "$T/out"
# a server
printf '%s\n' '#include <unistd.h>' 'int main(void) { for (;;) getppid(); }' >server.c
$CC -O1 -g -o server server.c
./server &
pid=$!
# until it has been in main for a while
n=0
until [ "$(cut -d' ' -f14 /proc/$pid/stat)" -ge 5 ] || [ $n -ge 400 ]; do
	sleep 0.05
	n=$((n + 1))
done
shown "A process that runs, for five seconds" |
    sed "s/=5 /=1 /; s/\$(pidof -s server)/$pid/" >"$T/script"
PATH=$T/bin:$PATH timeout -k 5 100 sh "$T/script" >"$T/said" 2>&1
ok "A process that runs" $?
check "A process that runs: its functions" grep -q 'server.c:main' "$T/said" ||
    sed 's/^/# /' "$T/said"
check "goes on" kill -0 $pid
kill $pid
wait $pid 2>/dev/null
if command -v git >/dev/null; then
	export GIT_CONFIG_GLOBAL=/dev/null GIT_CONFIG_NOSYSTEM=1
	echo 'one counts ./prog' >programs
	printf 'prog: prog.c\n\t%s -O1 -g -o prog prog.c\n' "$CC" >Makefile
	{ git init . && git add prog.c Makefile programs && git -c user.name=t \
	    -c user.email=t@localhost commit -m one; } >/dev/null 2>&1
	git branch -q origin/main
	good "A job that tests the instructions of each change" '^| one | Ir | '
else
	skip "A job that tests the instructions" "no git"
fi

# each option in them is one of the program's
awk '/^\.(Bd|Dl)/ || /^[a-z]/ { sub(/^\.Dl /, ""); print }' "$T/recipes" |
    sed 's/[|;]/\n/g' | while read -r p rest; do
	[ -n "$p" ] && [ -x "$B/$p" ] || continue
	"$B/$p" --help >"$T/help"
	for o in $(echo "$rest" | grep -o -E -e '(^| )--?[a-zA-Z][-a-zA-Z]*'); do
		grep -q -e "$o" "$T/help" || echo "$p $o"
	done
done | grep -v 'array --time' >"$T/wrong"
same "their options exist" "" "$(cat "$T/wrong")"

done_testing
