#!/bin/sh
# text of programs in costs: control characters in commands, paths and names

. t/lib.sh
. t/kcachegrind.sh

C=$TB/cost
cd "$T" || exit 99

NL='
'
ESC=$(printf '\033')

# what is written is read again, and a control character is never raw
perl -e 'print "# callgrind format\nversion: 1\ncreator: me\ncmd: a\n",
    "events: Ir\n";
    sub put { my $i = 0; for my $s (@_) { $i++; my $e = $s;
	$e =~ s/([\0-\x1f\x7f\\])/sprintf "\\%03o", ord $1/ge;
	printf "fl=(%d) %s\nfn=(%d) %s\n%d 1\n", $i, $e, $i, $e, $i } }
    put "\\012", "\\\\012", "\\134012", "\\n", "C:\\dir\\01x", "x y ",
	"\xc3\xa4\xff",
	map { chr($_), "x".chr($_)."y", "long enough for words".chr($_) }
	1 .. 31, 92, 127;' >some
"$C" dump some >want
for f in - p i; do
	"$C" copy $f some >copy
	check "no control character, flags $f" \
	    sh -c '! tr -d "\n" <copy | grep -q "[[:cntrl:]]"'
	"$C" dump copy >got
	samefile "read(write(x)) = x, flags $f" want got
done
cat >odd <<'EOF2'
# callgrind format
cmd: \012\134012 \\n C:\dir\01x \0770 \777
desc: \040blank
events: Ir
fn=(1) \134012
1 1
fn=(2) \\134012
2 1
fn=(3) C:\dir\0
3 1
fn=(4) \040x
4 1
totals: 4
EOF2
"$C" copy - odd >copy
same "backslashes that mean nothing stay" "$(sed -n 's/^cmd: //p; s/^desc: //p
    s/^fn=//p' odd)" "$(sed -n 's/^cmd: //p; s/^desc: //p; s/^fn=//p' copy)"
same "and so do they for the reader" 'C:\dir\0' \
    "$("$C" dump odd | sed -n 's/.*fn.||\(C:[^]]*\)] at.*/\1/p')"

# a program whose paths, names and arguments have what ends a line, and a line
# of the format behind it
TOP=$PWD
mkdir "new${NL}events: Bad"
cat >in.c <<'EOF2'
static volatile int sum;
#line 1 "src\nsummary: 7\tx\033[31m.c"
void odd(int n) {
	for (int i = 0; i < n; i++)
		sum += i;
}
#line 20 "in.c"
int main(void) {
	odd(100);
	return 0;
}
EOF2
${CC:-gcc} -g -O0 -c in.c && objcopy --redefine-sym "odd=odd${NL}fn=x" in.o &&
    ${CC:-gcc} -o "new${NL}events: Bad/prog" in.o || exit 99
P="$TOP/new${NL}events: Bad/prog"
evil="a${NL}events: Ir${NL}fn=x${NL}1 5${NL}summary: 5${NL}# x${NL}$ESC"
caches="--I1=32768,8,64 --D1=32768,8,64 --LL=262144,8,64"
"$B/trace" -o ev "$P" "$evil" 2>err
# shellcheck disable=SC2086
"$B/cachesim" $caches ev >costs
same "cachesim: no control character" "" \
    "$(tr -d '\n' <costs | tr -dc '[:cntrl:]')"
same "the command" "cmd: $(printf %s "$P $evil" | perl -0pe \
    's/([\0-\x1f\x7f])/sprintf "\\%03o", ord $1/ge')" "$(grep '^cmd' costs)"
same "one line of events" 1 "$(grep -c '^events:' costs)"
check "fmt-cachegrind" "$B/fmt-cachegrind" -o cg costs
fn='odd\012fn=x'
check "the object behind such a path was read" grep -qxF "fn=$fn" cg
check "the source's name" grep -q 'fl=.*/src.012summary: 7.011x.033.31m.c$' cg
same "fmt-cachegrind: no control character" "" \
    "$(tr -d '\n' <cg | tr -dc '[:cntrl:]')"
"$B/callgraph" ev >calls
check "callgraph" "$B/fmt-callgrind" -o cl calls
check "fmt-callgrind: the call" grep -qF "cfn=(" cl
same "fmt-callgrind: no control character" "" \
    "$(tr -d '\n' <cl | tr -dc '[:cntrl:]')"
check "branchsim" "$B/branchsim" -o bs ev
same "branchsim: the command" "$(grep '^cmd' costs)" "$(grep '^cmd' bs)"
check "bbv" "$B/bbv" --format=pinpoints ev
same "bbv: no control character" "" "$(tr -d '\n' <out | tr -dc '[:cntrl:]')"

