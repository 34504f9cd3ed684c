#!/bin/sh
# events(5): reader and writer

. t/lib.sh

E=$TB/ev

# the example of the page, its broken line joined
sed -n '/^.Sh EXAMPLES/,$p' man/events.5 |
    sed -n '/^H quern-events/,/^E exit/p' | sed 's/^\\&//' |
    sed -e ':a' -e '/\\e$/{N;s/\\e\n//;ba' -e '}' >"$T/page.ev"
check "the page's example is read" "$E" read "$T/page.ev"
same "its counts are the page's" "insns 394 loads 81 stores 84 modifies 64\
 cond 64 taken 63 calls 1 rets 1 syscalls 2" "$(cat "$T/out")"
check "the example is copied" "$E" copy "$T/page.ev"
samefile "without a change" "$T/page.ev" "$T/out"
gzip -c "$T/page.ev" >"$T/page.ev.gz"
check "gzip is read" "$E" copy "$T/page.ev.gz"
samefile "all of it" "$T/page.ev" "$T/out"

check "the writer refuses what cannot be" "$E" bad
"$E" many >"$T/many.ev"
same "more repeats than a line may tell take several" \
    "1+5*ffffffff 1+5*ffffffff 1+5*1 2*ffffffff 2*ffffffff 2 \
$(((1 << 33) + 2 + (1 << 33) + 1))" \
    "$(sed -n '/^[12]/p; s/^E exit 0 //p' "$T/many.ev" | tr '\n' ' ' |
	sed 's/ $//')"
check "they are copied" "$E" copy "$T/many.ev"
samefile "without a change" "$T/many.ev" "$T/out"
for seed in 1 2 3; do
	check "random stream $seed: what is read is what was written" \
	    "$E" random $seed 30000 "$T/random.ev"
	"$E" plain $seed 30000 "$T/plain.ev"
	samefile "random stream $seed: the plain way writes the same" \
	    "$T/random.ev" "$T/plain.ev"
	if "$E" four $seed 30000 "$T/four.ev" 2>"$T/err"; then
		samefile "random stream $seed: so do four fields at once" \
		    "$T/random.ev" "$T/four.ev"
	elif [ $? -eq 3 ]; then
		skip "random stream $seed, four fields at once" "no AVX2"
	else
		ok "random stream $seed, four fields at once" 1
	fi
	check "random references $seed: what is read is what was written" \
	    "$E" lone $seed 30000 "$T/lone.ev"
	"$E" plain-lone $seed 30000 "$T/plain.ev"
	samefile "random references $seed: the plain way writes the same" \
	    "$T/lone.ev" "$T/plain.ev"
	"$E" copy "$T/random.ev" >"$T/copy.ev"
	check "random stream $seed: a copy's copy" "$E" copy "$T/copy.ev"
	samefile "random stream $seed: is the same" "$T/copy.ev" "$T/out"
	check "random stream $seed: all ways to scan it" "$E" ways "$T/copy.ev"
done

