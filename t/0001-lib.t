#!/bin/sh
# prog, mem, args, in, out: what every program relies on

. t/lib.sh

L=$TB/lib

data() { # file: the last output was this
	cmp -s "$T/out" "$1"
	ok "same data" $?
}

# numbers
check "numbers" "$L" num 0 00 7 10k 3M 2G 18446744073709551615
same "numbers: values" "0 0 7 10000 3000000 2000000000 18446744073709551615" \
    "$(echo $(cat "$T/out"))"
check "no numbers" "$L" num "" " 1" 1" " -1 +1 0x10 1K 1kk 1.5 k \
    18446744073709551616 18446744073709552k 99999999999999999999
same "no numbers: all refused" "$(seq 13 | sed 's/.*/no/')" "$(cat "$T/out")"
check "sizes" "$L" size 7 10k 3M 2G
same "sizes: values" "7 10240 3145728 2147483648" "$(tr '\n' ' ' <"$T/out" | sed 's/ $//')"
status 2 "neither of two words" "$L" die choice
same "neither of two words: message" "lib: --rep=x: neither once nor each" \
    "$(cat "$T/err")"
status 2 "none of some words" "$L" die word
same "none of some words: message" "lib: --by=x: object, type or page" \
    "$(cat "$T/err")"
status 2 "number out of bounds" "$L" die arg
same "number out of bounds: message" "lib: --size: 70 is not within 1 to 64" \
    "$(cat "$T/err")"

# diagnostics
status 2 "die with errno" "$L" die errno
same "one line, control characters replaced" \
    'lib: a\011file\012: open: No such file or directory' "$(cat "$T/err")"
status 125 "another status" "$L" die 125
check "a long message" "$L" die long
same "is cut, but a line" "2 lib: plain" \
    "$(wc -l <"$T/err") $(tail -n 1 "$T/err")"
status 2 "usage" "$L" nothing
same "usage: line" "usage: lib what ..." "$(cat "$T/err")"
check "version" "$L" --version
check "version has the project's name" grep -q '^lib (quern) [0-9.]*$' "$T/out"
check "xgrow" "$L" grow
check "xkeep, in threads" "$L" keep
check "xtouch" "$L" pages
check "xtouch_at" "$L" parts

# formats
"$L" format >"$T/f"
same "writers" "0 18446744073709551615 0 123456789abcdef0 -7 x" \
    "$(head -n 1 "$T/f")"
same "out_printf beyond its buffer" 3001 "$(sed -n 2p "$T/f" | wc -c)"
same "out_room" "100000 0123456789" \
    "$(tail -n +3 "$T/f" | uniq -c | sed 's/^ *//')"

# reading
seq 1 300000 >"$T/plain"
gzip -c "$T/plain" >"$T/one.gz"
{ head -n 1000 "$T/plain" | gzip -c; tail -n +1001 "$T/plain" | gzip -1c
    printf '\0\0\0'; } >"$T/two.gz"
zstd -qc "$T/plain" >"$T/one.zst"
skipped() { # BYTE: a frame that is to be skipped, of 300,000 bytes
	printf '%b' "$1" '\052\115\030\340\223\004\0'
	head -c 300000 /dev/zero
}
{ skipped '\0120'; head -n 1000 "$T/plain" | zstd -19 -qc --no-check
    skipped '\0137'; head -c 0 "$T/plain" | zstd -qc
    tail -n +1001 "$T/plain" | zstd -1 -qc --no-check
    skipped '\0125'; printf '\0\0\0'; } >"$T/two.zst"
for f in plain one.gz two.gz one.zst two.zst; do
	check "blocks of $f" "$L" cat "$T/$f"
	data "$T/plain"
	check "lines of $f" "$L" lines "$T/$f"
	same "last line" "300000 6 300000" "$(tail -n 1 "$T/out")"
	check "a line, then blocks of $f" "$L" mixed "$T/$f"
	same "nothing lost" "[1] 2 300000 300000" \
	    "$(echo $(sed -n '1,2p;$p' "$T/out") $(wc -l <"$T/out"))"
