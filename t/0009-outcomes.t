#!/bin/sh
# O lines between executions are read together with these where they are plain:
# what readers make of them is what they make of the same lines with zeros before
# the number, which are read one by one

. t/lib.sh

small="--I1=4096,2,64 --D1=4096,1,64 --LL=65536,4,64"

by_line() {
	sed 's/^O \([0-9a-f]\)/O 00000\1/'
}

without_zeros() {
	sed 's/^O 00000/O /'
}

# file program...: status, standard output and messages; a stream that is passed
# on still has its zeros
as_lines() {
	text=$1
	shift
	by_line <"$text" >"$T/lines"
	timeout -k 5 60 "$@" <"$T/lines" >"$T/out.a" 2>"$T/a.err"
	echo $? >>"$T/a.err"
	without_zeros <"$T/out.a" >"$T/a"
	timeout -k 5 60 "$@" <"$text" >"$T/b" 2>"$T/b.err"
	echo $? >>"$T/b.err"
	name="$(basename "$text"): $(basename "$1") $2"
	samefile "$name: output" "$T/a" "$T/b"
	samefile "$name: messages" "$T/a.err" "$T/b.err"
}

# long enough for the thread that reads ahead
"$B/trace" -o "$T/all.ev" --stdout=/dev/null gzip -1c man/events.5
"$B/branchsim" -t "$T/all.ev" >"$T/branches"
"$B/cachesim" -t $small "$T/all.ev" >"$T/misses"
"$B/cachesim" -t $small "$T/branches" >"$T/both"
[ "$(wc -c <"$T/both")" -gt 2000000 ] &&
    [ "$(grep -c '^O' "$T/both")" -gt 100000 ]
ok "a long stream of executions and outcomes" $?
for f in branches misses both; do
	as_lines "$T/$f" "$B/callgraph"
	as_lines "$T/$f" "$B/callgraph" --contexts --rep=each
done
as_lines "$T/branches" "$B/cachesim" -t $small
as_lines "$T/branches" "$B/cachesim" --wide=cut $small
as_lines "$T/misses" "$B/branchsim" -t
as_lines "$T/misses" "$B/branchsim" --predictor=gshare -t --rep=each
as_lines "$T/misses" "$B/branchsim" --predictor=bimodal

# repeated executions, equal ones, threads, and all that may be between
awk 'BEGIN {
	print "H quern-events 2\nH kind all\nH outcomes Bcm Bim Ge"
	for (id = 1; id <= 40; id++)
		printf "B %x >%x 4r8.0 3w4.1 4r8.0*2 2\n", id, 65536 + 64 * id
	for (i = 0; i < 90000; i++) {
		id = 1 + i * i % 40
		again = i % 13 == 0 ? 1 + i % 3 : 0
		line = sprintf("%x+%x-%x%s%s", id, i % 7 * 64,
		    i % 3 * 4096, i % 5 == 0 ? "+1" : ".",
		    again ? "*" again : "")
		print line
		n += 1 + again
		if (i % 17 == 0) {
			print line
			n += 1 + again
		}
		if (i % 2 == 0)
			printf "O %x Bcm\n", 1 + i % 4
		if (i % 6 == 0)
			printf "O 4 Bim*%x Ge\n", 1 + i % 5
		if (i % 999 == 0)
			printf "T %d\n%s\nO 3 Bcm\n", 7 + i % 4, line
		if (i % 999 == 0)
			n += 1 + again
		if (i % 1500 == 0)
			print "C between\nO 1 Ge"
		if (i % 30 == 0)
			printf "O 2 Bcm*%x\n", i
	}
	print "E exit 0 " n
}' >"$T/made"
as_lines "$T/made" "$B/callgraph" --rep=each
as_lines "$T/made" "$B/callgraph" --separate-threads=yes
as_lines "$T/made" "$B/cachesim" -t $small
as_lines "$T/made" "$B/cachesim" $small

# what is wrong
while read -r what status line; do
	awk -v line="$line" 'NR == 80000 { print line } { print }' "$T/made" \
	    >"$T/$what"
	as_lines "$T/$what" "$B/callgraph"
	same "$what: status" "$status" "$(tail -n 1 "$T/b.err")"
	as_lines "$T/$what" "$B/cachesim" $small
	as_lines "$T/$what" "$B/cachesim" -t $small
done <<'END'
no-such-event 2 O 1 Bcm Dcm
malformed 2 O 1 Bcm*
blanks 2 O 1 Bcm  Bim
no-instruction 2 O 9 Bcm
nothing 2 O 1
escaped 0 O 1 B\\143m
instruction-0 2 O 0 Bcm
late 0 O 1=1 Bcm
too-late 2 O 1=2 Bcm
no-number 2 O g Bcm
no-execution 2 T 99\nO 1 Bcm
bad-execution 2 O 1 Bcm\n1+1-1+1+1
undefined 2 O 1 Bcm\nffff+1
END

# an execution that a simulator refuses has no outcomes, nor has what follows
printf '%s\n' 'H quern-events 2' 'H kind blocks' 'H outcomes Xa' \
    'B 1 >1000 4 2C2000' 'B 2 >3000 4' 'B 3 >1006 4' \
    1 'O 1 Xa' '2*1' 'O 1 Xa*7' 3 'O 1 Xa*9' 'E exit 0 4' >"$T/refused"
by_line <"$T/refused" >"$T/lines"
for o in "" -t; do
	status 2 "a branch to nowhere $o" "$B/branchsim" $o "$T/refused"
	without_zeros <"$T/out" >"$T/a"
	"$B/branchsim" $o "$T/lines" 2>"$T/err" | without_zeros >"$T/b"
	samefile "and its outcomes $o" "$T/b" "$T/a"
done

done_testing
