#!/bin/sh
# merge: sums by place, whatever the order; headers; trouble

. t/lib.sh

M=$B/merge C=$TB/cost
cd "$T" || exit 99

cat >a <<'EOF'
desc: I1 cache: 1
desc: run one
cmd: prog a
events: Ir Dr
fl=x.c
fn=f
1 10 1
2 20
fn=g
9 5 5
summary: 35 6
EOF
cat >b <<'EOF'
desc: I1 cache: 1
desc: run two
cmd: prog b
events: Dr Ir
fl=w.c
fn=g
1 1 1
fl=x.c
fn=f
2 2 7
3 0 1
4 0 0
summary: 3 9
EOF
cat >want <<'EOF'
desc: I1 cache: 1
cmd: prog a; prog b
events: Ir Dr
fl=w.c
fn=g
1 1 1
fl=x.c
fn=f
1 10 1
2 27 2
3 1 0
fn=g
9 5 5
summary: 44 9
EOF
check "Cachegrind's files" "$M" a b
samefile "Cachegrind's files: sum" want out
check "in another order" "$M" -o ba b a
samefile "in another order: the same" want ba
same "into a file: nothing on standard output" "" "$(cat out)"
gzip -c a >a.gz
check "gzipped and from standard input" sh -c '"$0" a.gz - <b' "$M"
samefile "gzipped and from standard input: the same" want out
zstd -q a b
check "compressed by zstd" "$M" a.zst b.zst
samefile "compressed by zstd: the same" want out

# Callgrind's: calls, jumps, inlined code, addresses where some have them
cat >c <<'EOF'
# callgrind format
events: Ir
ob=(1) /bin/p
fl=(1) x.c
fn=(1) main
5 10
fi=(2) y.h
7 1
cob=(2) /lib/l
cfi=(3) l.c
cfn=(2) work
calls=2 40
8 100
jcnd=1/3 9
8
totals: 11
EOF
cat >d <<'EOF'
# callgrind format
positions: instr line
events: Ir
ob=(4) /bin/p
fl=(1) x.c
fn=(1) main
0x20 5 3
fi=(2) y.h
0x24 7 1
cob=(2) /lib/l
cfi=(3) l.c
cfn=(2) work
calls=5 0 40
0 8 200
jcnd=2/4 0 9
0 8
totals: 4

part: 2
positions: instr line
events: Ir
fl=(1) x.c
fn=(1) main
0x20 5 4
totals: 4
EOF
check "Callgrind's files" "$M" c d
cat >want <<'EOF'
# callgrind format
version: 1
creator: quern
cmd: 
part: 1
positions: instr line
events: Ir
summary: 19

fl=(1) x.c
fn=(1) main
0x20 5 4

ob=(1) /bin/p
fl=(1)
fn=(1)
0x0 5 10
+32 * 3
fi=(2) y.h
-32 +2 1
+36 * 1
cob=(2) /lib/l
cfi=(3) l.c
cfn=(2) work
calls=7 -36 +33
-36 +1 300
jcnd=3/7 * +1
* *

totals: 19
EOF
samefile "Callgrind's files: sum" want out
sed 's/^events: Ir/events: Dr Ir/; s/^\(5 10\|7 1\|8 100\)/& 3/; s/^totals: 11/& 6/' c >cDr
check "Cachegrind's and Callgrind's" "$M" a cDr
same "Cachegrind's and Callgrind's: sum" "totals: 41 17" "$(tail -n 1 out)"

# the sum is the judge's
if command -v cg_merge >/dev/null && command -v valgrind >/dev/null; then
	valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=v1 true 2>/dev/null
	valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=v2 cat a >/dev/null 2>&1
	cg_merge -o judge v1 v2 >/dev/null 2>&1
	"$M" v1 v2 >ours
	"$M" judge >want
	sed -i /^desc/d want ours && sed -i /^cmd/d want ours
	samefile "the sum of two of Valgrind's files is cg_merge's" want ours
	cg_merge -o again ours.cg ours.cg >/dev/null 2>&1
	"$M" v1 v2 >ours
	check "cg_merge takes our file" cg_merge -o again ours ours
	"$M" ours ours | grep -v ^desc >want
	"$M" again | grep -v ^desc >got
	samefile "and adds it up alike" want got
