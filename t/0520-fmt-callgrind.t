#!/bin/sh
# fmt-callgrind: costs and calls by file and line, a file for all its readers

. t/lib.sh

F=$B/fmt-callgrind
TOP=$PWD
cd "$T" || exit 99
cp "$TOP/t/src/tree.c" "$TOP/t/src/tree.h" .
${CC:-gcc} -O2 -g -o prog tree.c || exit 99
"$B/trace" -e blocks --cpu=v3 -o ev ./prog 300 >/dev/null || exit 99
"$B/callgraph" -o costs ev || exit 99
total=$(sed -n 's/^totals: //p' costs)

# --- the default
check "costs with calls" "$F" -o portable costs
if command -v python3 >/dev/null; then
	check "are what all readers take" python3 "$TOP/t/models/readers.py" \
	    portable
	same "with the same sum" "Ir $total" "$(head -n 1 out)"
	sed 's/^/# /' out | sed 1d
else
	skip "are what all readers take" "no python3"
	skip "with the same sum" "no python3"
fi
line=$(grep -n 'insert(&root' tree.c | cut -d: -f1)
check "main calls insert 300 times, there" awk -v line="$line" '
/^fn=/ { main = /\) main$/ }
/^calls=300 / && main { getline; found = $1 == line }
END { exit !found }' portable
same "its file is known" "fl=($(sed -n 's/^fl=(\(.*\)) .*tree.c$/\1/p' portable))" \
    "$(grep -B 1 '^fn=(.*) main$' portable | head -n 1 | sed 's/ .*//')"
"$F" portable >again
samefile "its output is its input" portable again
"$B/callgraph" --contexts ev | "$F" >ctx
samefile "contexts are added up" portable ctx
gzip -c costs >costs.gz
check "compressed" "$F" costs.gz
samefile "the same" portable out
stdin() { "$F" - <costs; }
check "standard input" stdin
samefile "the same" portable out
check "names in full" "$F" --compress-strings=no costs
same "without numbers, but where a name looks like one" "(below main)" \
    "$(sed -n 's/.*=([0-9]*) //p' out | sort -u)"
cp out full
"$F" full >out
samefile "are the same" portable out

# --- everything
"$B/callgraph" --collect-jumps=yes ev | "$F" --dump-instr=yes -o rich
check "addresses and jumps" grep -q '^positions: instr line' rich
check "conditional ones: followed of executed" \
    grep -q -E '^jcnd=[0-9]+/[0-9]+ ' rich
check "by difference" grep -q -E '^\+[0-9]+ \* [0-9]+$' rich
same "the same sum" "totals: $total" "$(tail -n 1 rich)"
"$F" rich >out
same "read again, without addresses" "$(grep -v -c zzz portable)" \
    "$(grep -v -c zzz out)"
samefile "it is the default" portable out
jumps() { # how many were executed
	awk '/^positions:/ { p = $0 }
	/^j(ump|cnd)=/ { sub(/^j(ump=|cnd=[0-9]*\/)/, ""); n += $1 }
	END { print p, n }' "$1"
}
"$F" --jumps=yes rich >out
same "jumps alone" "$(jumps rich | sed 's/ instr//')" "$(jumps out)"
same "addresses alone" "0 totals: $total" "$("$F" --dump-instr=yes --jumps=no rich |
    awk '/^j(ump|cnd)=/ { n++ } { l = $0 } END { print n + 0, l }')"
main=$(nm prog | sed -n 's/^0*\([0-9a-f]*\) T main$/0x\1/p')
check "addresses are the object's" grep -q "^$main " rich
"$F" --dump-instr=yes --compress-pos=no costs >out
same "no differences" 0 "$(grep -c -E '^[+*-]| [+*-]' out)"
"$F" --dump-line=no costs >out
same "functions alone" "totals: $total 0" "$(tail -n 1 out) \
$(grep -c '^[1-9]' out)"