done
stdin() { "$L" lines <"$T/one.gz"; }
check "standard input" stdin
same "standard input: last line" "300000 6 300000" "$(tail -n 1 "$T/out")"
stdin() { "$L" cat - <"$T/two.gz"; }
check "standard input as -" stdin
data "$T/plain"
slow() { { printf '\037'; sleep 0.1; tail -c +2 "$T/one.gz"; } | "$L" cat; }
check "gzip in drops through a pipe" slow
data "$T/plain"
for f in one two; do
	slow() { { head -c 3 "$T/$f.zst"; sleep 0.1
	    tail -c +4 "$T/$f.zst"; } | "$L" cat; }
	check "zstd in drops through a pipe: $f" slow
	data "$T/plain"
done

head -c 3000000 /dev/zero | tr '\0' x >"$T/long"
printf '\nend' >>"$T/long"
check "a line of 3 MB, no last newline" "$L" lines "$T/long"
same "whole" "1 3000000 xxxx;2 3 end(no newline);" \
    "$(cut -c 1-20 "$T/out" | sed 's/xxx*$/xxxx/' | tr '\n' ';')"
: >"$T/empty"
check "an empty file" "$L" lines "$T/empty"
same "no lines" 0 "$(wc -c <"$T/out")"
printf 'a\0b\n' >"$T/nul"
check "a NUL in a line" "$L" lines "$T/nul"
same "counts as a byte" 3 "$(cut -d' ' -f2 "$T/out" | tr -d '\0')"
printf '\037' >"$T/1f"
check "half a gzip magic is plain" "$L" cat "$T/1f"
data "$T/1f"

status 2 "a file that is not there" "$L" cat "$T/none"
same "its message" "lib: $T/none: open: No such file or directory" \
    "$(cat "$T/err")"
status 2 "a folder" "$L" cat "$T"
same "its message" "lib: $T: read: Is a directory" "$(cat "$T/err")"
head -c 100000 "$T/one.gz" >"$T/cut.gz"
status 2 "gzip cut" "$L" cat "$T/cut.gz"
same "its message" "lib: $T/cut.gz: gzip: data ends early" "$(cat "$T/err")"
check "gzip cut, for who asks" env ALLOW_CUT=1 "$L" cat "$T/cut.gz"
same "what is there is right" "" "$(cmp "$T/out" "$T/plain" 2>&1 |
    grep -v 'EOF on.*out')"
same "warned about" "lib: $T/cut.gz: gzip: data ends early" "$(cat "$T/err")"
head -c 5 "$T/one.gz" >"$T/cut.gz"
status 2 "gzip cut in its head" "$L" cat "$T/cut.gz"
{ head -c 50000 "$T/one.gz"; echo damage; tail -c +50000 "$T/one.gz"; } \
    >"$T/bad.gz"
status 2 "gzip damaged" "$L" cat "$T/bad.gz"
{ cat "$T/one.gz"; echo more; } >"$T/bad.gz"
status 2 "gzip and something else" "$L" cat "$T/bad.gz"
same "its message" "lib: $T/bad.gz: gzip: other data behind the end" \
    "$(cat "$T/err")"

head -c 100000 "$T/one.zst" >"$T/cut.zst"
status 2 "zstd cut" "$L" cat "$T/cut.zst"
same "its message" "lib: $T/cut.zst: zstd: data ends early" "$(cat "$T/err")"
status 2 "zstd cut: lines" "$L" lines "$T/cut.zst"
check "the last one is told" grep -q \
    "^lib: .*/cut\.zst:14[0-9]*: zstd: data ends early\$" "$T/err"
check "zstd cut, for who asks" env ALLOW_CUT=1 "$L" cat "$T/cut.zst"
same "what is there is right" "" "$(cmp "$T/out" "$T/plain" 2>&1 |
    grep -v 'EOF on.*out')"