else
	skip "cg_merge" "no valgrind here"
fi

# other caches, another processor: one line, and with --strict trouble
of_model() { # D1 CPU COUNT
	printf 'desc: D1 cache:         %s\ndesc: CPU:              %s\n' "$1" "$2"
	printf 'cmd: x\nevents: Ir\nfl=a\nfn=f\n1 %s\nsummary: %s\n' "$3" "$3"
}
of_model "1024 B, 64 B, direct-mapped" v3 1 >m1
of_model "2048 B, 64 B, direct-mapped" native 2 >m2
of_model "4096 B, 64 B, direct-mapped" v3 4 >m3
sed 's/ cache: */ cache: /; s/^desc: CPU.*/desc: I1 cache: /' m1 >m4
check "other caches" "$M" -o m123 m1 m2 m3
same "other caches: one line" "merge: m2: costs of another model:\
 D1 cache: 2048 B, 64 B, direct-mapped (m1: 1024 B, 64 B, direct-mapped);\
 CPU: native (m1: v3)" "$(cat err)"
same "other caches: said in the sum" "desc: CPU:              several
desc: D1 cache:         several" "$(grep ^desc m123)"
same "other caches: summed up all the same" "1 7" "$(grep '^[0-9]' m123)"
"$M" m2 m3 2>err >m23
"$M" m23 - <m1 2>err >out
samefile "other caches: in any order" m123 out
same "other caches: the sum is of neither" "merge: stdin: costs of another\
 model: D1 cache: 1024 B, 64 B, direct-mapped (m23: several);\
 CPU: v3 (m23: several)" "$(cat err)"
status 2 "other caches, --strict" "$M" --strict -o no m1 m2
check "other caches, --strict: said, and no sum" \
    sh -c 'grep -q "^merge: m2: costs of another model: D1" err && ! test -e no'
check "the same caches, in other words or not told" "$M" --strict m1 m4 m1
same "the same caches: nothing said" "" "$(cat err)"
same "the same caches: in the sum" "desc: D1 cache:         1024 B, 64 B, direct-mapped" \
    "$(grep ^desc out)"

# trouble
sed 's/Dr$/Dw/' a >e
status 2 "other events" "$M" a e
same "other events: message" "merge: e:5: the events are not those of a" "$(cat err)"
printf 'cmd: x\nevents: Ir\nfl=a\nfn=f\n1 9223372036854775807\nsummary: 9223372036854775807\n' >big
status 2 "a sum beyond 64 bits" "$M" big big
check "a sum beyond 64 bits: message" grep -q 'beyond 64 bits' err
sed '$d' a >cut
status 2 "a cut file" "$M" -o sum a cut
same "a cut file: message" "merge: cut:10: truncated: no summary: line" "$(cat err)"
check "a cut file: no sum" test ! -e sum
status 2 "unknown option" "$M" --nothing
status 2 "no room" sh -c '"$0" a b >/dev/full' "$M"

# side by side, or through the table: the same
for i in 1 2 3; do
	"$C" random $i cachegrind >c$i
	"$M" c$i >s$i
done
for i in 1 2 3; do
	"$C" random $i cachegrind | sed 's/^events: .*/events: Dw Ir Dr/' >t$i
	"$M" t$i >u$i
