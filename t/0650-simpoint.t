#!/bin/sh
# simpoint: files as SimPoint 3.2 reads and writes them, by hand

. t/lib.sh

S=$B/simpoint

# fv LINE...: a file of vectors
fv() {
	printf '%s\n' "$@" >"$T/fv"
}

# vectors OPTION...: the vectors of $T/fv, unprojected
vectors() {
	run "$S" -loadFVFile "$T/fv" -k 1 -iters 0 -dim noProject -q \
	    -saveVectorsTxtFmt "$T/vec" "$@" && cat "$T/vec"
}

# the example of main.c's head
fv T:1:20\ :3:4 T:1:20\ :3:4 T:2:24
check "two phases" "$S" -k 2 -saveSimpoints "$T/p" -saveSimpointWeights "$T/w" \
    -saveLabels "$T/l" -loadFVFile "$T/fv"
same "simpoints" "2 0,0 1" "$(paste -sd, "$T/p")"
same "weights" "0.333333 0,0.666667 1" "$(paste -sd, "$T/w")"
same "labels" "1,1,0" "$(cut -d' ' -f1 "$T/l" | paste -sd,)"

# several results are whole together, or there are none
fv T:1:20\ :3:4 T:1:20\ :3:4 T:2:24
two() {
	"$S" -k 2 -loadFVFile "$T/fv" -saveSimpoints "$T/p" "$@"
}
full() {
	rm -f "$T/p" "$T/w"
	two -saveSimpointWeights /dev/full
}
status 2 "a full disk, at the second file" full
same "no first file" "fv" "$(cd "$T" && ls -d fv p* w* 2>/dev/null)"
closed() {
	rm -f "$T/p" "$T/w"
	two -saveSimpointWeights "$T/w" >&-
}
status 2 "nowhere to write the log" closed
same "no files" "fv" "$(cd "$T" && ls -d fv p* w* 2>/dev/null)"
silent() {
	two -q -saveSimpointWeights "$T/w" >&-
}
check "no log to write" silent
same "both files" "p w" "$(cd "$T" && ls -d p* w* | paste -sd' ')"

# random numbers: these three begin the sequence of seed 1 (SimPoint's 0)
fv T:1:1 T:2:1
check "projection" "$S" -k 1 -dim 3 -seedproj 0 -loadFVFile "$T/fv" \
    -saveProjMatrixTxtFmt "$T/m" -iters 0 -q
same "sequence" "0.285381 0.253358 0.0934685" \
    "$(awk 'NR == 2 { for (i = 3; i <= 5; i++)
	printf "%.6g%s", ($i + 1) / 2, i < 5 ? " " : "" }' "$T/m")"
same "matrix: form" "2:w,0.5 3:,0.5 3:" \
    "$(awk '{ print $1 (NR > 1 ? " " $2 : "") }' "$T/m" | paste -sd,)"
same "matrix: blanks at the ends" 2 "$(grep -c ' $' "$T/m")"
same "matrix: 20 digits" "-0.42923820018768310547" \
    "$(awk 'NR == 2 { print $3 }' "$T/m")"
cp "$T/m" "$T/m1"
"$S" -k 1 -dim 3 -seedproj 1 -loadFVFile "$T/fv" -saveProjMatrixTxtFmt "$T/m" \
    -iters 0 -q
samefile "seed 1, where SimPoint crashes: as 0" "$T/m1" "$T/m"
"$S" -k 1 -dim 3 -seedproj 4294967296 -loadFVFile "$T/fv" \
    -saveProjMatrixTxtFmt "$T/m" -iters 0 -q
samefile "a seed of 2^32 wraps to 0" "$T/m1" "$T/m"

# what is a vector
fv '# T:1:1' 'M: 0x1 2' '' ' T:1:1' 'T:1:1' 'T  : 1:3 :2 : 1  ' 'TX2Y1'
same "lines of vectors" "3:w;0.33333333333333331483 2: 1 0 \
;0.33333333333333331483 2: 0.75 0.25 ;0.33333333333333331483 2: 0 1 " \
    "$(vectors | paste -sd\;)"