same "warned about, once" "lib: $T/cut.zst: zstd: data ends early" \
    "$(cat "$T/err")"
for n in 5 8 $(($(stat -c %s "$T/one.zst") - 1)); do
	head -c "$n" "$T/one.zst" >"$T/cut.zst"
	status 2 "zstd cut to $n bytes" "$L" cat "$T/cut.zst"
	same "its message" "lib: $T/cut.zst: zstd: data ends early" \
	    "$(cat "$T/err")"
done
skipped '\0120' | head -c 200000 >"$T/cut.zst"
status 2 "zstd cut in what is skipped" "$L" cat "$T/cut.zst"
same "its message" "lib: $T/cut.zst: zstd: data ends early" "$(cat "$T/err")"
{ head -c 100000 "$T/one.zst"; echo damage; tail -c +100008 "$T/one.zst"; } \
    >"$T/bad.zst"
status 2 "zstd damaged" "$L" cat "$T/bad.zst"
same "its message" "lib: $T/bad.zst: zstd: damaged" \
    "$(sed 's/: its checksum is wrong//' "$T/err")"
check "what came before is read" test -s "$T/out"
{ head -c -1 "$T/one.zst"; printf '\252'; } >"$T/bad.zst"
status 2 "zstd with another checksum" "$L" cat "$T/bad.zst"
same "its message" \
    "lib: $T/bad.zst: zstd: damaged: its checksum is wrong" "$(cat "$T/err")"
{ cat "$T/one.zst"; echo more; } >"$T/bad.zst"
status 2 "zstd and something else" "$L" cat "$T/bad.zst"
same "its message" "lib: $T/bad.zst: zstd: other data behind the end" \
    "$(cat "$T/err")"
cat "$T/one.zst" "$T/one.gz" >"$T/bad.zst"
status 2 "zstd and gzip" "$L" cat "$T/bad.zst"
zstd -qc --ultra -22 --zstd=wlog=27 <"$T/plain" >"$T/wide.zst"
check "zstd with a window of 128 MB" "$L" cat "$T/wide.zst"
data "$T/plain"
# a frame's header: it has no size, and a window of 256 MB
printf '\050\265\057\375\000\220\000\000\000' >"$T/wide.zst"
status 2 "zstd with one of 256 MB" "$L" cat "$T/wide.zst"
same "its message" "lib: $T/wide.zst: zstd: needs a window of more than \
128 MB: zstd -dc --long=31 FILE | ..." "$(cat "$T/err")"
# the same with the number of a dictionary
printf '\050\265\057\375\001\120\007\001\000\000' >"$T/dictionary.zst"
status 2 "zstd with a dictionary" "$L" cat "$T/dictionary.zst"
same "its message" "lib: $T/dictionary.zst: zstd: needs a dictionary: \
zstd -dc -D DICTIONARY FILE | ..." "$(cat "$T/err")"
bounded() { (ulimit -v 300000; exec "$L" cat "$T/one.zst"); }
[ "$TB" != "${TB%/san/t}" ] || check "zstd in bounded memory" bounded

# compressions that are not read
told() { # NAME MAGIC
	{ printf '%b' "$2"; seq 100; } >"$T/packed"
	status 2 "$1" "$L" cat "$T/packed"
	same "$1: how to read it is told" \
	    "lib: $T/packed: compressed by $1: $1 -dc $T/packed | ..." \
	    "$(cat "$T/err")"
	stdin() { "$L" cat <"$T/packed"; }
	status 2 "$1 as standard input" stdin
	same "$1: how to read that is told" \
	    "lib: stdin: compressed by $1: $1 -dc | ..." "$(cat "$T/err")"
}
told xz '\03757zXZ\0'
told bzip2 'BZh91AY&SY'
told lz4 '\04\042\0115\030'
printf 'BZh9, a name' >"$T/name"
check "a text that begins as one of bzip2 does" "$L" cat "$T/name"
data "$T/name"

