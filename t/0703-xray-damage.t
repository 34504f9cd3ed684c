#!/bin/sh
# read-xray on logs that are cut, damaged or none: one clear message each, and
# all that can be read

. t/lib.sh

R="$B/read-xray"
M=$TB/mkxray

log() {
	"$M" >"$T/$1" || exit 99
}

# damaged TEXT NAME MESSAGE LINES: status 2, the message, no end mark, and the
# stream's lines that begin with N, X, V, A, D or R
damaged() {
	status 2 "$1" "$R" "$T/$2"
	same "$1: message" "read-xray: $T/$2: $3" "$(grep -v ' exits without' "$T/err")"
	same "$1: what was read" "$4" "$(echo $(grep '^[NXVADR]' "$T/out"))"
	same "$1: no end mark" "" "$(grep '^E' "$T/out")"
}

start='head 5 1 3 1000 16384 0'
first='newbuf 1
wall 1 1
pid 1
cpu 0 16'
second='ext
newbuf 2
wall 1 2
pid 1
cpu 0 32
enter 2 1'

printf '' >"$T/none"
damaged "no bytes" none "offset 0: the log ends within its header (bytes lost: 0)" \
    "R 0 0 the log ends within its header"
printf 'a text\n' >"$T/text"
damaged "a text" text "offset 0: the log ends within its header (bytes lost: 7)" \
    "R 0 7 the log ends within its header"
seq 1 100 >"$T/numbers"
damaged "a longer text" numbers "offset 0: no XRay log (its type is neither 0 nor 1) (bytes lost: 292)" \
    "R 0 124 no XRay log (its type is neither 0 nor 1)"
for v in 0 6; do
	echo "head $v 1 3 0 0 0" | log v$v
	damaged "FDR version $v" v$v "offset 0: FDR log of an unknown version (1 to 5 are known) (bytes lost: 32)" \
	    "R 0 20 FDR log of an unknown version (1 to 5 are known)"
done
echo "head 4 0 3 0 0 0" | log b4
damaged "basic version 4" b4 "offset 0: basic log of an unknown version (1 to 3 are known) (bytes lost: 32)" \
    "R 0 20 basic log of an unknown version (1 to 3 are known)"
printf 'xrayprof%040d' 0 >"$T/prof"
damaged "a profile" prof "offset 0: a profile of XRay's profiling mode holds no records (bytes lost: 48)" \
    "R 0 30 a profile of XRay's profiling mode holds no records"
piped() {
	head -c 1000000 /dev/zero | "$R"
}
status 2 "no log by a pipe, which may have no end" piped
same "is not read to it" \
    "R 0 10000 basic log of an unknown version (1 to 3 are known)" \
    "$(grep ^R "$T/out")"
echo "$start" | log empty
check "an empty log is whole" "$R" "$T/empty"
same "an empty log is whole: no message" "" "$(cat "$T/err")"
same "an empty log is whole: end mark" "E exit 0 0" "$(grep '^E' "$T/out")"

# a record that cannot be is passed over
printf '%s\n' "$start" ext "$first" "enter 1 1" "fn 5 1 16" "exit 1 1" "$second" | log action
damaged "an unknown action" action "offset 120: an unknown kind of entry or exit (bytes lost: 8)" \
    "N 1 11 R 78 8 an unknown kind of entry or exit X 1 22 N 2 21"
printf '%s\n' "$start" ext "$first" "enter 1 1" \
    "hex 1f 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" "exit 1 1" "$second" | log kind
damaged "an unknown kind" kind "offset 120: a record of an unknown kind (bytes lost: 16)" \
    "N 1 11 R 78 10 a record of an unknown kind X 1 12 N 2 21"
printf '%s\n' "$start" ext "$first" "enter 1 1" "fn 5 1 16" "fn 6 1 16" "exit 1 1" "$second" | log two
damaged "two in a row lose the buffer" two "offset 120: an unknown kind of entry or exit (bytes lost: 24, other places: 1)" \
    "N 1 11 R 78 8 an unknown kind of entry or exit R 80 10 an unknown kind of entry or exit N 2 21"