done
check "canonical files" "$M" s1 s2 s3
cp out want
check "canonical files, one from a pipe" sh -c '"$0" s1 - s3 <s2' "$M"
samefile "canonical files: the same" want out
check "files in disorder" "$M" c1 c2 c3
samefile "files in disorder: the same" want out
check "events in another order" "$M" s1 u2 s3
cp out want
check "events in another order, from a pipe" sh -c '"$0" - u2 s3 <s1' "$M"
samefile "events in another order: the same" want out
check "one file twice" "$M" s1 s1
cp out want
check "one file twice, from a pipe" sh -c '"$0" - s1 <s1' "$M"
samefile "one file twice: the same" want out
sed 's/^summary: [0-9]*/summary: 7/' s2 >wrong
status 2 "a wrong sum" "$M" -o sum s1 wrong
check "a wrong sum: said, and nothing written" sh -c 'grep -q "wrong:.*summary: says" err && ! test -e sum'
sed '$d' s2 >cut
status 2 "a cut canonical file" "$M" s1 cut
printf 'cmd: x\nevents: Ir\nfl=a\nfn=f!\n1 1\nfn=f\\012\n1 2\nsummary: 3\n' >n1
printf 'cmd: x\nevents: Ir\nfl=a\nfn=f\\012\n1 4\nsummary: 4\n' >n2
"$M" n1 - <n2 >want
check "names in order only as they are written" "$M" n1 n2
samefile "names in order only as they are written: the same" want out
same "names in order only as they are written: sums" "1 6 1 1" \
    "$(echo $(grep '^[0-9]' out))"
if [ -z "$SAN" ]; then
	awk 'BEGIN {
		print "cmd: x\nevents: Ir Dr Dw"
		for (i = 100000; i < 150000; i++) {
			print "fl=file" i "\nfn=function" i
			for (j = 1; j < 8; j++)
				print j * 3, i, j, i + j
		}
		n = 7 * (100000 + 149999) * 25000
		printf "summary: %.0f %.0f %.0f\n", n, 28 * 50000, n + 28 * 50000
	}' >long
	(ulimit -v 24000; "$M" long long long >out)
	ok "three files of 8 MB in 24 MB, libraries and all" $?
	same "three files of 8 MB: lines" "$(grep -c '^[0-9]' long)" "$(grep -c '^[0-9]' out)"
fi

# weights: sums are exact, then rounded; the total is that of what is written
cat >w1 <<'EOF'
events: Ir Dr
fl=a
fn=f
1 3 10
2 5 0
cfn=g
calls=7 9
2 1 1
summary: 8 10
EOF
printf '%s\n' 'events: Dr Ir' fl=a fn=f '1 2 1' fn=g '9 0 1' 'summary: 2 2' >w2
check "weights" "$M" --weights=2.5,3 w1 w2
same "weights: records" "1 11 31 2 13 0 calls=18 9 2 3 3 9 3 0 totals: 27 31" \
    "$(grep '^[0-9]\|^calls\|^totals' out | xargs)"
"$M" --weights=1,1 w1 w2 >got
"$M" w1 w2 >want
samefile "weights of 1" want got
"$M" --weights=3 w1 >got
"$M" w1 w1 w1 >want
samefile "a weight of 3 is three files" want got
{ sed '$d' w1; sed '1d; $d' w1; echo 'summary: 16 20'; } >w4
"$M" w4 | "$M" --weights=0.25 - >want
check "a file with lines of the same place" "$M" --weights=0.25 w4
samefile "is added up before it is rounded" want out
same "and not line by line" "totals: 5 5" "$(grep totals out)"
"$M" --weights=1,2 w1 w2 >want
"$M" --weights="1, +2" w1 w2 >got
samefile "a blank before a weight" want got
"$M" --weights=1,0 w1 w2 >got
same "a weight of 0 leaves nothing" "$("$M" w1 | sed -n 's/^totals: //p')" \
    "$(sed -n 's/^totals: //p' got | awk '{ print $1, $2 }')"
"$M" w1 >want
for w in 0.5,0.5 .4,6e-1 0.333333333333333333,0.666666666666666667; do
	check "a file's shares of $w" "$M" --weights=$w w1 w1
	samefile "$w: make the file" want out
