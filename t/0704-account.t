#!/bin/sh
# account: counts and durations of functions

. t/lib.sh

A="$B/account"

events() { # n line...: a stream with n entries and exits
	n=$1
	shift
	printf '%s\n' "H quern-events 1" "H kind calls" "$@" "E exit 0 $n"
}

events 13 "G 1 . outer" 'G 2 . in"ner' "T 1" "N 1 100" "N 2 110" "T 2" "N 1 0" \
    "T 1" "X 2 120" "N 2 120" "X 2 150" "T 2" "N 3 10" "X 1 200" "T 1" \
    "X 1 180" "X 9 181" "N 4 1000" "X 4 1001" "T 2" "N 4 5" >"$T/a.ev"
check "text" "$A" "$T/a.ev"
samefile "text: the table" - "$T/out" <<'END'
4 functions, durations in ticks
    funcid        count            min            med            90p            99p            max            sum  function
         1            2            128            512            512            512            512            640  outer
         3            1            496            496            496            496            496            496  #3
         2            2             16             48             48             48             48             64  in"ner
         4            1              1              1              1              1              1              1  #4
exits without their entries: 1, entries without their exits: 1, not left at the end: 1
END
check "csv, by id" "$A" -f csv -s funcid "$T/a.ev"
samefile "csv, by id: the table" - "$T/out" <<'END'
funcid,count,min,median,90%ile,99%ile,max,sum,function
1,2,128,512,512,512,512,640,"outer"
2,2,16,48,48,48,48,64,"in""ner"
3,1,496,496,496,496,496,496,"#3"
4,1,1,1,1,1,1,1,"#4"
END
check "json" "$A" -f json -n 1 "$T/a.ev"
same "json: all of it" '{ "hz": 0, "functions": [ { "function": "outer", "id": 1, "count": 2, "min": 128, "median": 512, "p90": 512, "p99": 512, "max": 512, "sum": 640 } ], "exits_without_entries": 1, "entries_without_exits": 1, "not_left": 1 }' \
    "$(echo $(cat "$T/out"))"

# the three forms have the same figures
for e in a many; do
	[ $e = a ] || events 60 $(awk 'BEGIN {
		srand(5)
		for (i = 0; i < 30; i++) {
			f = 1 + int(rand() * 6)
			t += 1 + int(rand() * 30)
			printf "N:%x:%x\n", f, t
			t += 1 + int(rand() * 300)
			printf "X:%x:%x\n", f, t
		}
	}') | tr : ' ' >"$T/many.ev"
	"$A" -f csv -s funcid "$T/$e.ev" | sed 1d | cut -d, -f1-8 >"$T/want"
	"$A" -s funcid "$T/$e.ev" | awk 'NF >= 9 && $1 ~ /^[0-9]+$/ {
		print $1 "," $2 "," $3 "," $4 "," $5 "," $6 "," $7 "," $8 }' >"$T/got"
	samefile "$e: text has what csv has" "$T/want" "$T/got"
	"$A" -f json -s funcid "$T/$e.ev" | perl -MJSON::PP -0777 -ne '
	for my $f (@{decode_json($_)->{functions}}) {
		print join(",", @$f{qw(id count min median p90 p99 max sum)}), "\n"
	}' >"$T/got"
	samefile "$e: json has what csv has" "$T/want" "$T/got"
done

# every order
order() { # column order ids
	check "by $1 $2" "$A" -f csv -s "$1" ${2:+-S $2} "$T/a.ev"
	same "by $1 $2: order" "$3" "$(echo $(sed 1d "$T/out" | cut -d, -f1))"
}
order funcid "" "1 2 3 4"
order funcid dsc "4 3 2 1"
order count "" "1 2 3 4"
order count asc "3 4 1 2"
order min asc "4 2 1 3"
order med "" "1 3 2 4"
order 90p asc "4 2 3 1"
order 99p "" "1 3 2 4"
order max asc "4 2 3 1"
order sum asc "4 2 3 1"
order func "" "3 4 2 1"

# seconds, where the frequency is told
events 6 "F 5 1 3 2596120000 16384 0 log" "N 1 0" "X 1 1" "N 1 1" "X 1 a18afbc0" \
    "N 1 0" "X 1 ffffffffffffffff" >"$T/s.ev"
check "seconds" "$A" -f csv "$T/s.ev"
same "seconds: nine digits" '1,3,0.000000000,1.043957980,7105505166.829557807,7105505166.829557807,7105505166.829557807,7105505167.873515788,"#1"' \
    "$(sed 1d "$T/out")"
check "ticks" "$A" -tf csv "$T/s.ev"
same "ticks: 128 bits" '1,3,1,2710240191,18446744073709551615,18446744073709551615,18446744073709551615,18446744076419791807,"#1"' \
    "$(sed 1d "$T/out")"