check "the fuzzing corpus" "$TB/fuzz_in" t/fuzz/corpus/in

# writing
full() { "$L" cat "$T/plain" >/dev/full; }
status 2 "full disk" full
same "its message" "lib: standard output: write: No space left on device" \
    "$(cat "$T/err")"
full() { "$L" --version >/dev/full; }
status 2 "full disk, --version" full
full() { "$L" cat "$T/1f" >/dev/full; }
status 2 "full disk, one byte" full
status 2 "full disk, named" "$L" cat -o /dev/full "$T/plain"
check "/dev/full is still there" test -c /dev/full
closed() { "$L" cat "$T/plain" >&-; }
status 2 "closed output" closed
same "its message" "lib: standard output: write: Bad file descriptor" \
    "$(cat "$T/err")"

# The statuses of a pipe's left side, asked for by the shell that is there.
left() { # cmd...: its status with a reader that takes one line
	{ "$@"; echo $? >"$T/left"; } 2>"$T/lefterr" | head -n 1 >/dev/null
	cat "$T/left"
}
same "reader gone: SIGPIPE" 141 "$(left "$L" cat "$T/plain")"
same "silent" "" "$(cat "$T/lefterr")"
ignoring() { (trap '' PIPE; left "$L" cat "$T/plain"); }
same "reader gone, SIGPIPE ignored by the parent" 141 "$(ignoring)"
same "silent" "" "$(cat "$T/lefterr")"

check "-o" "$L" cat -o "$T/new" "$T/plain"
check "same data" cmp "$T/new" "$T/plain"
echo old >"$T/old"
chmod 640 "$T/old"
ln -s old "$T/link"
status 2 "-o, dying half way" "$L" half "$T/old"
same "the old file is untouched" old "$(cat "$T/old")"
check "-o over a link" "$L" cat -o "$T/link" "$T/plain"
check "the link stays" test -L "$T/link"
check "its file is new" cmp "$T/old" "$T/plain"
same "with its mode" 640 "$(stat -c %a "$T/old")"

# the mode of what is replaced
own() { # mode: the file's mode, and that of what replaces it
	echo old >"$T/mode"
	chmod "$1" "$T/mode"
	"$L" cat -o "$T/mode" "$T/plain" && stat -c %a "$T/mode"
}
same "permissions of our own file stay" "600 444 755" \
    "$(umask 022; echo $(own 600) $(own 444) $(own 755))"
same "its set-uid, set-gid and sticky bits do not" "755 750 777" \
    "$(umask 022; echo $(own 4755) $(own 6750) $(own 1777))"
other() { # mode: the same with a file of someone else
	rm -f "$T/mode"
	echo old >"$T/mode"
	chown 65534 "$T/mode"
	own "$1"
	stat -c %u "$T/mode"
}
if [ "$(id -u)" -eq 0 ]; then
	same "another's set-uid file: a new file of ours" "644 0 640 0" \
	    "$(umask 022; echo $(other 4777) $(umask 027; other 777))"
else
	skip "another's set-uid file: a new file of ours" "not root"
fi
check "an empty result is a file too" "$L" cat -o "$T/none" "$T/empty"
same "of no bytes" 0 "$(wc -c <"$T/none")"
rm "$T/none"
mkfifo "$T/fifo"
{ sleep 30 & echo $! >"$T/sleeper"; wait; } >"$T/fifo" &
"$L" cat -o "$T/killed" "$T/fifo" &
pid=$!
n=0
while [ ! -f "$T/killed.tmp.$pid" ] && [ $n -lt 200 ]; do
	sleep 0.05
	n=$((n + 1))
