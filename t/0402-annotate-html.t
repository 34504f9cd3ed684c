#!/bin/sh
# annotate --html: a page that needs nothing else; run in a browser

. t/lib.sh

A=$B/annotate
LIMIT=300
cd "$T" || exit 99

cat >q.c <<'EOF'
#include "q.h"
static int work(int n)
{
	int s = 0;

	for (int i = 0; i < n; i++)
		s += square(i);
	return s;
}

int main(int argc, char **argv)
{
	volatile int s = 0;

	(void)argv;
	for (int i = 0; i < 100 * argc; i++)
		s += work(i);
	s += square(argc);	/* <b>&amp;"quoted" */
	return 0;
}
EOF
cat >q.h <<'EOF'
static inline __attribute__((always_inline)) int square(int x)
{
	__asm__ volatile("" : "+r" (x));
	return x * x + 1;
}
EOF
cat >prof <<'EOF'
# callgrind format
cmd: prog <script>alert(1)</script> & co
positions: line
events: Ir Dr D1mr DLmr I1mr
ob=(1) /nowhere/prog
fl=(1) q.c
fn=(1) main
13 1000 10 1
18 20
fi=(2) q.h
4 500
fe=(1)
cob=(1)
cfi=(1)
cfn=(2) work<int>
calls=99 2
17 9000 900
fn=(2)
6 8000 900
fn=(3) tiny
1 1
cfi=(4) "odd" & <file>
cfn=(5) no self
calls=1 1
2 5
totals: 9521 910 1
EOF
check "writes a page" "$A" --html=page.html prof
check "names are escaped" grep -q 'prog &lt;script&gt;alert(1)&lt;/script&gt; &amp; co' page.html
check "names of functions are escaped" grep -q 'work&lt;int&gt;' page.html
check "sources are escaped" grep -q '&lt;b&gt;&amp;amp;&quot;quoted&quot;' page.html
same "no script but the page's own" 1 "$(grep -c '<script' page.html)"
same "nothing from elsewhere" 0 "$(grep -cE '(src|href)="?(https?:)?//|@import|url\(' page.html)"
check "what events are" grep -q '<th scope=col title="data reads not in the first-level cache">D1mr<' page.html
check "callers and callees" grep -q '<caption>Callees' page.html
check "a call below its line" grep -q '&rarr; .*work&lt;int&gt;.*(99&times;)' page.html
check "code from another file" grep -q 'q.h:4<td' page.html
check "heat" grep -q '<td class=h9>9,521' page.html
check "the lines that cost most" grep -q '<a href=#l[0-9]*>q.c:13</a>' page.html
same "each leads to its row" "$(grep -o 'href=#l[0-9][0-9]*' page.html | sort | sed 's/href=#//')" \
    "$(grep -o '<th id=l[0-9]*' page.html | sort | sed 's/<th id=//')"
same "misses are chosen, and the first event" "Ir,L1m,Dr,D1mr,DLmr,I1mr,Rates" \
    "$(sed -n 's/^<label><input type=checkbox value=x[0-9]*[ a-z]*>\([A-Za-z0-9]*\).*/\1/p' page.html | paste -s -d ,)"
same "checked" "Ir,L1m" "$(sed -n 's/.* checked>\([A-Z][A-Za-z0-9]*m\{0,1\}[r]*\) <small.*/\1/p' page.html |
    grep -v Rates | paste -s -d ,)"
same "the others are hidden" '<body class="x2 x3 x4 x5">' "$(grep '^<body' page.html)"
# 1 miss of 9521 instructions, of 10431 references
same "rates" "0.11 0.01%" "$(grep '>All$' page.html | sed 's/<i>[^<]*<.i>//g' |
    tr '<' '\n' | sed -n '5,6s/td>//p' | paste -s -d ' ')"
if command -v openssl >/dev/null; then
	for e in script style; do
		sed -n "/<$e>/,/<\/$e>/p" page.html | sed "1s/.*<$e>//; \$s/<\/$e>.*//" |
		    perl -0pe 's/\n\z//' >element
		check "the policy allows the page's $e" grep -qF "$e-src 'sha256-$(
		    openssl dgst -sha256 -binary element | base64)'" page.html
	done
else
	skip "the policy's hashes" "no openssl"
fi
check "and nothing else" grep -qF "default-src 'none'; base-uri 'none'; form-action 'none'; style-src" page.html
same "no style and no script in attributes" 0 "$(grep -cE ' (style|on[a-z]+)=' page.html)"
status 2 "not with the old layout" "$A" --layout=old --html=x.html prof
check "not with the old layout: no page" test ! -e x.html
status 2 "no room" "$A" --html=/dev/full prof

# a difference has both heats
cat >less <<'EOF'
desc: Files compared: a; b
cmd: a; b
events: Ir
fl=q.c
fn=main
13 50
14 -40
summary: 10
EOF
check "a difference" "$A" --html=less.html less
check "a difference: less is another colour, with a sign" grep -q '<td class=l[0-9]>-40' less.html
check "a difference: more has a sign, too" grep -q '<td class=h[0-9]>+50' less.html
same "a difference: tables of both" "lines functions,lines-less functions-less" "$(grep -oE 'h2 id=(lines|functions)>' less.html |
    sed 's/.*=//; s/>//' | paste -s -d ' '),$(grep -oE 'id=[a-z]*-less' less.html | sed 's/.*=//' | paste -s -d ' ')"