printf '%s\n' "$start" ext "$first" "enter 1 1" eob "exit 1 1" "$second" | log eob
damaged "an end mark after version 1" eob "offset 120: an end of buffer mark after version 1 (bytes lost: 16)" \
    "N 1 11 R 78 10 an end of buffer mark after version 1 X 1 12 N 2 21"
printf '%s\n' "$start" ext "$first" "arg 5" "enter 1 1" "$second" | log arg
damaged "an argument alone" arg "offset 112: an argument that belongs to no entry (bytes lost: 16)" \
    "R 70 10 an argument that belongs to no entry N 1 11 N 2 21"
printf '%s\n' "$start" ext "$first" "enter 1 1" "newbuf 5" "exit 1 1" "$second" | log amid
damaged "a buffer's first record amid its others" amid \
    "offset 120: a buffer's first records amid its others (bytes lost: 16)" \
    "N 1 11 R 78 10 a buffer's first records amid its others X 1 12 N 2 21"
printf '%s\n' "$start" ext "$first" "enter 1 1" \
    "hex 0b ff ff ff 7f 01 00 00 00 00 00 00 00 00 00 00" "exit 1 1" "$second" | log event
damaged "an event that is too long" event \
    "offset 120: an event that its buffer cannot hold (bytes lost: 24)" \
    "N 1 11 R 78 18 an event that its buffer cannot hold N 2 21"
printf '%s\n' "head 2 1 3 0 0 0" ext "newbuf 1" "wall 1 1" "cpu 0 16" "enter 1 1" \
    "hex 11 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" "exit 1 1" | log typed2
damaged "a typed event in version 2" typed2 \
    "offset 104: a typed event before version 3 (bytes lost: 16)" \
    "N 1 11 R 68 10 a typed event before version 3 X 1 12"

# the writer's bug: typed events are not counted in the length
printf '%s\n' "$start" "ext 93" "$first" "typed 1 1 text" "enter 1 1" "hex 02" \
    "$second" | log typed
damaged "typed events cut their buffer" typed \
    "offset 140: a record is cut by the end of its buffer (bytes lost: 1)" \
    "D 11:1 text N 1 12 R 8c 1 a record is cut by the end of its buffer N 2 21"

# lengths of buffers that cannot be
printf '%s\n' "$start" "ext 80" "$first" "enter 1 1" "exit 1 1" "exit 1 1" "$second" | log short
damaged "extents that are too short" short \
    "offset 48: the buffer's length is wrong (bytes lost: 0)" \
    "R 30 0 the buffer's length is wrong N 1 11 X 1 12 X 1 13 N 2 21"
printf '%s\n' "$start" "ext 100" "$first" "enter 1 1" "exit 1 1" "exit 1 1" "$second" | log long
damaged "extents that are too long" long \
    "offset 48: the buffer's length is wrong (bytes lost: 0)" \
    "R 30 0 the buffer's length is wrong N 1 11 X 1 12 X 1 13 N 2 21"
printf '%s\n' "$start" "ext 9999999999" "$first" "enter 1 1" "$second" | log huge
damaged "extents that are huge" huge \
    "offset 48: the buffer's length is wrong (bytes lost: 0)" \
    "R 30 0 the buffer's length is wrong N 1 11 N 2 21"
printf '%s\n' "$start" "ext 72" "$first" "enter 1 1" "hex 00 00 00 00 00 00 00 00 00 00 00" "$second" | log gap
damaged "zeros between buffers" gap \
    "offset 120: bytes that belong to no buffer (bytes lost: 11)" \
    "N 1 11 N 2 21 R 78 b bytes that belong to no buffer"