fv 'T:1:10:2:20:3:30'
same "no blanks between pairs" "1:w;1 3: 0.16666666666666665741 \
0.33333333333333331483 0.5 " "$(vectors -bugs mend | paste -sd\;)"
fv 'T:45:1024 :56:78 314:4324263' T:1:1
vectors >/dev/null
same "a colon is any character: dimension 14" \
    0.9997452 "$(awk 'NR == 2 { printf "%.7f", $(14 + 2) }' "$T/vec")"
fv 'T:1:2.5e1 :2:-.5 :3:+0.5' T:1:1
same "reals" "1 -0.02 0.02" "$(vectors | awk 'NR == 2 { printf "%.6g %.6g %.6g", $3, $4, $5 }')"
fv 'T:1:1 :1:2 :2:1' T:1:1
same "of a repeated dimension the last" "0.5 0.25" \
    "$(vectors | awk 'NR == 2 { print $3, $4 }')"
same "is told" 1 "$(grep -c 'fv:1: a block comes twice' "$T/err")"
same "or, mended, the sum" "0.75 0.25" \
    "$(vectors -bugs mend | awk 'NR == 2 { print $3, $4 }')"
printf 'T:1:1\r\nT:2:1\r\n' >"$T/fv"
same "CRLF" "3" "$(vectors | wc -l)"

# silent truncation, with a warning now
fv T:1:1 T:2:1 T T:1:1
same "an empty T ends the file" 3 "$(vectors | wc -l)"
same "and is told" "simpoint: $T/fv:3: a T line without pairs: the file ends \
here, as for SimPoint 3.2 (-bugs mend reads on)" "$(cat "$T/err")"
same "mended: an interval of nothing" "0.25 2: 0 0 " \
    "$(vectors -bugs mend | sed -n 4p)"
printf 'T:1:1\nT:2:1\nT:2:1' >"$T/fv"
same "a last line without newline is dropped" 3 "$(vectors -bugs keep | wc -l)"
same "and is told" 1 "$(grep -c 'fv:3: the last line has no newline' "$T/err")"
same "mended: read" 4 "$(vectors -bugs mend | wc -l)"
fv 'T:1:1 :2:x :3:1' 'T:1:1 :2:1'
same "a bad token ends the line" "1 0" \
    "$(vectors | awk 'NR == 2 { print $3, $4 }')"
same "and is told" 1 "$(grep -c 'fv:1: the line is read as far as 1 pairs' \
    "$T/err")"
status 2 "mended: refused" "$S" -k 1 -bugs mend -loadFVFile "$T/fv"
same "with its place" "simpoint: $T/fv:1: no pair \":block:value\" at column 6" \
    "$(cat "$T/err")"

# a line of 2 MB; standard input; gzip
awk 'BEGIN { printf "T"; for (i = 1; i <= 150000; i++)
	printf ":%d:%d ", i, i; print ""; print "T:1:1" }' >"$T/long"
check "no line limit" "$S" -k 1 -iters 0 -loadFVFile "$T/long" \
    -saveVectorsTxtFmt "$T/a" -q
gzip -k "$T/long"
check "gzip" "$S" -k 1 -iters 0 -loadFVFile "$T/long.gz" \
    -saveVectorsTxtFmt "$T/b" -q
samefile "the same" "$T/a" "$T/b"
check "gzip as SimPoint is told" "$S" -k 1 -iters 0 -inputVectorsGzipped \
    -loadFVFile "$T/long.gz" -saveVectorsTxtFmt "$T/b" -q
cat "$T/long.gz" | "$S" -k 1 -iters 0 -saveVectorsTxtFmt "$T/b" -q
samefile "gzip from a pipe" "$T/a" "$T/b"

# power-of-two bias: 8 intervals A B A B ...
fv T:1:1 T:2:1 T:1:1 T:2:1 T:1:1 T:2:1 T:1:1 T:2:1
check "A B A B" "$S" -maxK 2 -loadFVFile "$T/fv" -saveSimpoints "$T/p"
same "samp: one phase" 1 "$(wc -l <"$T/p")"
same "with a warning" "simpoint: 8 intervals, a multiple of 8: -initkm samp \
prefers some of them as first centres (-initkm uniform does not)" \
    "$(cat "$T/err")"
fv T:1:99:3:1 T:2:99:3:1 T:1:98:3:2 T:2:98:3:2 T:1:97:3:3 T:2:97:3:3 \
    T:1:96:3:4 T:2:96:3:4