check "a difference: of which runs" grep -q '<p class=diff>a; b: ' less.html

# a run that was interrupted says so
{ echo "desc: the run was interrupted by <SIGINT>"; cat less; } >stopped
check "an interrupted run" "$A" --html=stopped.html stopped
check "says so" grep -q '<p class=cut>the run was interrupted by &lt;SIGINT&gt;</p>' stopped.html

# an event's name ends neither the style nor a string in it
printf '%s\n' 'cmd: x' 'events: Ir a"}</style><b>\' 'fl=q.c' 'fn=f' '1 2 3' \
    'summary: 2 3' >evil
check "an odd name of an event" "$A" --html=evil.html evil
same "is escaped in the style" 1 "$(grep -c '</style>' evil.html)"
same "and elsewhere" 0 "$(grep -c '<b>.*</style>\|"}<' evil.html)"

# bytes that are not UTF-8, and control characters, are as in the text report
printf ' int f(void)\t/* \001 caf\303\251 \351 & */\r\n' >"$(printf 'a\377.c')"
printf '%s\n' '# callgrind format' 'cmd: p \377 x' 'positions: line' \
    'events: Ir' 'ob=\377.so' 'fl=a\377.c' 'fn=f\001g\t\302\205\377é' '1 5' |
    while IFS= read -r l; do printf "$l\n"; done >bytes
check "names of any bytes" "$A" --html=bytes.html bytes
check "are UTF-8" iconv -f utf-8 -t utf-8 bytes.html
same "without control characters" 0 \
    "$(tr -d '\011\012\040-\377' <bytes.html | wc -c)"
check "the function" grep -qF '>f\001g\011\302\205\377é<' bytes.html
check "the file" grep -qF 'a\377.c' bytes.html
check "the command" grep -qF '<h1>p \377 x</h1>' bytes.html
check "the source's line" grep -q \
    "^<tr.*> int f(void)	/\* .001 café .351 &amp; \*/\$" bytes.html

# inlined code is under the line that called it
if command -v valgrind >/dev/null; then
	${CC:-gcc} -g -O2 -o q q.c
	for instr in no yes; do
		valgrind -q --tool=callgrind --dump-instr=$instr \
		    --callgrind-out-file=cg.$instr ./q >/dev/null 2>&1
		check "a real profile, addresses: $instr" \
		    "$A" --html=q.$instr.html --threshold=5 cg.$instr
		# the row of line 17, then the folded ones up to the next line's
		sed -n '/^<tr><th[^>]*>17</,/^<tr><th[^>]*>18</p' q.$instr.html |
		    sed '1,/^<details class=fn/!d' >fold
		check "inlined below line 17, addresses: $instr" grep -q 'inlined: work' fold
		check "with what that inlined, addresses: $instr" grep -q '>q.h:4<' fold
		same "folded, addresses: $instr" 0 "$(grep -c '<details open' fold)"
	done
	sed -n '/^<tr><th[^>]*>18</,/^<tr><th[^>]*>19</p' q.yes.html >fold
	check "inlined below line 18, by address" grep -q 'inlined: square' fold
else
	skip "inlined code" "no valgrind here"
fi

# a function of very many lines and calls: each takes as long as one of few
{
	printf '.text\n.globl main\n.type main, @function\nmain:\n'
	yes nop | head -n 250000
	printf '.size main, . - main\n.section .note.GNU-stack\n'
} >many.s
if cc -g -o many many.s 2>err; then
	{
		printf '# callgrind format\npositions: line\nevents: Ir\n'
		printf 'ob=%s\nfl=%s\nfn=main\n' "$PWD/many" "$PWD/many.s"
		seq 5 250004 | sed 's/.*/& 1\ncfn=other\ncalls=1 1\n& 2/'
	} >manyprof
	LIMIT=60
	check "250000 lines and calls" "$A" --html=many.html manyprof
	LIMIT=300
	same "all are there" 250000 "$(grep -c '&rarr; .*other' many.html)"
else
	skip "250000 lines and calls" "cc does not assemble"
	skip "all are there" "cc does not assemble"
fi

# in a browser: sort, filter, choose columns by the keyboard, follow links
cat >want <<'E'
{ "first": "main,work<int>", "by": "L1m",
  "columns": "Ir,L1m,L1m /1000 Ir,L1m /ref.,Ir incl.,L1m incl.,Function,File,Object",
  "sorted": "work<int>,main", "filter": "WORK int", "filtered": "work<int>",
  "links": [["work<int>", ""], ["main:17", "17"], ["main:q.h:4", "q.h:4"]] }
E
if ! command -v chromium >/dev/null || ! command -v python3 >/dev/null; then
	skip "in a browser" "no chromium, or no python3"
else
	run python3 "$OLDPWD/t/models/page.py" trial page.html "$(cat want)"
	case $? in
	77)	skip "in a browser" "chromium does not run here: $(cat out)" ;;
	*)	same "in a browser" "" "$(cat out)$(cat err)" ;;
	esac
fi

done_testing