done
check "counts that are rounded to nothing" "$M" --weights=0.4,0.4 w2 w2
same "together are something" "fn=(1) f 1 2 1 fl=(1) fn=(2) g 9 0 1 totals: 2 2" \
    "$(sed -n '/^fn/,$p' out | xargs)"
{
	printf '%s\n' 'desc: Files compared: x; y' 'events: Ir Dr' fl=a fn=f \
	    '1 9007199254740993 -5' '2 4611686018427387905 -3' \
	    'summary: 4620693217682128898 -8'
} >large
check "large counts, and negative ones" "$M" --weights=0.25,0.25 large large
same "lose nothing" "1 4503599627370497 -3 2 2305843009213693953 -2" \
    "$(grep '^[0-9]' out | xargs)"
check "by weights of 18 decimals" "$M" \
    --weights=0.999999999999999999,0.000000000000000001,1e-19 large large w1
same "neither" "1 9007199254740993 -5 2 4611686018427387905 -3" \
    "$(grep '^[0-9]' out | head -n 2 | xargs)"
bad_weights() { # WEIGHTS MESSAGE: of two files
	status 2 "--weights=$1" "$M" --weights="$1" w1 w2
	same "--weights=$1: message" "merge: --weights: $2" "$(cat err)"
}
bad_weights '' '1 numbers for 2 files'
bad_weights 1 '1 numbers for 2 files'
bad_weights 1,2,3 '3 numbers for 2 files'
bad_weights 1,x "\`x' is not a number"
bad_weights 1, "\`' is not a number"
bad_weights ,1 "\`' is not a number"
bad_weights 1,nan "\`nan' is not a number"
bad_weights 1,0x1 "\`0x1' is not a number"
bad_weights 1,2x "\`2x' is not a number"
bad_weights 1,-1 "-1 is not within 0 to 1e18"
bad_weights inf,1 "inf is not within 0 to 1e18"
bad_weights 1,1e30 "1e30 is not within 0 to 1e18"
status 2 "a product beyond 64 bits" "$M" --weights=1e18,1 w1 w2

# what was described behind the costs, or tells of an interruption, is counted
late() { # COMMAND LATE...
	printf '%s\n' "# callgrind format" "version: 1" "cmd: $1" "events: Ir" \
	    "fl=a.c" "fn=main" "1 10"
	shift
	printf '# desc: %s\n' "$@"
	echo "totals: 10"
}
late a "some remark" "Trigger: Program termination" \
    "Interrupted:      by signal 2" >l1
late b "some remark" "some remark" >l2
printf '%s\n' "desc: Interrupted:      by signal 2" "desc: all have this" \
    "cmd: c" "events: Ir" "fl=a.c" "fn=main" "1 7" "summary: 7" >l3
"$M" l1 l2 l3 >want
same "late descriptions" "Interrupted:      by signal 2 (in 2 files);\
some remark (in 2 files)" "$(sed -n 's/^desc: //p' want | paste -sd ';')"
"$M" l2 l3 >l23
"$M" l23 l1 >got
samefile "in any order" want got
"$M" l3 l3 l3 >want
same "in files of Cachegrind" "desc: all have this;desc: Interrupted:      by \
signal 2 (in 3 files)" "$(grep ^desc want | paste -sd ';')"
"$M" l3 l3 >l33
"$M" l33 l3 >got
samefile "merged twice" want got

# memory does not follow the number of files
"$C" random 1 instr >r1
if [ -z "$SAN" ]; then
	many=$(seq 300 | sed 's/.*/r1/')
	(ulimit -v 40000; "$M" $many >out)
	ok "300 files in 40 MB" $?
	sum=
	for n in $(sed -n 's/^totals: //p' r1); do
		sum="$sum${sum:+ }$((300 * n))"
	done
	same "300 files: sum" "$sum" "$(sed -n 's/^totals: //p' out)"
else
	skip "300 files in 40 MB" "sanitizers need room"
fi

done_testing