check "8 intervals, 20 centres" "$S" -k 20 -numInitSeeds 1 -iters 0 -q \
    -loadFVFile "$T/fv" -saveInitCtrs "$T/c"
same "samp: 19 are the first interval" 19 \
    "$(sed 1d "$T/c" | cut -d: -f2 | sort | uniq -c | awk '{ print $1 }' |
	sort -n | tail -n 1)"
check "8 intervals, 8 fair centres" "$S" -k 8 -numInitSeeds 1 -iters 1 -q \
    -initkm uniform -loadFVFile "$T/fv" -saveInitCtrs "$T/c" -bugs mend
same "uniform: all differ" 8 "$(sed 1d "$T/c" | cut -d: -f2 | sort -u | wc -l)"
for how in uniform kpp ff; do
	check "A B A B, $how" "$S" -k 2 -initkm $how -loadFVFile "$T/fv" \
	    -saveSimpoints "$T/p"
	same "$how: two phases" 2 "$(wc -l <"$T/p")"
	same "no warning" "" "$(cat "$T/err")"
done

# iterations: the limit gives back the centres before
printf '%s\n' 4 '1: 0' '1: 1' '1: 2' '1: 9' >"$T/v"
printf '%s\n' 2 '1: 0' '1: 1' >"$T/i"
for i in 0:2,0,1 1:2,0,1 2:2,0,4 3:2,1,9 4:2,1,9 off:2,1,9; do
	check "iters ${i%%:*}" "$S" -loadVectorsTxtFmt "$T/v" -fixedLength on \
	    -loadInitCtrs "$T/i" -iters "${i%%:*}" -saveFinalCtrs "$T/c" -q
	same "centres" "${i#*:}" "$(awk -F'[: ]' 'NR == 1 { n = $1; next }
	    { a = a "," $4 } END { print n a }' "$T/c")"
done
check "iters 1, mended" "$S" -loadVectorsTxtFmt "$T/v" -fixedLength on \
    -loadInitCtrs "$T/i" -iters 1 -bugs mend -saveFinalCtrs "$T/c" -q
same "centres of the first update" "0,4" \
    "$(awk -F'[: ]' 'NR > 1 { print $4 }' "$T/c" | paste -sd,)"

# an empty cluster goes to the origin, or mended to the worst placed vector
printf '%s\n' 4 '1: 1' '1: 1.5' '1: 2' '1: 9' >"$T/v"
printf '%s\n' 2 '1: 1' '1: 1' >"$T/i"
check "empty" "$S" -loadVectorsTxtFmt "$T/v" -fixedLength on \
    -loadInitCtrs "$T/i" -iters 2 -saveFinalCtrs "$T/c" -q
same "is told, as is the end of iterations" \
    "simpoint: 1 of 2 clusters are empty, their centres at the origin, as for \
SimPoint 3.2 (-bugs mend moves them)
simpoint: 2 iterations were not enough: the centres are those before the last, \
as for SimPoint 3.2 (-bugs mend takes the last)" "$(cat "$T/err")"
same "empty: the origin" "1 1: 3.375 ,0 1: 0 " "$(sed 1d "$T/c" | paste -sd,)"
check "empty, mended" "$S" -loadVectorsTxtFmt "$T/v" -fixedLength on \
    -loadInitCtrs "$T/i" -bugs mend -saveFinalCtrs "$T/c" -q
same "nothing to tell" "" "$(cat "$T/err")"
same "empty: mended" "0.75 1: 1.5 ,0.25 1: 9 " \
    "$(sed 1d "$T/c" | paste -sd,)"

# labels for first centres: any words, numbered as they come
printf '%s\n' x y y x >"$T/lab"
check "first labels" "$S" -loadVectorsTxtFmt "$T/v" -fixedLength on \
    -loadInitLabels "$T/lab" -iters 0 -saveInitCtrs "$T/c" -q
same "their means" "5,1.75" \
    "$(awk -F'[: ]' 'NR > 1 { print $4 }' "$T/c" | paste -sd,)"

