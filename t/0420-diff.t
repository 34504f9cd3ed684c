#!/bin/sh
# diff: text, profile, JSON, substitutions, limits, statuses

. t/lib.sh

D=$B/diff M=$B/merge C=$TB/cost
cd "$T" || exit 99

cat >old <<'EOF'
cmd: prog 1
events: Ir Dr
fl=/old/a.c
fn=main
1 1000 10
2 5000 50
fn=gone
9 300 3
fl=/old/b.c
fn=same
4 700 7
summary: 7000 70
EOF
cat >new <<'EOF'
cmd: prog 2
events: Dr Ir
fl=/old/a.c
fn=main
1 12 1200
2 40 4900
fl=/old/b.c
fn=same
4 7 700
fn=fresh
5 0 500
summary: 59 7300
EOF
status 0 "the same: status 0" "$D" old old
same "the same: silent" "" "$(cat out err)"
status 1 "differ: status 1" "$D" old new
cat >want <<'EOF'
--------------------------------------------------------------------------------
-- Difference
--------------------------------------------------------------------------------
Old:     old
Command: prog 1
New:     new
Command: prog 2

Event   old   new change
Ir    7,000 7,300   +300 (+4.3%)
Dr       70    59    -11 (-15.7%)

--------------------------------------------------------------------------------
-- Functions
--------------------------------------------------------------------------------
Ir__________ Dr_________  file:function

+500   (new)  0           /old/b.c:fresh
-300  (gone) -3   (gone)  /old/a.c:gone
+100 (+1.7%) -8 (-13.3%)  /old/a.c:main

--------------------------------------------------------------------------------
-- Lines
--------------------------------------------------------------------------------
Ir___________ Dr__________  file:line

+500    (new)   0           /old/b.c:5
-300   (gone)  -3   (gone)  /old/a.c:9
+200 (+20.0%)  +2 (+20.0%)  /old/a.c:1
-100  (-2.0%) -10 (-20.0%)  /old/a.c:2

EOF
samefile "the text" want out
status 1 "--by, --sort, --show, --threshold" "$D" --by=function --sort=Dr --show=Dr \
    --threshold=5 old new
same "--by, --sort, --show, --threshold: rows" \
    "-8 (-13.3%) /old/a.c:main 2 more changed by less than 5% of all Dr" \
    "$(sed -n '/file:fun/,$p' out | sed 1d | xargs)"

# Ir is the same: changes of the next event are what there is to show
printf '%s\n' 'events: Ir D1mr' fl=a.c fn=f '1 100 1000' fn=g '9 50 1000' \
    'summary: 150 2000' >first
printf '%s\n' 'events: Ir D1mr' fl=a.c fn=f '1 100 1001' fn=g '9 50 3000' \
    'summary: 150 4001' >second
status 1 "Ir is the same" "$D" --by=function first second
same "Ir is the same: the next event's changes" \
    "Ir D1mr file:function 0 +2000 (+200.0%) a.c:g \
1 more changed by less than 0.1% of all D1mr" \
    "$(sed -n '/file:function/,$p' out | tr -d ,_ | xargs)"

# profile
status 1 "as a profile" "$D" -p old new
cat >want <<'EOF'
desc: Files compared:   old; new
cmd: prog 1; prog 2
events: Ir Dr
fl=/old/a.c
fn=gone
9 -300 -3
fn=main
1 200 2
2 -100 -10
fl=/old/b.c
fn=fresh
5 500 0
summary: 300 -11
EOF
samefile "as a profile: records" want out
cp out change
check "annotate reads it" "$B/annotate" --no-annotate change
same "annotate: totals" "300 (100.0%) -11 (100.0%)  PROGRAM TOTALS" "$(grep TOTALS out)"
check "merge reads it" "$M" old change
"$M" out >sum
"$M" new | sed 's/^cmd: .*/cmd: prog 1/' >want
"$M" sum | sed 1d >got	# the events of the two are in different orders
same "old and the change make new" "$("$C" sum new | sed -n 's/^summary: \([0-9]*\) \([0-9]*\)/\2 \1/p')" \
    "$(sed -n 's/^summary: //p' got)"
check "old and the change make new: no difference" "$D" -q sum new