done
check "written aside" test -f "$T/killed.tmp.$pid"
# the first one passes while a pipe is being read: t/0164-interrupt.t
n=0
while [ -f "$T/killed.tmp.$pid" ] && [ $n -lt 200 ]; do
	kill -TERM "$pid"
	sleep 0.05
	n=$((n + 1))
done
{ wait "$pid"; } 2>/dev/null
same "SIGTERM is death by SIGTERM" 143 $?
{ kill "$(cat "$T/sleeper")"; wait; } 2>/dev/null
same "nothing left aside" "" "$(ls "$T" | grep -F .tmp.)"
check "not in place" test ! -e "$T/killed"
status 2 "a folder that is not there" "$L" cat -o "$T/no/file" "$T/plain"
same "its message" "lib: $T/no/file: a new file beside it: No such file or directory" \
    "$(cat "$T/err")"

# what a killed process of this number left aside
stale() { # n: that many
	sh -c 'i=$1 f=$2
	>"$f.tmp.$$"
	while [ $((i -= 1)) -gt 0 ]; do
		>"$f.tmp.$$.$i"
	done
	exec "$3" cat -o "$f" "$4"' sh "$1" "$T/stale" "$L" "$T/plain"
}
check "a stale file aside" stale 1
check "is not in the way" cmp "$T/stale" "$T/plain"
same "and is left" 1 "$(ls "$T" | grep -c '^stale.tmp')"
rm "$T"/stale*
check "three of them" stale 3
check "are not in the way" cmp "$T/stale" "$T/plain"
same "and are left" 3 "$(ls "$T" | grep -c '^stale.tmp')"
rm "$T"/stale*
status 2 "a thousand of them are" stale 1000
same "its message" "lib: $T/stale: a new file beside it: File exists" \
    "$(cat "$T/err")"
rm "$T"/stale*
limited() { (trap '' XFSZ; ulimit -f 1; "$L" cat -o "$T/limit" "$T/plain"); }
status 2 "a file beyond its limit" limited
killed() { (ulimit -c 0; ulimit -f 1; "$L" cat -o "$T/limit" "$T/plain"); }
status 153 "death by SIGXFSZ" killed
same "nothing of them is left" "" "$(ls "$T" | grep '^limit')"

# a pipe neither of whose ends blocks, as others who have it may have made it
cat >"$T/unblocked.pl" <<'EOF'
use Fcntl;
pipe R, W or exit 99;
fcntl $_, F_SETFL, O_NONBLOCK or exit 99 for *R, *W;
if (my $pid = fork) {	# the reader; both wait for each other
	open STDIN, "<&R" and close R and close W or exit 99;
	exec $ARGV[0], "cat" or exit 99;
}
open STDOUT, ">&W" and close R and close W or exit 99;
sleep 1;
exec $ARGV[0], "cat", $ARGV[1] or exit 99;
EOF
seq 400000 >"$T/numbers"
check "ends that do not block" perl "$T/unblocked.pl" "$L" "$T/numbers"
samefile "all of it comes through" "$T/numbers" "$T/out"

many() { ulimit -n 5000 && "$L" many "$T/many"; }
if (ulimit -n 5000) 2>/dev/null; then
	check "4,200 files open for writing" many
	same "all of them are there, nothing else" 4200 \
	    "$(ls "$T" | grep -c '^many')"
else
	skip "4,200 files open for writing" "the limit of files is lower"
fi
rm -f "$T"/many*

# what cpu.h takes of libc is nothing that sanitizers refuse
printf '#include "cpu.h"\nint main(void) { return !cpu_has(%s) && 0; }\n' \
    'AVX512VL, "avx512vl"' >"$T/cpu.c"
for c in gcc clang; do
	if $c -fsanitize=address,undefined -fno-sanitize-recover=undefined \
	    -Ilib -o "$T/cpu" "$T/cpu.c" 2>/dev/null; then
		check "cpu.h: $c's sanitizers" "$T/cpu"
	else
		skip "cpu.h: $c's sanitizers" "there are none"
	fi
done

done_testing