# weights: 6 digits, shares of what is listed; the largest of them
printf '%s\n' 6 '1: 1' '1: 1.5' '1: 1.5' '1: 5' '1: 5.5' '1: 9' >"$T/v"
printf '%s\n' 4 '1: 1' '1: 20' '1: 5' '1: 9' >"$T/i"
check "coverage" "$S" -loadVectorsTxtFmt "$T/v" -fixedLength on -iters 0 \
    -loadInitCtrs "$T/i" -saveSimpoints "$T/p" -saveSimpointWeights "$T/w" \
    -coveragePct .6 -q -saveLabels "$T/l"
same "a gap in the numbers" "0 0,3 2,5 3" "$(paste -sd, "$T/p")"
same "weights" "0.5 0,0.333333 2,0.166667 3" "$(paste -sd, "$T/w")"
same "of the largest" "0.6 0,0.4 2" "$(paste -sd, "$T/w.lpt0.6")"
same "their simpoints" "0 0,3 2" "$(paste -sd, "$T/p.lpt0.6")"
check "coverage of nothing" "$S" -loadVectorsTxtFmt "$T/v" -fixedLength on \
    -loadInitCtrs "$T/i" -saveSimpoints "$T/p" -coveragePct 0 -q
same "gives an empty file" 0 "$(wc -c <"$T/p.lpt0")"

# lengths as weights
fv 'T:1:30' 'T:1:10 :2:20' 'T:2:60'
check "lengths" "$S" -k 1 -fixedLength off -loadFVFile "$T/fv" -q \
    -saveVectorWeights "$T/w"
same "are weights" "0.25,0.25,0.5" "$(paste -sd, "$T/w")"
printf '1 2\n1\n' >"$T/given"
check "given weights win over -fixedLength on" "$S" -k 1 -fixedLength on -q \
    -loadFVFile "$T/fv" -loadVectorWeights "$T/given" -saveVectorWeights "$T/w"
same "shares of their sum" "0.25,0.5,0.25" "$(paste -sd, "$T/w")"

# nothing to explain
fv T:1:1 T:1:1 T:1:1
status 2 "all alike: no choice" "$S" -maxK 2 -dim noProject \
    -loadFVFile "$T/fv" -saveSimpoints "$T/none"
[ ! -e "$T/none" ]
ok "and no file" $?
check "all alike, mended" "$S" -maxK 2 -dim noProject -bugs mend \
    -loadFVFile "$T/fv" -saveSimpoints "$T/p"
same "one phase" 1 "$(wc -l <"$T/p")"

# law: mended, each interval's phase is listed, with its interval, and the
# weights are the phases' shares; intervals are often alike
for seed in $(seq 150); do
	awk -v seed="$seed" 'BEGIN {
		srand(seed)
		kinds = 1 + int(5 * rand())
		for (i = 0; i < kinds; i++)
			for (b = 1; b < 9; b++)
				if (b == 1 || rand() < .5)
					kind[i] = kind[i] " :" b ":" \
					    1 + int(99 * rand())
		n = 1 + int(30 * rand())
		while (n-- > 0)
			print "T" kind[int(kinds * rand())]
	}' >"$T/fv"
	dim=$((seed % 3 == 0)) iters=$((seed % 5))
	[ $dim = 0 ] && dim=15 || dim=noProject
	[ $iters -gt 2 ] && iters=100
	"$S" -q -bugs mend -k $((1 + seed % 12)) -loadFVFile "$T/fv" \
	    -dim $dim -iters $iters -saveSimpoints "$T/p" \
	    -saveSimpointWeights "$T/w" -saveLabels "$T/l" || echo "$seed: failed"
	awk -v seed="$seed" '
	FILENAME ~ /p$/ && $1 >= 0 { phase[$2] = $1 }
	FILENAME ~ /w$/ { weight[$2] = $1; sum += $1 }
	FILENAME ~ /l$/ { n[$1]++; all++ }
	END {
		bad = sum < .99999 || sum > 1.00001
		for (c in n) {
			d = weight[c] - n[c] / all
			bad += !(c in phase) || d < -1e-5 || d > 1e-5
		}
		if (bad)
			print seed ": " bad
	}' "$T/p" "$T/w" "$T/l"
done >"$T/bad"
same "mended: phases and weights are those of the labels" "" "$(cat "$T/bad")"

done_testing