# statuses and limits
status 1 "-q" "$D" -q old new
same "-q: silent" "" "$(cat out err)"
status 0 "limit kept" "$D" -q --limit=Ir=300 old new
status 1 "limit exceeded" "$D" -q --limit=Ir=299 old new
status 0 "limit in percent kept" "$D" -q --limit=Ir=4.3% old new
status 1 "limit in percent exceeded" "$D" -q --limit=Ir=4.2% old new
status 0 "less is never beyond" "$D" -q --limit=Dr=0 old new
status 1 "one of two exceeded" "$D" --limit=Dr=0 --limit=Ir=4% old new
same "one of two exceeded: said" "Limit Dr=0: kept Limit Ir=4%: exceeded" \
    "$(grep ^Limit out | xargs)"
status 2 "limit of no event" "$D" --limit=Xx=1 old new
same "limit of no event: message" \
    "diff: --limit: event Xx is not in the profiles" "$(cat err)"
for bad in Ir Ir= =1 Ir=x Ir=1%% Ir=-1; do
	status 2 "bad limit $bad" "$D" --limit=$bad old new
done
for bad in Ir: Ir:main Ir:=1 :main=1 Ir:main= Ir:main=x; do
	status 2 "bad limit $bad" "$D" --limit=$bad old new
done

# limits of functions
status 0 "limit of a function kept" "$D" -q --limit=Ir:main=100 old new
status 1 "limit of a function exceeded" "$D" -q --limit=Ir:main=99 old new
status 0 "in percent kept" "$D" -q --limit=Ir:main=1.7% old new
status 1 "in percent exceeded" "$D" -q --limit=Ir:main=1.6% old new
status 0 "less is never beyond" "$D" -q --limit=Dr:main=0 --limit='Ir:*=500' \
    old new
status 1 "a new function exceeds any percentage" "$D" -q \
    --limit='Ir:fre?h=100%' old new
status 1 "each function of a pattern by itself" "$D" --by=function \
    --limit='Ir:*=50' --limit='Ir:*=600' old new
same "each function of a pattern by itself: said" \
    "Limit Ir:*=50: exceeded +100 (+1.7%) /old/a.c:main +500 (new) \
/old/b.c:fresh Limit Ir:*=600: kept" \
    "$(sed -n '/^Limit/,/^$/p' out | xargs)"
same "each function of a pattern by itself: the list as ever" \
    "+500 (new) 0 /old/b.c:fresh -300 (gone) -3 (gone) /old/a.c:gone \
+100 (+1.7%) -8 (-13.3%) /old/a.c:main" "$(sed -n '/file:fun/,$p' out |
    sed 1d | xargs)"
status 2 "a limit of no function" "$D" --by=function --limit=Ir:nosuch=1 \
    --limit=Ir:main=1 old new
same "a limit of no function: told" \
    "diff: --limit=Ir:nosuch=1: neither profile has such a function" \
    "$(cat err)"
same "a limit of no function: the text all the same" \
    "Limit Ir:nosuch=1: no function Limit Ir:main=1: exceeded" \
    "$(grep ^Limit out | xargs)"
check "a limit of no function: all of it" grep -q 'a.c:main$' out
status 2 "a limit of a function that is gone" "$D" -q --limit='Ir:gon?=1%' \
    old new
same "a limit of a function that is gone: told" \
    "diff: --limit=Ir:gon?=1%: only the old profile has such a function" \
    "$(cat err)"
status 0 "of two functions of a pattern one is gone" "$D" -q \
    --limit='Dr:*n*=0' old new
status 1 "the profile with a limit of functions" "$D" -p --limit=Ir:main=1 \
    old new
samefile "the profile with a limit of functions: as without" change out
for v in 100 103; do
	printf '%s\n' 'events: Ir' 'fl=a.cc' 'fn=ns::operator==(ns::x, int)' \
	    "1 $v" "summary: $v" >names.$v
done
status 0 "names with :: and ==" "$D" -q \
    --limit='Ir:ns::operator==(ns::x, int)=3' names.100 names.103
same "names with :: and ==: found" "" "$(cat err)"
status 1 "names with :: and ==: judged" "$D" -q \
    --limit='Ir:ns::operator==*=2%' names.100 names.103

# derived events
printf '%s\n' 'events: Ir Dr' 'event: CEst = Ir + 10 Dr : cycles' fl=a.c fn=f \
    '1 100 1' fn=g '9 100 1' 'summary: 200 2' >derived
printf '%s\n' 'events: Dr Ir' 'event: Two = 2 Ir + 20 Dr' 'event: Twice=2*Ir' fl=a.c \
    fn=f '1 3 100' fn=g '9 1 110' 'summary: 4 210' >derived2
status 1 "derived events" "$D" --by=function --threshold=0 derived \
    derived2