# a small stream: lines given, after the first, with an end mark
stream() { # executions line...
	n=$1
	shift
	echo 'H quern-events 1'
	[ $# -eq 0 ] || printf '%s\n' "$@"
	echo "E exit 0 $n"
}

refused() { # text message executions line...
	text=$1 message=$2
	shift 2
	stream "$@" >"$T/bad.ev"
	status 2 "$text" "$E" read "$T/bad.ev"
	same "$text: message" "ev: $T/bad.ev:$message" "$(cat "$T/err")"
}

B1='B 1 >1000 4r8.0 5'
refused "undefined id" "3: undefined id 2" 1 "$B1" 2+1
refused "a field too few" "3: 0 fields, but id 1 has 1" 1 "$B1" 1
refused "a field too many" "3: 2 fields, but id 1 has 1" 1 "$B1" 1+1.
refused "a field without digits" "3: malformed execution at \`'" 1 "$B1" 1+
refused "digits behind a dot" "3: malformed execution at \`5'" 1 "$B1" 1.5
refused "17 digits" "3: malformed execution at \`11111111111111111'" 1 \
    "$B1" 1+11111111111111111
refused "an upper-case digit" "3: malformed execution at \`A'" 1 "$B1" 1+A
refused "a blank" "3: malformed execution at \` +1'" 1 "$B1" '1 +1'
refused "a repeat in the middle" \
    "3: malformed execution: \`*' belongs at its end" 1 "$B1" '1*2+1'
refused "too many repeats" "3: 100000000 repeats, more than ffffffff" \
    4294967297 "$B1" '1+1*100000000'
refused "two repeats" "3: malformed execution: \`*' belongs at its end" 1 \
    "$B1" '1+1*2*3'
refused "a repeat alone" "3: not a line: \`*2'" 1 "$B1" '*2'
refused "an empty line" "3: an empty line" 1 "$B1" ''
refused "an unknown letter" "3: unknown letter \`_'" 0 "$B1" '_ 1'
refused "a line that leaves a table that is not there" \
    "3: Z: the stream is not of kind cache" 0 "$B1" 'Z 2 i'
refused "a reference alone, without a table" \
    "3: Q: the stream is not of kind cache" 0 "$B1" 'Q 2 1 1 1'
refused "a control character" "3: byte \\011 in a line" 0 "$B1" 'C a	b'
refused "a wrong end" \
    "4: the end mark counts 2 executions, but 1 were told" 2 "$B1" 1+1
refused "good lines before a bad one" "5: undefined id 3" 2 "$B1" 1+1 1+1*3 3
same "are counted" "insns 10 loads 5 stores 0" \
    "$(cut -d' ' -f1-6 "$T/out")"
refused "defined twice" "3: id is defined twice: \`1 >1000 4r8.0 5'" 0 \
    "$B1" "$B1"
refused "no address" \
    "2: no address before the first instruction: \`4r8.0'" 0 'B 1 4r8.0'
refused "bytes of another number" \
    "2: not the bytes of an instruction: \`=9090'" 0 'B 1 >1000 3=9090'
refused "bytes in capitals" "2: not the bytes of an instruction: \`=9C'" 0 \
    'B 1 >1000 1=9C'
refused "too many bytes" "2: not a reference or flow: \`90'" 0 \
    'B 1 >1000 1=9090'
refused "a length of 0" "2: not an instruction: \`0'" 0 'B 1 >1000 0'
refused "no size" "2: a reference without its size: \`.0'" 0 'B 1 >1000 4r.0'
refused "a mark before the size" \
    "2: a reference without its size: \`!4.0'" 0 'B 1 >1000 4m!4.0'
refused "two marks" "2: not a reference or flow: \`!.0'" 0 'B 1 >1000 4m4!!.0'
refused "a size beyond 65535" \
    "2: a reference without its size: \`10000.0'" 0 'B 1 >1000 4r10000.0'
refused "group numbers" \
    "2: group is not numbered by first use: \`1'" 0 'B 1 >1000 4r8.1'
refused "trailing text" "2: not a reference or flow: \`x'" 0 'B 1 >1000 4r8x'
refused "an address at the end" \
    "2: no instruction behind the address: \`'" 0 'B 1 >1000 4 >1004'
refused "behind a system call" \
    "2: an instruction behind a system call: \`4'" 0 'B 1 >1000 2S 4'
refused "behind a return" "2: no address behind a branch: \`4'" 0 \
    'B 1 >1000 1R 4'
refused "elsewhere behind a branch" \
    "2: neither the branch's target nor behind it: \`4'" 0 \
    'B 1 >1000 2C1010 >1020 4'
refused "a whole prefix" "3: not an instruction's number: \` 2'" 0 "$B1" \
    'P 2 1 2'
refused "a prefix of nothing" "3: not a block's id: \` 7 1'" 0 "$B1" 'P 2 7 1'
refused "no such reference" "4: not a reference's number: \` 2'" 0 \
    'H kind cache 64 64 2' "$B1" 'Q 2 1 1 2'
refused "late H" "3: an H line behind other lines" 0 'C' 'H kind all'
refused "unknown kind" "2: unknown kind of stream" 0 'H kind nothing'
refused "O without execution" \
    "3: O: the thread's last execution has no instruction 1" 0 "$B1" 'O 1 D1mr'
refused "O behind the end" \
    "4: O: the thread's last execution has no instruction 3" 1 "$B1" 1+1 \
    'O 3 D1mr'
refused "a label that is not the next" "4: O: label 2 is not one of 0" 1 \
    "$B1" 1+1 'O 1=2 D1mr'
refused "an unknown label" "4: O: label 1 is not one of 0" 1 "$B1" 1+1 \
    'O =1 D1mr'
refused "no instruction" "4: O: the thread's last execution has no\
 instruction 0" 1 "$B1" 1+1 'O 0 D1mr'
refused "no label" "4: O: not an instruction at \`'" 1 "$B1" 1+1 'O 1='
refused "neither label nor events" "4: O: a field is missing" 1 "$B1" 1+1 'O 1'
refused "a label in kind cache" "5: O: a label, but the stream is not of kind\
 all" 1 'H kind cache 64 64 2' "$B1" 1+1 'O 1=1'
refused "standing events in kind all" "4: O @: the stream is not of kind\
 cache" 1 "$B1" 1+1 'O @1 D1mr'
cache='H kind cache 64 64 2'
refused "standing events of no id" "4: O @: not an id at \`x'" 0 "$cache" \
    "$B1" 'O @x'
refused "standing events of a block" "4: O: id 1 is no reference's" 0 \
    "$cache" "$B1" 'O @1 D1mr'
refused "malformed standing events" "5: O @: malformed events" 0 "$cache" \
    "$B1" 'Q 2 1 1 1 s' 'O @2 D1mr*x'
refused "a number" "2: T: not a number at \`x'" 0 'T x'
refused "a mark of version 1" "2: J: the stream is not of kind calls" 0 \
    'J interrupted 2'
refused "too many fields" "2: Y: \` 4' behind the last field" 0 'Y 1 2 3 4'
refused "one time of two" "2: Y: a field is missing" 0 'Y 1 2'
refused "malformed escape" "2: M: malformed \\ooo" 0 'M 1 1000 2000 0 /\9'
refused "text behind the end" "3: text behind the end mark" 0 'E exit 0 0' \
    2>/dev/null

printf 'H quern-events 2\nE exit 0 0\n' >"$T/two.ev"
check "version 2" "$E" read "$T/two.ev"
for j in "" " " " on 1" " offs" " zero x" " interrupted" " interrupted x" " interrupted 2 3" " other" \
    " window 1"; do
	printf 'H quern-events 2\nJ%s\nE exit 0 0\n' "$j" >"$T/bad.ev"
	status 2 "J$j" "$E" read "$T/bad.ev"
done
printf 'H quern-events 2\nJ %s\nE exit 0 0\n' 'interrupted 15' |
    sed '2i J off\nJ on\nJ cold\nJ toggle\nJ dump\nJ dump a \\001 b\nJ zero\nJ window' \
    >"$T/mark.ev"
check "a mark" "$E" copy "$T/mark.ev"
samefile "is copied" "$T/mark.ev" "$T/out"

# standing outcomes: readers that do not know them get an O line each time
echo 'H quern-events 2
H kind cache 64 64 2
H outcomes D1mr DLmr
B 1 >1000 3r8.0 3w8.1 2R
Q 2 1 1 1 s
Z 3 d
Q 4 1 1 0 s
2+10000
O @2 D1mr
2+400
3+40
2+1000*2
O 1 DLmr
O @2 D1mr DLmr*2
4+10000
2+400
T 7
2+400
T 8
O @2
2+1000
W 1 4
E exit 0 14' >"$T/standing.ev"
echo 'H quern-events 2
H kind cache 64 64 2
H outcomes D1mr DLmr
B 1 >1000 3r8.0 3w8.1 2R
Q 2 1 1 1 s
Z 3 d
Q 4 1 1 0 s
2+10000
2+400
O 1 D1mr
3+40
2+1000
O 1 D1mr
2+1000
O 1 D1mr
2+1000
O 1 D1mr
O 1 DLmr
4+10000
2+400
O 1 D1mr DLmr*2
T 7
2+400
O 1 D1mr DLmr*2
T 8
2+1000
W 1 4
E exit 0 14' >"$T/each.ev"
check "standing outcomes" "$E" copy "$T/standing.ev"
samefile "are those of each execution" "$T/each.ev" "$T/out"
printf 'H quern-events 3\nE exit 0 0\n' >"$T/bad.ev"
status 2 "another version" "$E" read "$T/bad.ev"
same "is named" "ev: $T/bad.ev:1: version 3 of event streams, neither 1 nor 2" \
    "$(cat "$T/err")"
status 2 "not a stream" "$E" read Makefile
same "is said" "ev: Makefile:1: not an event stream: no \`H quern-events'" \
    "$(cat "$T/err")"
status 2 "nothing" "$E" read /dev/null
same "is said, too" "ev: /dev/null:1: empty input" "$(cat "$T/err")"

# allocations
awk '/^D 1 [+] 401100/,/^D 5 - /' man/events.5 >"$T/allocs.page"
same "the page has an example of allocations" 5 \
    "$(grep -c '^D' "$T/allocs.page")"
{
	echo 'H quern-events 2'
	echo 'H kind counts'
	echo 'H allocs yes'
	printf 'B %d >401000 5\n' 1 2 3 4
	sed 's/[*]2$//' "$T/allocs.page"
	echo 'E exit 0 4'
} >"$T/allocs.ev"
n=$(grep -c '^[1-4]' "$T/allocs.ev")
sed "s/^E.*/E exit 0 $n/" "$T/allocs.ev" >"$T/allocs2.ev"
check "it is read" "$B/icount" "$T/allocs2.ev"
check "it is copied" "$E" copy "$T/allocs2.ev"
samefile "without a change" "$T/allocs2.ev" "$T/out"
for line in 'D' 'D 1' 'D 1 +' 'D 1 + 1 2' 'D 1 + 1 2 3 4 5' 'D x = 1' \
    'D 1 = 1 2 3' 'D 1 =' 'D 1 - ' 'D 1 - 1 2 3' 'D 1 ? 1' 'D 1 * 1 2 3' \
    'D 1 = 11111111111111111'; do
	printf 'H quern-events 2\n%s\nE exit 0 0\n' "$line" >"$T/bad.ev"
	status 2 "refused: $line" "$E" read "$T/bad.ev"
	ok "by its line" "$(grep -q "^ev: $T/bad.ev:2: D: " "$T/err"; echo $?)"
done
printf 'H quern-events 2\nH kind counts\nD 1 + 1 2 3 4\nE exit 0 0\n' \
    >"$T/bad.ev"
status 2 "a state where there are no contexts" "$E" read "$T/bad.ev"
printf 'H quern-events 1\nD 1 = 1\nE exit 0 0\n' >"$T/bad.ev"
status 2 "allocations in version 1" "$E" read "$T/bad.ev"

# cut anywhere, the stream is truncated, and what is whole is counted
stream 5 "$B1" 1+1 1+8*2 1-7 >"$T/whole.ev"
bad=0
size=$(wc -c <"$T/whole.ev")
for n in $(seq 18 $((size - 1))); do
	head -c "$n" "$T/whole.ev" >"$T/cut.ev"
	"$E" read "$T/cut.ev" >"$T/out" 2>"$T/err" && bad=1
	grep -q ': truncated after [0145] executions$' "$T/err" || bad=1
done
ok "cut anywhere: truncated" $bad
gzip -c "$T/random.ev" | head -c 20000 >"$T/cut.ev.gz"
status 2 "cut gzip" "$E" copy "$T/cut.ev.gz"
same "one message" ": gzip: data ends early" \
    "$(sed 's/.*cut.ev.gz//' "$T/err")"
zstd -qc "$T/random.ev" >"$T/whole.ev.zst"
for n in 300 20000; do
	head -c $n "$T/whole.ev.zst" >"$T/cut.ev.zst"
	status 2 "zstd cut to $n bytes" "$E" copy "$T/cut.ev.zst"
	same "one message" ": zstd: data ends early" \
	    "$(sed 's/.*cut.ev.zst//' "$T/err")"
done

# lines of all lengths at the edges of buffers
"$E" random 7 200000 "$T/big.ev" 2>"$T/err"
ok "a large stream" $?
same "a line of 65536 bytes" "0 " "$(
    { echo 'H quern-events 1'; printf 'C %065534d\n' 0
      echo 'E exit 0 0'; } | "$E" read 2>&1 >"$T/out"; echo "$? ")"