# --- lines that are elsewhere
cp -p prog whole && cp -p prog bare
strip -p -g bare && mkdir debug &&
    id=$(readelf -n prog | sed -n 's/.*Build ID: //p') &&
    mkdir -p "debug/.build-id/${id%"${id#??}"}" &&
    objcopy --only-keep-debug prog \
	"debug/.build-id/${id%"${id#??}"}/${id#??}.debug" && mv bare prog
"$F" costs >out
same "no debug information, no lines" 0 "$(grep -c 'tree.c$' out)"
"$F" --extra-debuginfo-path="$T/debug" costs >out
samefile "found in another folder" portable out
mv whole prog

# --- inlined functions
check "inlined functions" "$F" --inline=yes -o inline costs
same "the same sum" "totals: $total" "$(tail -n 1 inline)"
for f in side mix third; do
	check "$f is one" grep -q "^c*fn=([0-9]*) $f\$" inline
done
# third is inlined into mix, and that into main
cat >entered.awk <<'E'
function name(s) {
	if (s ~ /\) /) { id = s; sub(/\).*/, "", id); sub(/^[^)]*\) /, "", s)
		n[id] = s; return s }
	sub(/\).*/, "", s)
	return n[s]
}
/^fn=/ { fn = name(substr($0, 4)) }
/^cfn=/ { cfn = name(substr($0, 5)) }
/^calls=/ { sub(/calls=/, ""); k[fn ">" cfn] += $1; getline
	i[fn ">" cfn] += $2; next }
END { print (k["insert>side"] > 300) " " (k["main>mix"] == 300) " " \
    (k["mix>third"] == 300) " " i["main>insert"] }
E
same "calls of what was inlined" "1 1 1" "$(awk -f entered.awk inline |
    cut -d' ' -f1-3)"
same "the inclusive cost of what was not is as before" \
    "$(awk -f entered.awk portable | cut -d' ' -f4)" \
    "$(awk -f entered.awk inline | cut -d' ' -f4)"

# --- parts
"$B/callgraph" --dump-after=insert -o parts ev
n=$(grep -c ^part: parts)
check "300 calls, 301 parts" test "$n" -eq 301
"$F" parts >out
grep -v ^desc: portable >want
grep -v ^desc: out >got
samefile "added up they are the whole" want got
"$F" --parts=keep parts >out
same "kept" "301 301" "$(grep -c ^part: out) $(grep -c ^totals: out)"
same "with their sum" "$total" "$(awk '/^totals:/ { s += $2 } END { print s }' out)"
mkdir split
"$B/callgraph" --dump-after=main ev | "$F" --parts=split -o split/cg -
same "a file for each" "cg.1 cg.2 " "$(ls split | tr '\n' ' ')"
same "is whole" "$total" "$(awk '/^totals:/ { s += $2 } END { print s }' split/*)"
status 2 "not without -o" "$F" --parts=split parts
mkdir cgnames
"$B/callgraph" --dump-after=main --dump-before=main ev >three
"$F" --parts=callgrind -o cgnames/cg three
same "three parts, the last without a number" "cg cg.1 cg.2" \
    "$(cd cgnames && echo *)"
"$F" --parts=split -o cgnames/s three
samefile "which is the last" cgnames/s.3 cgnames/cg
"$B/callgraph" --dump-before=main --separate-threads=yes ev |
    "$F" --parts=callgrind -o cgnames/t -
same "of a thread" "t-01 t.1-01" "$(cd cgnames && echo t*)"
status 2 "nor these without -o" "$F" --parts=callgrind three
"$B/callgraph" --separate-threads=yes ev | "$F" --parts=split -o split/t -
check "and for threads" test -s split/t.1-01
same "whose numbers even an only part has" t.1-01 "$(cd split && echo t*)"
"$B/callgraph" --separate-threads=yes ev | "$F" >out
samefile "which add up" portable out