same "derived events: the totals" "CEst 220 250 +30 (+13.6%) \
Two 440 500 +60 (+13.6%) Twice 400 420 +20 (+5.0%)" \
    "$(sed -n '/^CEst /,/^$/p' out | xargs)"
same "derived events: a function" \
    "0 +2 (+200.0%) +20 (+18.2%) +40 (+18.2%) 0 a.c:f" \
    "$(grep 'a.c:f$' out | xargs)"
same "derived events: nothing said" "" "$(cat err)"
status 1 "derived events: limits" "$D" --limit=CEst=30 --limit=CEst:g=9 \
    --limit=Two=13% --limit=Two:f=40 derived derived2
same "derived events: which are exceeded" "kept exceeded exceeded kept" \
    "$(sed -n 's/^Limit.*: //p' out | xargs)"
status 1 "derived events: --sort, --show" "$D" --by=function --sort=CEst \
    --show=CEst derived derived2
same "derived events: the order" "+20 (+18.2%) a.c:f +10 (+9.1%) a.c:g" \
    "$(sed -n '/file:fun/,$p' out | sed 1d | xargs)"
sed 's/10 Dr/20 Dr/' derived >derived3
status 0 "derived events: another definition" "$D" derived derived3
same "derived events: is told" \
    "diff: derived3: event CEst is Ir + 20 Dr, taken as Ir + 10 Dr" "$(cat err)"
{ echo '# callgrind format'; sed 's/summary/totals/' derived; } >derived4
sed 's/100 1$/120 1/; s/200 2/240 2/' derived4 >derived5
status 1 "derived events: the profile" "$D" -p derived4 derived5
same "derived events: keeps the definition" \
    "event: CEst = Ir + 10 Dr : cycles events: Ir Dr summary: 40 0" \
    "$(grep -E '^event|^summary' out | xargs)"

# JSON
status 1 "JSON" "$D" --json --threshold=0 --limit=Ir=1% old new
get() {
	perl -MJSON::PP -e 'local $/; open F, "out"; my $j = decode_json(<F>);
	    print eval $ARGV[0]' "$1"
}
same "JSON: schema" quern/diff/1 "$(get '$j->{schema}')"
same "JSON: total" "7000 7300 300" \
    "$(get 'join " ", @{$j->{total}{Ir}}{qw(old new change)}')"
same "JSON: functions" "fresh gone main" \
    "$(get 'join " ", map { $_->{function}{name} } @{$j->{functions}}')"
same "JSON: a line" "/old/a.c:2 -10" \
    "$(get '"$j->{lines}[3]{file}:$j->{lines}[3]{line} $j->{lines}[3]{events}{Dr}{change}"')"
same "JSON: limit" "Ir=1% 1" "$(get '"$j->{limits}[0]{limit} " . ($j->{limits}[0]{exceeded} ? 1 : 0)')"
"$D" --json --threshold=0 --limit=Ir=1% old new >alone
"$D" --threshold=0 --limit=Ir=1% old new >plain
status 1 "JSON beside the text" \
    "$D" --json=beside --threshold=0 --limit=Ir=1% old new
check "JSON beside the text: the text" cmp "$T/out" plain
check "JSON beside the text: the JSON" cmp alone beside
printf 'events: I\351\nfn=f\n1 2\n' >odd1
printf 'events: I\351\nfn=f\n1 3\n' >odd2
status 1 "JSON: an event whose name is not UTF-8" "$D" --json odd1 odd2
same "is read as Latin-1" 3 "$(grep -o '"Ié":{"old":2' "$T/out" | wc -l)"
status 2 "JSON beside the text: no folder" "$D" --json=no/file old new
status 1 "JSON: limit of functions" "$D" --json --limit='Ir:m*=1' old new
same "JSON: limit of functions: which" "main 100" \
    "$(get '"$j->{limits}[0]{functions}[0]{function}{name} " .
    $j->{limits}[0]{functions}[0]{change}')"
same "JSON: limit of functions: found" 1 \
    "$(get '$j->{limits}[0]{found} ? 1 : 0')"
same "JSON: one line" 1 "$(wc -l <out)"

# names
sed 's|/old/|/new/src/|; s/^fn=\(.*\)/fn=\1_v2/' old >moved
sed 's/^fn=\(.*\)/fn=\1_v1/' old >stays
status 1 "names that differ" "$D" -q stays moved
check "--mod-filename, --mod-funcname" "$D" \
    --mod-filename='s#^/(old|new/src)/#$1:#; s{^(new/|o)?(\w+):}{/x/}' \
    --mod-funcname='s/_V\d+$//i' stays moved