# each reader
for f in cg cl; do
	check "merge, $f" "$B/merge" -o sum.$f $f $f
	same "merge, $f: the command" "$(grep '^cmd' $f)" \
	    "$(grep '^cmd' sum.$f)"
	check "diff, $f" "$B/diff" $f $f
	status 1 "diff, $f: with changes" "$B/diff" --by=function $f sum.$f
	check "diff, $f: a line for each name" grep -qF "$fn" out
	check "annotate, $f" "$B/annotate" $f
	check "annotate --html, $f" "$B/annotate" --html=page $f
	check "fmt-folded, $f" "$B/fmt-folded" $f
	same "fmt-folded, $f: each line has its count" "" \
	    "$(grep -v ' [0-9][0-9]*$' out)"
	check "fmt-pprof, $f" "$B/fmt-pprof" -o pprof $f
done

# the source is found again, though its name has a newline
printf 'one\ntwo marked\n	three\nfour\n' >"$(printf 'src\nsummary: 7\tx\033[31m.c')"
check "annotate" "$B/annotate" cg
check "annotate: the source" grep -q 'two marked' out

# Valgrind's readers
if command -v cg_annotate >/dev/null; then
	check "cg_annotate" cg_annotate cg
	check "cg_annotate: the function" grep -qF "$fn" out
	check "callgrind_annotate" callgrind_annotate cl
	same "callgrind_annotate: no complaint" "" "$(cat err)"
	check "callgrind_annotate: the function" grep -qF "$fn" out
else
	skip "cg_annotate" "no valgrind here"
fi
if kcachegrind_there; then
	same "KCachegrind opens it without complaint" opened \
	    "$(kcachegrind_loads cl)"
else
	skip "KCachegrind" "it is not installed"
fi

# what Cachegrind writes of such arguments, and all readers take
cat >head <<'EOF2'
desc: I1 cache:         32768 B, 64 B, 8-way associative
EOF2
cat >body <<'EOF2'
events: Ir Dr
fl=a.c
fn=main
3 5 1
summary: 5 1
EOF2
raw() { # WHAT ARGUMENT
	{ cat head; printf 'cmd: prog %b\n' "$2"; cat body; } >raw
	check "raw: $1" "$C" dump raw
	same "raw: $1: the sum" "part cachegrind" \
	    "$(head -n 1 out | cut -d' ' -f1,2)"
	same "raw: $1: the record" "self fn[|a.c|main] at[a.c|0|0|3] 5 1" \
	    "$(grep -a '^self' out)"
	check "raw: $1: merge" "$B/merge" raw raw
	same "raw: $1: the command" "cmd: prog $3" "$(grep -a '^cmd' out)"
}
raw "two lines" 'x=1\nprint(x)' 'x=1\012print(x)'
raw "empty lines and comments" 'x\n\n# y\n' 'x\012\012# y\012'
raw "events" 'a\nevents: Ir' 'a\012events: Ir'
raw "events and more" 'a\nevents: Ir\nyes\n 3 4' 'a\012events: Ir\012yes\012 3 4'
raw "a sum" 'a\nsummary: 5' 'a\012summary: 5'
raw "a body" 'a\nfl=x\nfn=y\n16 400' 'a\012fl=x\012fn=y\01216 400'
raw "the first line" 'a\n# callgrind format' 'a\012# callgrind format'
raw "a key" 'a\nx: 3' 'a\012x: 3'
{ printf 'cmd: x\n'; yes nonsense | head -c 20000000; } >raw
status 2 "a command without end" "$C" dump raw
check "is refused" grep -q 'no events: line before this' err

if command -v valgrind >/dev/null; then
	for t in cachegrind callgrind; do
		valgrind -q --tool=$t --$t-out-file=v.$t printf '%s' \
		    "a${NL}summary: 5${NL}events: Ir${NL}x" >/dev/null 2>&1
		for p in merge annotate; do
			check "$p takes $t's" "$B/$p" v.$t
		done
		check "diff takes $t's" "$B/diff" v.$t v.$t
	done
	valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=v.cachegrind \
	    printf '%s' "x=1${NL}print(x)" >/dev/null 2>&1
	same "cachegrind's command" 'cmd: printf %s x=1\012print(x)' \
	    "$("$B/merge" v.cachegrind | grep '^cmd')"
else
	skip "Valgrind's files" "no valgrind here"
fi

done_testing
