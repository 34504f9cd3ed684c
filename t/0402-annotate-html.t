#!/bin/sh
# annotate --html: a page that needs nothing else; run in a browser

. t/lib.sh

A=$B/annotate
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
check "what events are" grep -q '<th class="n e2" title="data reads not in the first-level cache">D1mr self' page.html
check "callers and callees" grep -q '<b>Callees</b>' page.html
check "a call below its line" grep -q '&rarr; .*work&lt;int&gt;.*(99&times;)' page.html
check "code from another file" grep -q 'q.h:4<td' page.html
check "heat" grep -q 'class="n e0 h" style="--h:0' page.html
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
check "a difference: less is another colour" grep -q 'e0 l" style' less.html

# inlined code is under the line that called it
if command -v valgrind >/dev/null; then
	${CC:-gcc} -g -O2 -o q q.c
	for instr in no yes; do
		valgrind -q --tool=callgrind --dump-instr=$instr \
		    --callgrind-out-file=cg.$instr ./q >/dev/null 2>&1
		check "a real profile, addresses: $instr" \
		    "$A" --html=q.$instr.html --threshold=5 cg.$instr
		# the row of line 17, then the folded ones up to the next line's
		sed -n '/^<tr><td class="no">17</,/^<tr><td class="no">18</p' q.$instr.html |
		    sed '1,/^<details class="fn"/!d' >fold
		check "inlined below line 17, addresses: $instr" grep -q 'inlined: work' fold
		check "with what that inlined, addresses: $instr" grep -q '>q.h:4<' fold
		same "folded, addresses: $instr" 0 "$(grep -c '<details open' fold)"
	done
	sed -n '/^<tr><td class="no">18</,/^<tr><td class="no">19</p' q.yes.html >fold
	check "inlined below line 18, by address" grep -q 'inlined: square' fold
else
	skip "inlined code" "no valgrind here"
fi

# in a browser
browser=$(command -v chromium || command -v chromium-browser)
if [ -z "$browser" ]; then
	skip "in a browser" "chromium is not installed"
	done_testing
	exit
fi
page() { # FILE ARG...
	f=$1
	shift
	timeout -k 5 50 "$browser" --headless --no-sandbox --disable-gpu \
	    --disable-dev-shm-usage \
	    --disable-quic --no-first-run --disable-background-networking \
	    --disable-component-update --disable-sync --user-data-dir="$T/profile" \
	    --virtual-time-budget=5000 "$@" "file://$T/$f"
}
page page.html --dump-dom >dom 2>browser.err
grep -q '<h2>Functions</h2>' dom || {
	skip "in a browser" "chromium does not run here"
	done_testing
	exit
}
# the script's own trial: sort, filter, choose columns, follow a link
cat >trial <<'EOF'
<script>
var said = [];
function names() {
	return Array.from(document.querySelectorAll("#functions tbody tr:not([hidden])"))
	    .filter(r => !r.classList.contains("rest"))
	    .map(r => r.querySelector("a").textContent).join(",");
}
function say(what, value) { said.push(what + "=" + value); }
window.onerror = e => say("error", e);
var th = document.querySelectorAll("#functions th");
say("first", names());
say("down", document.querySelector("#functions th.down").textContent);
th[th.length - 3].click();
say("byname", names());
th[0].click();
say("bycost", names());
th[0].click();
say("again", names());
filter.value = "WORK int";
filter.dispatchEvent(new Event("input"));
say("filter", names());
filter.value = "";
filter.dispatchEvent(new Event("input"));
var boxes = document.querySelectorAll("#tools input[data-ev]");
function shown(i) {
	return getComputedStyle(document.querySelector("#functions td.e" + i)).display != "none";
}
say("columns", boxes.length + ":" + [0, 1, 2, 3, 4].map(i => +shown(i)).join(""));
boxes[1].click();
boxes[4].click();
say("chosen", [0, 1, 2, 3, 4].map(i => +shown(i)).join(""));
var link = Array.from(document.querySelectorAll("#functions a")).find(
    a => a.textContent == "work<int>");
link.click();
setTimeout(function () {
	var d = document.querySelector(link.getAttribute("href"));
	say("opened", d.open);
	say("details", document.querySelectorAll("details.fn").length);
	document.title = said.join(" ");
}, 200);
</script>
EOF
cat page.html trial >trial.html
page trial.html --dump-dom >dom 2>browser.err
sed -n 's:^<title>\(.*\)</title>.*:\1:p' dom | sed 's/&lt;/</g; s/&gt;/>/g' >title
same "in a browser: sorted, filtered, columns chosen, link followed" \
    "first=work<int>,main down=Ir self byname=main,work<int> bycost=work<int>,main again=main,work<int> filter=work<int> columns=5:11000 chosen=10001 opened=true details=2" \
    "$(cat title)"
page page.html --window-size=1200,900 --screenshot="$T/shot.png" >/dev/null 2>&1
ok "a picture of it" $?
check "a picture of it: not an empty one" test "$(wc -c <shot.png)" -gt 20000

done_testing