modded() { # EXPRESSION NAME: what becomes of the name
	printf 'cmd: x\nevents: Ir\nfl=a\nfn=%s\n1 5\nsummary: 5\n' "$2" >m1
	printf 'cmd: x\nevents: Ir\nfl=a\nfn=other\n1 5\nsummary: 5\n' >m2
	"$D" --json --mod-funcname="$1" m1 m2 >out
	get '(grep { $_->{events}{Ir}{old} } @{$j->{functions}})[0]{function}{name}'
}
same 's/// once' "bbana" "$(modded 's/a/b/' baana | sed s/^ba/bb/)"
same 's///g' "bbnb" "$(modded 's/a/b/g' bana)"
same '$1 and \1' "ab-ba" "$(modded 's/(a)(b)/$1\2-${2}$1/' ab)"
same '$&' "[ab]c" "$(modded 's/ab/[$&]/' abc)"
same 'delimiters' "a/b" "$(modded 's,-,/,' a-b)"
same 'escaped delimiter' "a/b" "$(modded 's/-/\//' a-b)"
same 'brackets' "f()" "$(modded 's{<.*>}(())' 'f<int>()' | sed 's/()()/()/')"
same '\U' "FOObar" "$(modded 's/^(foo)/\U$1\E/' foobar)"
same 'flag x' "ab" "$(modded 's/ ( c ) //x' acb)"
same 'a lone $' 'a$' "$(modded 's/b/$/' ab)"
for bad in 'x/a/b/' 's/a/b' 's/a/b/e' 's/(/b/' 's/a/b/ junk' '' 's/a/${/'; do
	status 2 "bad substitution $bad" "$D" --mod-funcname="$bad" old new
done

# calls
cat >c1 <<'EOF'
# callgrind format
events: Ir
fl=a.c
fn=main
cfn=f
calls=2 5
1 100
5 10
totals: 10
EOF
sed 's/calls=2/calls=3/; s/^1 100/1 150/' c1 >c2
status 1 "calls" "$D" --by=call c1 c2
same "calls: change" "+50 (+50.0%) a.c:main -> a.c:f, calls +1 (+50.0%)" \
    "$(sed -n '/caller/,$p' out | sed 1d | xargs)"
sed 's|^fl=a.c|ob=/build/1/prog\n&|' c1 >o1
sed 's|^fl=a.c|ob=/build/2/prog\n&|' c1 >o2
status 1 "other object files" "$D" -q o1 o2
same "other object files: told" "diff: 1 function differs only in the object: \
try --mod-objname='s|^/build/1/prog$|/build/2/prog|'" "$(cat err)"
check "--mod-objname" "$D" --mod-objname='s|/build/\d/||' o1 o2
same "--mod-objname: nothing" "" "$(cat out err)"
of_object() { # OBJECT: five functions of it, one of libc
	printf 'events: Ir\nob=%s\nfl=a.c\n' "$1"
	printf 'fn=%s\n1 5\n' a b c d e
	printf 'ob=/lib/libc.so\nfl=a.c\nfn=puts\n1 7\n'
	echo 'totals: 32'
}
equal() { # OLD NEW: what the option told of makes of them
	of_object "$1" >o1
	of_object "$2" >o2
	"$D" -q o1 o2 2>err
	option=$(sed -n "s/^diff: 5 functions differ only in the object: try \
\(--mod-objname=\)'\(.*\)'$/\1\2/p" err)
	"$D" "$option" o1 o2 >out 2>&1
	same "$1, $2: are made equal" "0 " "$? $(cat out)"
}
equal /x/hot2 /x/hot3
same "in few words" "--mod-objname=s|/hot2\$|/hot3|" "$option"
equal '/x/a.b+(1)' /x/a.b+2
equal /x/prog /x/new-prog
equal prog new-prog
equal /x/prog /y/x/prog
of_object '/x/a|b' >o1
status 1 "an odd name" "$D" -q o1 o2
same "leaves the expression open" \
    "diff: 5 functions differ only in the object: see --mod-objname" "$(cat err)"
of_object /lib/libc.so >o2
status 1 "functions that went to an object of both" "$D" -q o1 o2
same "are nothing to tell" "" "$(cat err)"
status 1 "only the number of calls differs" sh -c \
    'sed "s/calls=2/calls=3/" c1 >c3; "$0" c1 c3' "$D"