same "and one more" "ev: stdin:2: a line of more than 65536 bytes" "$(
    { echo 'H quern-events 1'; printf 'C %065535d\n' 0
      echo 'E exit 0 0'; } | "$E" read 2>&1 >"$T/out")"
same "a megabyte" "ev: stdin:2: a line of more than 65536 bytes" "$(
    { echo 'H quern-events 1'; printf 'C %01000000d\n' 0
      echo 'E exit 0 0'; } | "$E" read 2>&1 >"$T/out")"
check "the fuzzing corpus" "$TB/fuzz_ev" t/fuzz/corpus/ev
# mispredictions
awk '/^H quern-events/ { text = "" } { text = text $0 "\n" }
    /^X 1 2 a/ { on = 1 } on && /^E exit/ { printf "%s", text; exit }' \
    man/events.5 >"$T/branches.ev"
check "the page has an example of branches" "$B/branchsim" "$T/branches.ev"
same "its costs" "0x1000 10
+4 10 10 10
totals: 20 10 10" "$(grep '^0x\|^[+]\|^totals' "$T/out")"
check "it is copied" "$E" copy "$T/branches.ev"
samefile "without a change" "$T/branches.ev" "$T/out"
cmp -s "$T/branches.ev" t/fuzz/corpus/ev/branches
ok "it is in the corpus" $?
bad_sum() { # LINE WHAT: of a stream of kind branches, and what is wrong
	printf 'H quern-events 2\nH kind branches\nB 1 >1000 4 2C1000\nP 2 1 1
W 1 a\n%s\nE exit 0 10\n' "$1" >"$T/bad.ev"
	status 2 "refused: $1" "$B/branchsim" -o /dev/null "$T/bad.ev"
	same "by its line" "branchsim: $T/bad.ev:6: $2" "$(cat "$T/err")"
}
bad_sum "X" "X: a field is missing"
bad_sum "X 1 2" "X: a field is missing"
bad_sum "X 1 2 3 4" "X: \` 4' behind the last field"
bad_sum "X 1 g 3" "X: not a number at \`g 3'"
bad_sum "X 3 1 1" "undefined id 3"
bad_sum "X 2 1 1" "X: id 2 is no block's"
bad_sum "X 1 0 1" "X: id 1 has no instruction 0"
bad_sum "X 1 3 1" "X: id 1 has no instruction 3"
bad_sum "X 1 1 1" "X: instruction 1 of id 1 is no branch"
bad_sum "1*9" "an execution, but kind branches has only sums"
bad_sum "S 1 0 1 1000" "S: the stream is not of kind calls"
bad_sum "A 1 0 0 1000 1" "A: the stream is not of kind calls"
sed 's/branches/counts/' "$T/branches.ev" >"$T/bad.ev"
status 2 "an X line of kind counts" "$E" read "$T/bad.ev"
sed 's/events 2/events 1/' "$T/branches.ev" >"$T/bad.ev"
status 2 "and in version 1" "$E" read "$T/bad.ev"

done_testing