printf '%s\n' "$start" "ext 72" "$first" "enter 1 1" "hex 33 00 77 0f 01 02 03 0f 0f 01 3f" "$second" | log junk
damaged "junk between buffers" junk \
    "offset 120: bytes that belong to no buffer (bytes lost: 11)" \
    "N 1 11 N 2 21 R 78 b bytes that belong to no buffer"
printf '%s\n' "$start" ext "$first" "enter 1 1" "ext 0" "hex 0f" | log tail
damaged "a part of a record at the end" tail \
    "offset 136: the log ends within a record (bytes lost: 1)" \
    "N 1 11 R 88 1 the log ends within a record"

# buffers that lack their first records
printf '%s\n' "$start" ext "hex 81 00 00 00 00 00 00 00 00 00 00 00 00 00 00 00" \
    "wall 1 1" "pid 1" "cpu 0 16" "enter 1 1" "$second" | log notid
damaged "no thread" notid \
    "offset 48: the buffer does not begin with its thread and time (bytes lost: 0)" \
    "R 30 0 the buffer does not begin with its thread and time N 1 11 N 2 21"
printf '%s\n' "$start" ext "newbuf 1" "wall 1 1" "enter 1 1" "$second" | log noclock
damaged "no clock" noclock \
    "offset 80: no clock value comes before this, it counts from 0 (bytes lost: 0)" \
    "R 50 0 no clock value comes before this, it counts from 0 N 1 1 N 2 21"

# version 1: the header's size is wrong, an end mark is missing
v1='newbuf 1
wall 1 1
cpu 0 16
enter 1 1
eob
fill
newbuf 1
wall 1 2
cpu 0 32
exit 1 1
eob
fill'
printf '%s\n' "head 1 1 3 0 96 0" "$v1" | log v1
check "version 1" "$R" "$T/v1"
grep '^[NXVADRT]' "$T/out" >"$T/want"
for size in 0 104 200 1000000; do
	{
		head -c 16 "$T/v1"
		printf "\\$(printf %03o $((size % 256)))\\$(printf %03o $((size / 256 % 256)))"
		printf "\\$(printf %03o $((size / 65536)))\0\0\0\0\0"
		tail -c +25 "$T/v1"
	} >"$T/v1.$size"
	status 2 "version 1, size $size" "$R" "$T/v1.$size"
	grep '^[NXVADT]' "$T/out" >"$T/got"
	samefile "version 1, size $size: all is read" "$T/want" "$T/got"
	same "version 1, size $size: one message" 1 "$(wc -l <"$T/err" | tr -d ' ')"
done

# basic logs
printf '%s\n' "head 3 0 3 0 0 0" "rec 0 0 7 100 11 10" "rec 0 9 7 101 11 10" \
    "rec 0 1 7 102 11 10" "recarg 7 11 10 5" "recarg 8 11 10 5" "hex 00 00 01" | log basic
damaged "a basic log" basic \
    "offset 64: an unknown kind of entry or exit (bytes lost: 67, other places: 2)" \
    "N 7 64 R 40 20 an unknown kind of entry or exit X 7 66 A 5 R a0 20 an argument that belongs to no entry R c0 3 the log ends within a record"

# -k; several logs; gzip cut
check "-k makes it whole" "$R" -k "$T/kind"
same "-k makes it whole: with a message" 1 "$(grep -c 'offset 120' "$T/err")"
same "-k makes it whole: end mark" "E exit 0 3" "$(grep '^E' "$T/out")"
status 2 "the good logs beside a bad one" "$R" "$T/v1" "$T/text" "$T/v1"
same "the good logs beside a bad one: all calls" 4 "$(grep -c '^[NX]' "$T/out")"
status 2 "a log that is not there" "$R" "$T/v1" "$T/nothing"
same "a log that is not there: message" \
    "read-xray: $T/nothing: open: No such file or directory" "$(cat "$T/err")"
