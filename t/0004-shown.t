#!/bin/sh
# Text of others reaches no terminal as it is: names, commands, messages

. t/lib.sh

# shown TEXT INPUT EXPECTED: of one line
shown() {
	same "$1" "$3|$3" "$(printf "$2\n" | "$TB/lib" shown)"
}

shown "plain" 'abc ~\\"' 'abc ~\"'
shown "empty" '' ''
shown "C0" 'a\033[31mb\rc\td\007' 'a\033[31mb\015c\011d\007'
shown "zero" 'a\000b' 'a\000b'
shown "DEL" '\177' '\177'
shown "C1" 'a\2331m' 'a\2331m'
shown "C1 in UTF-8" 'a\302\2331m\302\200\302\237' 'a\302\2331m\302\200\302\237'
shown "UTF-8" '\302\240\303\251\342\202\254\360\237\230\200\364\217\277\277' \
    "$(printf '\302\240\303\251\342\202\254\360\237\230\200\364\217\277\277')"
shown "cut UTF-8" '\303' '\303'
shown "cut UTF-8, four bytes" '\360\237\230a' '\360\237\230a'
shown "too long" '\300\233\340\202\233\360\200\202\233' \
    '\300\233\340\202\233\360\200\202\233'
shown "a surrogate" '\355\240\200' '\355\240\200'
shown "beyond all" '\364\220\200\200\370' '\364\220\200\200\370'
x60=123456789012345678901234567890123456789012345678901234567890
same "cut before an escape" "$x60\\033|$x60" \
    "$(printf "$x60\033\n" | "$TB/lib" shown)"
same "cut before a character" "${x60}12$(printf '\303\251')|${x60}12" \
    "$(printf "${x60}12\303\251\n" | "$TB/lib" shown)"

# clean TEXT: $T/out, in $T/shown then, and $T/err have nothing but text, and
# our name in it
evil=$(printf 'e\033[2J\007\177\302\233m\233m\351\303\251')
safe=$(printf 'e\\033[2J\\007\\177\\302\\233m\\233m\\351\303\251')
clean() {
	cp "$T/out" "$T/shown"
	same "$1: harmless" 0 "$(cat "$T/out" "$T/err" | sed 's/\r$//' |
	    tr -d '\011\012\040-\176\303\251' | wc -c)"
	check "$1: the name" grep -qF -- "$safe" "$T/out"
}
# show TEXT cmd...
show() {
	text=$1
	shift
	check "$text" "$@"
	clean "$text"
}

printf 'int f(void)\t/* %s */\r\n' "$evil" >"$T/$evil.c"
costs() { # count
	cat <<-END
	# callgrind format
	version: 1
	creator: $evil
	pid: $evil
	part: 1
	thread: $evil
	cmd: $evil
	desc: Trigger: $evil
	positions: line
	events: Ir E$evil
	ob=$evil
	fl=$T/$evil.c
	fn=$evil
	1 $1 5
	5000 3
	cfi=$evil
	cfn=g$evil
	calls=$1 1
	1 20
	fi=$evil
	3 4
	fl=$evil
	fn=g$evil
	1 $1 2

	totals: $((2 * $1 + 7)) 7
	END
}
costs 10 >"$T/$evil.old"
costs 12 >"$T/$evil.new"
show "annotate" "$B/annotate" "$T/$evil.old"
check "annotate: tabs and the end of a source's line stay" \
    grep -q "$(printf ' int f(void)\t/[*] e.*m.351\303\251 [*]/\r$')" "$T/shown"
check "annotate: the event" grep -q "^ *Ir_* *Ee.033.2J" "$T/shown"
check "annotate: a line behind the source's end" grep -q "bogus line 5000" "$T/shown"
show "annotate --layout=old" "$B/annotate" --layout=old -I "$T/$evil" "$T/$evil.old"
show "annotate --tree" "$B/annotate" --tree=both --inclusive "$T/$evil.old"
sed 's/^desc.*//' "$T/$evil.old" >"$T/two"
show "annotate, two profiles" "$B/annotate" "$T/$evil.old" "$T/two"
same "annotate: colours are its own" 0 "$("$B/annotate" --color=always \
    "$T/$evil.old" | sed 's/\x1b\[[0-9;]*m//g; s/\r$//' |
    tr -d '\011\012\040-\176\303\251' | wc -c)"
status 1 "diff" "$B/diff" "$T/$evil.old" "$T/$evil.new"
clean "diff"
show "fmt-folded" "$B/fmt-folded" "$T/$evil.old"
cp "$T/shown" "$T/folded"
check "fmt-svg" "$B/fmt-svg" --title="$evil" --count='<&">' "$T/folded"
check "fmt-svg: --count is text" grep -qF "&lt;&amp;&quot;&gt;, 100.00%" "$T/out"
same "fmt-svg: no control characters" 0 "$(tr -d '\012\040-\377' <"$T/out" | wc -c)"

printf 'H quern-events 1\nH kind calls\nG 1 0 %s\nN 1 5\nX 1 9\nE exit 0 2\n' \
    'e\033[2J\007\177\302\233m\233m\351\303\251' >"$T/calls.ev"
show "account" "$B/account" "$T/calls.ev"
show "account -f csv" "$B/account" -f csv "$T/calls.ev"

# names in an object file
cat >"$T/f.c" <<-'END'
int f(int n) { return n * n; }
int main(int argc, char **argv) { return f(argc - 1); }
END
mkdir "$T/$evil"
cp "$T/f.c" "$T/$evil/$evil.c"
if ${CC:-gcc} -g -o "$T/f" "$T/$evil/$evil.c" &&
    objcopy --redefine-sym "f=$evil" "$T/f" "$T/$evil/f"; then
	"$B/trace" -o "$T/f.ev" "$T/$evil/f"
	show "plain -s" "$B/plain" -s "$T/f.ev"
	"$B/callgraph" --dump-instr=yes "$T/f.ev" | "$B/fmt-callgrind" \
	    --dump-instr=yes >"$T/f.out"
	show "annotate --asm" "$B/annotate" --asm "$T/f.out"
else
	skip "names in an object file" "no compiler or objcopy"
fi

# messages
status 2 "a file's name" "$B/annotate" "$T/$evil.none"
same "in a message" "annotate: $T/$safe.none: open: No such file or directory" \
    "$(cat "$T/err")"
printf 'events: Ir\nfn=f\n1 %s\n' "$evil" >"$T/bad"
status 2 "a line" "$B/annotate" "$T/bad"
same "in a message, harmless" 0 \
    "$(tr -d '\012\040-\176\303\251' <"$T/err" | wc -c)"
status 2 "an argument" "$B/cachesim" --D1="$evil" "$T/f.ev"
same "in a message, harmless" 0 \
    "$(tr -d '\012\040-\176\303\251' <"$T/err" | wc -c)"
ln -s "$B/merge" "$T/$evil.prog"
status 2 "a program's own name" "$T/$evil.prog" --bytes
same "in its usage, harmless" 0 \
    "$(tail -n 1 "$T/err" | tr -d '\012\040-\176\303\251' | wc -c)"

done_testing