# percentiles of many, by another way: sort
# functions and times: some mawks have no rand() that can be repeated
awk 'BEGIN {
	seed = 7
	for (i = 0; i < 20000; i++) {
		seed = seed * 16807 % 2147483647
		print i % 7, int(seed / 2147483647 * (i % 3 ? 100 : 1000000))
	}
}' >"$T/times"
awk 'BEGIN { print "H quern-events 1\nH kind calls" }
{ printf "N %x %x\nX %x %x\n", $1, NR - 1, $1, NR - 1 + $2 }
END { print "E exit 0 40000" }' "$T/times" >"$T/many.ev"
check "many" "$A" -f csv -s funcid "$T/many.ev"
sort -k1,1n -k2,2n "$T/times" | awk '
function show() {
	printf "%d,%d,%d,%d,%d,%d,%d,%d,\"#%d\"\n", id, n, v[0], v[int(n / 2)],
	    v[int(n * 90 / 100)], v[int(n * 99 / 100)], v[n - 1], sum, id
}
BEGIN { print "funcid,count,min,median,90%ile,99%ile,max,sum,function" }
NR > 1 && $1 != id { show(); n = sum = 0 }
{ id = $1; v[n++] = $2; sum += $2 }
END { show() }' >"$T/want"
samefile "many: the same by sort" "$T/want" "$T/out"

# recursion: f(g, f(f), h); later calls of f alone do not recur
events 12 "N 1 0" "N 2 1" "X 2 2" "N 1 3" "N 1 4" "X 1 5" "X 1 7" "N 3 8" "X 3 9" \
    "X 1 a" "N 1 20" "X 1 21" >"$T/r.ev"
check "-r" "$A" -r -f csv "$T/r.ev"
same "-r: the three calls of f" '1,3,1,4,10,10,10,15,"#1"' "$(sed 1d "$T/out")"

# two logs: threads begin anew; two frequencies do not add up
events 3 "F 5 1 3 1000 0 0 a" "T 1" "N 1 0" "F 5 1 3 1000 0 0 b" "T 1" "N 1 5" "X 1 6" >"$T/two.ev"
check "two logs" "$A" "$T/two.ev"
same "two logs: the first one's call is open" \
    "exits without their entries: 0, entries without their exits: 0, not left at the end: 1" \
    "$(tail -n 1 "$T/out")"
events 0 "F 5 1 3 1000 0 0 a" "F 5 1 3 1001 0 0 b" >"$T/two.ev"
status 2 "two frequencies" "$A" "$T/two.ev"
same "two frequencies: message" \
    "account: $T/two.ev:4: F: a log of another frequency: its ticks are not those of the one before" \
    "$(cat "$T/err")"

# one tid in two processes
events 4 "T 5 1" "N 1 0" "T 5 2" "N 2 0" "T 5 1" "X 1 9" "T 5 2" "X 2 7" >"$T/pid.ev"
check "one tid in two processes" "$A" -f csv "$T/pid.ev"
same "one tid in two processes: both are right" '1,1,9,9,9,9,9,9,"#1" 2,1,7,7,7,7,7,7,"#2"' \
    "$(echo $(sed 1d "$T/out"))"

# deep stacks without exits
awk 'BEGIN {
	print "H quern-events 1\nH kind calls"
	for (i = 0; i < 300000; i++)
		printf "N %x %x\n", 1 + i % 1000, i
	for (i = 0; i < 300000; i++)
		printf "X %x %x\n", 2000 + i % 1000, i
	printf "X 1 fffff\n"
	print "E exit 0 600001"
}' >"$T/deep.ev"
check "a deep stack and exits that fit nowhere" "$A" -f csv -s funcid "$T/deep.ev"
same "a deep stack: one exit ends a thousand" 1000 "$(sed 1d "$T/out" | wc -l | tr -d ' ')"

# bad input
sed '$d' "$T/a.ev" >"$T/cut.ev"
status 2 "truncated" "$A" "$T/cut.ev"
same "truncated: message" "account: $T/cut.ev: truncated after 13 executions" "$(cat "$T/err")"
same "truncated: the table is there" 6 "$(sed -n '$=' "$T/out" | awk '{ print $1 - 1 }')"
status 2 "a wrong column" "$A" -s average "$T/a.ev"
same "a wrong column: message" "account: --sort=average: funcid, count, min, \
med, 90p, 99p, max, sum or func" "$(cat "$T/err")"
events 1 "N 100000000 1" >"$T/id.ev"
status 2 "an id of 33 bits" "$A" "$T/id.ev"
same "an id of 33 bits: message" \
    "account: $T/id.ev:3: N: id 100000000 does not fit in 32 bits" "$(cat "$T/err")"

done_testing