# parts whose events have another order
cat >ordered <<'EOF'
# callgrind format
events: Ir Dr
fl=a.c
fn=f
1 10 1
totals: 10 1
EOF
sed '1d; s/Ir Dr/Dr Ir/; s/10 1$/2 20/' ordered | cat ordered - >parts
status 1 "parts of another order" "$D" -p ordered parts
same "parts of another order: totals" "summary: 20 2" "$(grep ^summary out)"
status 0 "parts of another order: a limit" "$D" -q --limit=Dr=2 ordered parts

# trouble
sed 's/ Dr$/ Dw/' old >other
status 2 "other events" "$D" old other
same "other events: message" "diff: other:3: the events are not those of old" "$(cat err)"
sed '$d' old >cut
status 2 "a cut file" "$D" old cut
same "a cut file: message" "diff: cut:11: truncated: no summary: line" "$(cat err)"
status 2 "one file" "$D" old
status 2 "standard input twice" "$D" - -
status 2 "no room" sh -c '"$0" old new >/dev/full' "$D"

# the judge's sums by function
if command -v cg_diff >/dev/null && command -v valgrind >/dev/null; then
	valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=v1 true 2>/dev/null
	valgrind -q --tool=cachegrind --cache-sim=yes --cachegrind-out-file=v2 cat old >/dev/null 2>&1
	cg_diff --mod-filename='s/.*\///' v1 v2 >judge
	"$D" -p --mod-filename='s/.*\///' v1 v2 >ours
	by_fn() { # FILE: file:function and the first counts
		"$C" dump "$1" | sed -n 's/^self fn\[|\([^]]*\)\] at\[[^]]*\] \([-0-9]*\) .*/\1 \2/p' |
		    awk '{ n = $NF; $NF = ""; s[$0] += n } END { for (f in s) if (s[f]) print f s[f] }' |
		    sort
	}
	by_fn judge >want
	by_fn ours >got
	check "there is something to compare" test -s want
	samefile "cg_diff's sums by function" want got
	"$M" v1 >m1 && "$M" v2 >m2
	cg_diff --mod-filename='s/.*\///' m1 m2 >judge2
	by_fn judge2 >got
	samefile "cg_diff has the same of merge's files" want got
	same "and its summary" "$(grep ^summary judge | tr -d '\r' | xargs)" \
	    "$(grep ^summary ours | xargs)"
else
	skip "cg_diff" "no valgrind here"
fi

# other caches: one line, and with --strict trouble
printf 'desc: D1 cache:         1024 B, x\ndesc: CPU:              v3\n%s\n' \
    'cmd: x' >m1
printf '%s\n' 'events: Ir' 'fl=a' 'fn=f' '1 5' 'summary: 5' >>m1
sed '1s/1024/2048/' m1 >m2
check "other caches" "$D" m1 m2
same "other caches: said" "diff: m2: costs of another model: D1 cache: 2048 B, x\
 (m1: 1024 B, x)" "$(cat err)"
status 2 "other caches, --strict" "$D" --strict -q m1 m2
check "other caches, --strict: said" grep -q '^diff: m2: costs of another' err
check "the same caches, --strict" "$D" --strict m1 m1
same "the same caches: nothing said" "" "$(cat err)"
sed '5,$s/5/7/' m2 >m3
status 1 "a difference" "$D" -p m1 m3
same "a difference: of which caches" "desc: Files compared:   m1; m3
desc: D1 cache:         several
desc: CPU:              v3" "$(grep ^desc out)"

# memory follows what is told, not each place that changed
if [ -z "$SAN" ]; then
	for n in 1 2; do
		awk -v n=$n 'BEGIN {
			print "desc: x\ncmd: x\nevents: Ir Dr Dw\nfl=f.c"
			for (f = 0; f < 3000; f++) {
				print "fn=f" f
				for (l = 1; l <= 100; l++)
					print 100 * f + l, n * l, l % 7, n
			}
			print "summary:", n * 15150000, 891000, n * 300000
		}' >"$T/large.$n"
	done
	small() { ulimit -v 150000 && "$B/diff" "$T/large.1" "$T/large.2"; }
	status 1 "300,000 lines that changed, in 150 MB" small
	same "are counted" "300000 more changed by less than 0.1% of all Ir" \
	    "$(sed -n '/^-- Lines/,$s/.*more changed/300000 more changed/p' "$T/out")"
else
	skip "300,000 lines that changed" "sanitizers need memory"
fi

done_testing