status 2 "a binary without a map" "$R" -m "$TB/mkxray" "$T/v1"
same "a binary without a map: message" \
    "read-xray: $(realpath "$TB/mkxray"): no section xray_instr_map" "$(cat "$T/err")"
status 2 "a map that is no binary" "$R" -m t/lib.sh "$T/v1"
same "a map that is no binary: message" "read-xray: t/lib.sh: no 64-bit ELF file" "$(cat "$T/err")"

gzip -dc t/fix/xray/simple.log.gz >"$T/simple"
"$R" "$T/simple" | grep '^[NX]' >"$T/want"
head -c 300 t/fix/xray/simple.log.gz >"$T/cut.gz"
status 2 "gzip data cut" "$R" "$T/cut.gz"
same "gzip data cut: told" "read-xray: $T/cut.gz: gzip: data ends early" "$(head -n 1 "$T/err")"
grep '^[NX]' "$T/out" >"$T/got"
n=$(wc -l <"$T/got")
[ "$n" -gt 50 ] && head -n "$n" "$T/want" | cmp -s - "$T/got"
ok "gzip data cut: what came before is read" $?
zstd -qc "$T/simple" | head -c -9 >"$T/cut.zst"
status 2 "zstd data cut" "$R" "$T/cut.zst"
same "zstd data cut: told" "read-xray: $T/cut.zst: zstd: data ends early" "$(head -n 1 "$T/err")"
gzip -c "$T/v1" | head -c -4 >"$T/v1.gz"
status 2 "gzip data cut behind all of the log" "$R" "$T/v1.gz"
same "gzip data cut behind all of the log: all is read" 2 "$(grep -c '^[NX]' "$T/out")"

# every prefix, and every bit turned: a driver, as these are many
printf '%s\n' "$start" ext "$first" "enter 1 1" "enterarg 2 5" "arg 99" \
    "custom 4 text" "exit 2 1" "typed 4 1 more text" "wrap 4000" "tail 1 1" \
    "$second" "exit 2 1" | log whole
check "every prefix and bit, version 5" "$TB/xraybreak" "$T/whole"
same "every prefix and bit, version 5: only whole buffers are silent" \
    "silent 2," "$(grep -o 'silent [0-9]*,' "$T/out")"
for v in 2 3; do
	printf '%s\n' "head $v 1 3 0 0 0" ext "newbuf 1" "wall 1 1" "cpu 0 16" \
	    "enter 1 1" "arg 99" "custom 400 text" "exit 1 2" | log w$v
	check "every prefix and bit, version $v" "$TB/xraybreak" "$T/w$v"
done
printf '%s\n' "head 1 1 3 0 160 0" "newbuf 1" "wall 1 1" "cpu 0 16" "enter 1 1" \
    "arg 99" "custom 400 text" "exit 1 2" eob fill | log w1
check "every prefix and bit, version 1" "$TB/xraybreak" "$T/w1"
printf '%s\n' "head 3 0 3 0 0 0" "rec 0 0 7 100 11 10" "recarg 7 11 10 5" \
    "rec 0 1 7 102 11 10" | log wb
check "every prefix and bit, basic" "$TB/xraybreak" "$T/wb"
check "the corpus" "$TB/fuzz_xray" t/fuzz/corpus/xray

# the same from the command line: each prefix of one has one message
n=$(wc -c <"$T/whole") i=1 wrong=
while [ $i -lt "$n" ]; do
	head -c $i "$T/whole" >"$T/p"
	"$R" -o "$T/p.ev" "$T/p" 2>"$T/err"
	s=$?
	m=$(grep -vc ' exits without' "$T/err")
	case $s.$m in
	2.1) grep -q '^E' "$T/p.ev" && wrong="$wrong $i" ;;
	0.0) ;;
	*) wrong="$wrong $i:$s.$m" ;;
	esac
	i=$((i + 7))
done
same "prefixes: status 2 and one message, or whole" "" "$wrong"

done_testing
