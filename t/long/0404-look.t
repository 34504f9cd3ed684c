#!/bin/sh
# Pages and flame graphs as people see them: in headless Chromium at 400, 800
# and 1400 pixels, light and dark, by keyboard and touch; and as axe-core does.
# LOOK=FOLDER keeps the pictures.
. t/lib.sh

TOP=$PWD
AXE=4.10.3
AXE_SUM=880970c081707360e64f34cea25ff91892f5bc95675b0776925b9709dd8a68bb
LIMIT=500
command -v chromium >/dev/null || skip_all "no chromium"
command -v python3 >/dev/null || skip_all "no python3"
look=${LOOK:-$T/look}
mkdir -p "$look" || exit 99
HOME=$T
export HOME

# judge TEXT MODEL ARGUMENT...: it has nothing to say
judge() {
	text=$1
	shift
	run python3 "$TOP/t/models/$@"
	case $? in
	77)	skip "$text" "chromium does not run here: $(cat "$T/out")" ;;
	*)	same "$text" "" "$(cat "$T/out" "$T/err")" ;;
	esac
}

cd "$T" || exit 99
cat >work.h <<'E'
static inline __attribute__((always_inline)) int step(int x)
{
	__asm__ volatile("" : "+r" (x));
	return x * 7 + 1;	/* a comment that is long enough to reach the right edge of a narrow window */
}
E
cat >work.c <<'E'
#include "work.h"
static int table[1 << 16];

static __attribute__((noinline)) int look(int n)
{
	int s = 0;

	for (int i = 0; i < 20000; i++)
		s += table[(unsigned)step(s + i * n) % (1 << 16)];
	return s;
}

static __attribute__((noinline)) int sort(int n)
{
	for (int i = 0; i < n; i++)
		if (table[i] < n % (i + 1))
			table[i] = look(i) & 255;
	return table[n];
}

int main(int argc, char **argv)
{
	int s = 0;

	(void)argv;
	for (int i = 0; i < 3 * argc; i++)
		s += sort(i + 4);
	return s == -1;
}
E
${CC:-gcc} -g -O1 -o work work.c || exit 99
"$B/trace" --cpu=v3 -o ev ./work
"$B/trace" --cpu=v3 -o ev2 ./work again
"$B/cachesim" ev | "$B/fmt-cachegrind" >flat.out
"$B/branchsim" ev | "$B/fmt-cachegrind" >branch.out
"$B/cachesim" -t ev | "$B/callgraph" | "$B/fmt-callgrind" >calls.out
"$B/cachesim" -t ev2 | "$B/callgraph" | "$B/fmt-callgrind" >calls2.out
"$B/diff" -p calls.out calls2.out >diff.out
{ echo "desc: the run was interrupted by SIGINT"; cat flat.out; } >stopped.out
# a cell with all of the costs, names that must be escaped, events of others
cat >hot.out <<'E'
# callgrind format
cmd: prog <b>&"' with quite a long command line --option=value --another=one /and/a/path
positions: line
events: Ir Dr Dw L1Imr L1Dmr L1Dmw L2Dmr L3Dmw ITLBm
ob=(1) /nowhere/prog
fl=(1) q.c
fn=(1) main
13 100 10 1 1 1
cfn=(2) std::map<std::basic_string<char>, std::vector<int> >::operator[](std::basic_string<char> const&)
calls=99 2
17 999900 90000 0 77 8888 999 77 5 6
fn=(2)
6 999900 90000 0 77 8888 999 77 5 6
E
"$B/memsim" --machine=zen4 ev 2>/dev/null | "$B/fmt-cachegrind" >mem.out
for p in flat branch calls diff stopped hot mem; do
	check "the page: $p" "$B/annotate" --html=$p.html $p.out
	mkdir -p "$look/$p"
done

# --- what is chosen, and how many bytes it is
chosen() {
	sed -n 's/.*value=x[0-9]* checked>\([A-Za-z0-9]*\).*/\1/p' "$1.html" |
	    paste -s -d ' '
}
same "misses are chosen in a cache profile" "Ir L1m LLm" "$(chosen flat)"
same "mispredictions in a branch profile" "Ir Bm" "$(chosen branch)"
same "sums and rates of other levels" "Ir L1m" "$(chosen hot)"
same "the same of memsim's" "Ir L1m" "$(chosen mem | cut -d ' ' -f 1,2)"
for r in 'L1Imr per thousand' 'L1Dmr per reference: of Dr"' \
    'T1m per reference: of Ir + Dr + Dw"'; do
	check "memsim: $r" grep -q "title=\"$r" mem.html
done
check "by their references" grep -q 'title="TLBm\|title="ITLBm per thousand' hot.html
check "L3Dmw is one of Dw" grep -q 'L3Dmw per reference: of Dw' hot.html
check "callers and callees" grep -q '<caption>Callers' calls.html
# of a larger program, whose sources are there
for n in 1 2; do
	"$B/trace" -o big$n.ev "$B/annotate" --threshold=0.$n -o /dev/null calls.out
	"$B/cachesim" big$n.ev | "$B/fmt-cachegrind" >flat$n.big
	"$B/cachesim" -t big$n.ev | "$B/callgraph" | "$B/fmt-callgrind" \
	    >calls$n.big
done
"$B/diff" -p calls1.big calls2.big >diff1.big
for p in flat calls diff; do
	"$B/annotate" --html=big.html ${p}1.big
	"$B/annotate" ${p}1.big >big.txt
	[ $p = flat ] ||
	    "$B/annotate" --inclusive --tree=both ${p}1.big >big.txt
	echo "# $p: $(wc -c <big.html) bytes, the report $(wc -c <big.txt)"
	check "$p: under 1.5 times the bytes of the report" \
	    test $(($(wc -c <big.html) * 2)) -lt $(($(wc -c <big.txt) * 3))
done

# --- looked at
for p in flat branch calls stopped mem; do
	judge "$p" page.py look $p.html "$look/$p" cold
done
judge "a difference" page.py look diff.html "$look/diff" cold
judge "the hottest cells" page.py look hot.html "$look/hot"

# --- flame graphs
"$B/trace" --cpu=v3 -e blocks ./work | "$B/callgraph" --contexts |
    "$B/fmt-folded" >old
"$B/trace" --cpu=v3 -e blocks ./work again | "$B/callgraph" --contexts |
    "$B/fmt-folded" >new
"$B/fmt-svg" -t 'A flame graph' -o flame.svg old
"$B/fmt-svg" -i -t 'A flame graph upside down' -o down.svg old
"$B/fmt-svg" --diff -t 'Two runs' -o two.svg old new
for p in flame down two; do
	mkdir -p "$look/$p"
	judge "a flame graph: $p" flameview.py $p.svg "$look/$p"
done

# --- axe
if ! command -v npm >/dev/null; then
	skip "axe-core" "no npm"
elif ! timeout -k 5 120 npm pack --silent "axe-core@$AXE" >pack 2>npm.err; then
	skip "axe-core" "npm cannot get it: $(tail -n 1 npm.err)"
else
	tar xzf "axe-core-$AXE.tgz" package/axe.min.js
	same "axe-core: the pinned one" "$AXE_SUM" \
	    "$(sha256sum package/axe.min.js | cut -d ' ' -f 1)"
	for p in hot.html flat.html diff.html two.svg; do
		judge "axe-core has nothing serious to say: $p" page.py axe \
		    $p package/axe.min.js
	done
fi

done_testing