# --- what a simulator writes: no functions
"$B/trace" --cpu=v3 ./prog 300 2>/dev/null |
    "$B/cachesim" --I1=32768,8,64 --D1=32768,8,64 --LL=262144,8,64 -o sim
"$F" sim >cg
"$B/fmt-cachegrind" sim >cc
sums() { # own cost of each function
	awk '/^ob=/ { next }
	/^fn=/ { s = substr($0, 4)
		if (s ~ /^\([0-9]+\) /) { id = s; sub(/ .*/, "", id)
			sub(/^[^ ]* /, "", s); n[id] = s }
		else if (s ~ /^\([0-9]+\)$/) s = n[s] }
	/^[0-9]/ { for (i = 2; i <= NF; i++) c[s " " i] += $i }
	END { for (i in c) print i, c[i] }' "$1" | sort
}
sums cg >want
sums cc >got
samefile "functions as fmt-cachegrind finds them" want got

# --- Callgrind's reader, and its files
if command -v callgrind_annotate >/dev/null; then
	check "callgrind_annotate" callgrind_annotate "$T/portable"
	same "has the total" "$total" "$(tr -d , <out |
	    sed -n 's/^ *\([0-9]*\) .*PROGRAM TOTALS.*/\1/p')"
	same "says nothing else" "" "$(cat err)"
	check "and sources" grep -q 'insert(&root' out
	check "inclusive, with callers and callees" callgrind_annotate \
	    --inclusive=yes --tree=both "$T/portable"
	check "has them" grep -q '< .*main (300x)' out
	check "of addresses, too" callgrind_annotate "$T/rich"
	same "the same total" "$total" "$(tr -d , <out |
	    sed -n 's/^ *\([0-9]*\) .*PROGRAM TOTALS.*/\1/p')"
	check "and of inlined functions" callgrind_annotate "$T/inline"
	same "the same again" "$total" "$(tr -d , <out |
	    sed -n 's/^ *\([0-9]*\) .*PROGRAM TOTALS.*/\1/p')"
	valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes \
	    --callgrind-out-file=vg ./prog 300 >out 2>&1
	check "a file of Callgrind's" "$F" --dump-instr=yes -o vg.out vg
	same "has the same sum" "$(grep ^totals vg)" "$(tail -n 1 vg.out)"
	"$F" vg.out --dump-instr=yes >out
	samefile "written and read again" vg.out out
else
	skip "callgrind_annotate" "not here"
fi

# --- -v: sums over all parts
check "-v" "$F" -v -o v costs
same "tells the sum" "$(tail -n 1 v)" \
    "$(sed -n '/^totals/p' err)"
same "and the events" "$(sed -n '/^events/p' v)" "$(sed -n '/^events/p' err)"

# --- calls that were counted by nobody: one, as Callgrind has them
sed '0,/^calls=[0-9]*/s//calls=0/' costs >uncounted
check "a call without a count" "$F" uncounted
same "is one" 0 "$(grep -c '^calls=0' out)"

# --- parts into a pipe, which is no file to be renamed
mkfifo pipe
timeout 20 cat pipe >piped &
check "--parts=callgrind into a pipe" "$F" --parts=callgrind -o pipe costs
wait
check "it is still one" test -p pipe
same "and has had all" 1 "$(grep -c '^totals' piped)"

# --- trouble
sed '/^totals/,$d' costs >cut
status 2 "costs that are cut" "$F" cut
check "are told" grep -q '^fmt-callgrind: cut:[0-9]*: trunc' err
status 2 "costs that are cut, -o" "$F" -o whole cut
same "no totals" 0 "$(grep -c -e ^totals -e ^summary whole)"
status 2 "nothing" "$F" /dev/null
status 2 "not costs" "$F" "$TOP/README"
for o in --parts=some --inline=maybe --compress-pos=x; do
	status 2 "$o" "$F" "$o" costs
done
status 2 "two files" "$F" costs costs

done_testing
