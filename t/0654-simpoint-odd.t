#!/bin/sh
# simpoint: odd inputs give the files that SimPoint 3.2 writes, as t/models has
# them; what is dropped or divided by 0 is told, once

. t/lib.sh

command -v python3 >/dev/null || skip_all "no python3"
S=$B/simpoint
M=$PWD/t/models/simpoint.py
cd "$T" || exit 99

# files DIR PREFIX SEPARATOR: the arguments that name all files
files() {
	for file in saveSimpoints saveSimpointWeights saveLabels saveInitCtrs \
	    saveFinalCtrs saveVectorsTxtFmt saveVectorWeights; do
		printf '%s ' "$2$file$3$1/$file"
	done
}

# odd TEXT INPUT WARNING OPTION=VALUE...: the input with \n, \r, \0 and so on
odd() {
	text=$1 warning=$3
	printf "$2" >in.bb
	shift 3
	rm -rf a b
	mkdir a b
	args=
	for arg; do
		case $arg in
		saveAll) args="$args -saveAll" ;;
		*) args="$args -${arg%%=*} ${arg#*=}" ;;
		esac
	done
	run "$S" -q -loadFVFile in.bb $args $(files a - ' ')
	timeout -k 5 "$LIMIT" python3 "$M" loadFVFile=in.bb "$@" \
	    $(files b '' =) 2>model.err
	diff -r a b >difference 2>&1 && [ -n "$(ls b)" ] && [ ! -s model.err ]
	ok "$text ($*)" $? ||
	    cat difference model.err | head -n 20 | sed 's/^/# /'
	same "what is told" "$warning" "$(sed -n 's/^simpoint: //
	    /^[0-9]* intervals, a multiple/d; /clusters are empty/d
	    /iterations were not enough/d; s/^in.bb:\([0-9]*\): /\1 /p
	' err | cut -c1-29 | sed 's/ $//')"
}

# seven intervals of two phases, and one of both
A='T:1:50 :2:7 :3:4\nT:1:49 :2:9 :3:1\nT:4:50 :2:3\nT:4:45 :3:4\n'
C='T:1:51 :2:8 :3:3\nT:4:44 :2:2 :3:1\nT:1:25 :4:25\n'
for with in "k=2 dim=3" "maxK=3" "maxK=3 dim=noProject fixedLength=off"; do
	odd "as it should be" "$A$C" '' $with
	odd "comments" "# x\n$A# T:1:1\nM: 0x1 1\n\n T:1:9\n$C# end\n" '' $with
	odd "a comment in a line" "$A${C%\\n} # x\n" \
	    "7 the line is read as far as" $with
	odd "an empty T" "${A}T\n$C" \
	    "5 a T line without pairs: the" $with
	odd "CRLF" "$(printf %s "$A$C" | sed 's/\\n/\\r\\n/g')" '' $with
	odd "no last newline" "$A${C%\\n}" \
	    "7 the last line has no newlin" $with
	odd "reals" "${A}T:1:2.5e1 :2:.5 :3:1.\nT:4:+1E-2 :2:-0.001\n$C" '' $with
	odd "a real that is none" "${A}T:1:2 :4:1e :2:3\n$C" \
	    "5 the line is read as far as" $with
	odd "a real beyond all" "${A}T:1:2 :4:1e400 :2:3\n$C" \
	    "5 the line is read as far as" $with
	odd "a block beyond 2^31" "${A}T:1:2 :2147483648:1\n$C" \
	    "5 the line is read as far as" $with
	odd "a NUL" "${A}T:1:2 \\000:2:1 :3:4\n$C" \
	    "5 the line is read as far as" $with
	odd "no colons, no blanks" "${A}T1 2 3 4 5 6\nT:1:2:2:5\n$C" \
	    "5 the line is read as far as" $with
	odd "block 0, without a value" "${A}T:1:2 :0\n$C" \
	    "5 the line is read as far as" $with
	odd "a sum of 0" "${A}T:1:0 :2:0\n$C" \
	    "5 the values' sum is 0, by wh" $with
	odd "two sums of 0" "${A}T:1:3 :2:-3\nT:1:0\n$C" \
	    "5 the values' sum is 0, by wh" $with
	odd "an infinite sum" "${A}T:1:1e308 :2:1e308\n$C" \
	    "5 the values' sum is inf, by" $with
	odd "one of all weight" "${A}T:1:1e30\n$C" '' $with
done
odd "one interval" 'T:1:1\n' '' k=1
odd "one, and a search" 'T:1:1\n' '' maxK=2
odd "all alike" 'T:1:1\nT:1:2\nT:1:3\n' '' k=2
odd "all alike, any k" 'T:1:1\nT:1:2\nT:1:3\n' '' \
    k=1:3 saveAll dim=noProject
odd "as many as centres" 'T:1:1\nT:2:2\n' '' k=2 dim=2
odd "no numbers at all" 'T:1:0\nT:2:0\n' \
    "1 the values' sum is 0, by wh" k=2 iters=3
odd "no numbers, and the furthest" "${A}T:1:0\n$C" \
    "5 the values' sum is 0, by wh" k=3 initkm=ff

# the status is 2 where something wanted could not be chosen
printf 'T:1:1\nT:1:2\nT:1:3\n' >in.bb
status 2 "no choice of simpoints" "$S" -q -maxK 3 -loadFVFile in.bb \
    -saveSimpoints p -dim noProject -saveVectorsTxtFmt v
same "but the vectors" "v" "$(ls p v 2>/dev/null)"
check "no choice, but none is wanted" "$S" -q -maxK 3 -loadFVFile in.bb \
    -dim noProject -saveVectorWeights w
check "no choice: all" "$S" -q -k 1,2 -loadFVFile in.bb -saveAll \
    -dim noProject -saveSimpoints p
same "are written" "p.run_1_k_1 p.run_2_k_2" "$(echo p.run*)"
for f in json plot regions; do
	status 2 "no choice for -$f" "$S" -q -maxK 3 -loadFVFile in.bb \
	    -dim noProject -$f x
done
printf 'T:1:1\nT:1:0\nT:2:3\n' >in.bb
check "a sum of 0, as JSON" "$S" -q -k 2 -loadFVFile in.bb -json j -plot s
check "is JSON" python3 -c 'import json; json.load(open("j"))'
status 2 "a sum of infinity, mended" "$S" -k 2 -bugs mend -loadFVFile - <<'E'
T:1:1e308 :2:1e308
E
status 2 "block 0" "$S" -k 1 -loadFVFile - <<'E'
T:1:1
T:0:1
E
same "is refused" "simpoint: stdin:2: dimension < 1" "$(cat err)"
done_testing
