#!/bin/sh
# a long stream, which a thread reads ahead from a file where there are two
# processors, from a pipe where there are three: what readers make of it, plain
# and compressed, is what they make of it on one processor, where no thread reads

. t/lib.sh

small="--I1=4096,2,64 --D1=4096,1,64 --LL=65536,4,64"

one=$(taskset -cp $$ | sed 's/.*: \([0-9]*\).*/\1/')

# the same with status, standard output and messages
as_alone() { # name file program...
	name=$1
	text=$2
	shift 2
	timeout -k 5 60 taskset -c "$one" "$@" <"$text" >"$T/a" 2>"$T/a.err"
	echo $? >>"$T/a.err"
	gzip -1c "$text" >"$T/packed.gz"
	zstd -1qc "$text" >"$T/packed.zst"
	for f in "$text" "$T/packed.gz" "$T/packed.zst"; do
		timeout -k 5 60 "$@" <"$f" >"$T/b" 2>"$T/b.err"
		echo $? >>"$T/b.err"
		samefile "$name: output, ${f##*.}" "$T/a" "$T/b"
		samefile "$name: messages, ${f##*.}" "$T/a.err" "$T/b.err"
	done
	# in parts of an odd size, each as soon as it is there
	dd if="$text" obs=7919 status=none |
	    timeout -k 5 60 "$@" >"$T/b" 2>"$T/b.err"
	echo $? >>"$T/b.err"
	samefile "$name, by a pipe: output" "$T/a" "$T/b"
	samefile "$name, by a pipe: messages" "$T/a.err" "$T/b.err"
}

"$TB/caches" gen 3 60000 >"$T/random.ev"
as_alone "random executions" "$T/random.ev" "$B/cachesim" $small
as_alone "passed on" "$T/random.ev" "$B/cachesim" -t $small

# executions in runs of many lengths, and all other lines between them
awk 'BEGIN {
	print "H quern-events 2\nH kind all"
	n = 0
	for (id = 1; id <= 3000; id++) {
		printf "B %x >%x 4r8.0 3w4.1 2\n", id, 4096 + 64 * id
		runs = id % 37 == 0 ? 4000 : id * 7 % 50
		for (i = 0; i < runs; i++) {
			printf "%x+%x-%x%s\n", id - i % (id < 5 ? 1 : 5), i * 64,
			    i % 3 * 4096, i % 11 == 0 ? "*2" : ""
			n += i % 11 == 0 ? 3 : 1
		}
		if (id % 5 == 0)
			printf "T %d\n", 100 + id % 3
		if (id % 300 == 0) {
			printf "C "
			for (i = 0; i < 65000; i++)
				printf "%c", 97 + i % 26
			print ""
		}
	}
	print "E exit 0 " n
}' >"$T/mixed.ev"
as_alone "mixed lines" "$T/mixed.ev" "$B/cachesim" -t $small
as_alone "mixed lines in short" "$T/mixed.ev" "$B/icount"

# what is wrong far behind the beginning
n=$(wc -l <"$T/mixed.ev")
at=$((n - 1000))
wrong() { # name awk-program
	awk -v at=$at "$2" "$T/mixed.ev" >"$T/wrong.ev"
	as_alone "$1" "$T/wrong.ev" "$B/icount"
}
wrong "an undefined id" 'NR == at { print "fffff+1-1" } { print }'
wrong "an id that is defined behind it" \
    'NR == at { print "fffff+1-1\nB fffff >1000 4r8.0 3w4.1" } { print }'
wrong "an id that is defined twice" \
    'NR == at { print "1+1-1\nB 1 >1000 4\n1" } { print }'
wrong "too many repeats" 'NR == at { print "1+1-1*123456789abcdef0" } { print }'
wrong "a field too many" 'NR == at { print "1+1-1+1" } { print }'
wrong "a malformed execution" 'NR == at { print "1+1-g" } { print }'
wrong "a byte that no line has" 'NR == at { print "\001" } { print }'
wrong "an unknown letter" 'NR == at { print "? 1" } { print }'
wrong "an empty line" 'NR == at { print "" } { print }'
wrong "too long a line" 'NR == at {
	for (i = 0; i < 300000; i++)
		printf "1"
	print ""
} { print }'
wrong "no end" '/^E/ { exit } { print }'
wrong "cut in a line" 'NR == at { printf "1+"; exit } { print }'
wrong "another sum" '/^E/ { $4++ } { print }'
wrong "text behind the end" '{ print } END { print "C end" }'
wrong "part of a line behind the end" '{ print } END { printf "C" }'
wrong "an end too early" 'NR == at { print "E exit 0 1" } { print }'

# what is wrong with compressed data
for z in "gzip -1" "zstd -1 -q"; do
	name=${z%% *}
	$z -c "$T/mixed.ev" >"$T/packed"
	n=$(stat -c %s "$T/packed")
	head -c $((n - 5000)) "$T/packed" >"$T/cut"
	{ head -c $((n - 5000)) "$T/packed"; echo damage
	    tail -c 4500 "$T/packed"; } >"$T/damaged"
	{ cat "$T/packed"; echo more; } >"$T/more"
	for f in cut damaged more; do
		timeout -k 5 60 taskset -c "$one" "$B/cachesim" "$T/$f" \
		    >"$T/a" 2>"$T/a.err"
		echo $? >>"$T/a.err"
		status 2 "$name, $f" "$B/cachesim" "$T/$f"
		echo 2 >>"$T/err"
		samefile "$name, $f: output" "$T/a" "$T/out"
		samefile "$name, $f: messages" "$T/a.err" "$T/err"
		same "$name, $f: one message" 1 "$(grep -c : "$T/err")"
	done
done

done_testing
