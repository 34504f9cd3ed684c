#!/bin/sh
# simpoint: every byte as t/models/simpoint.py, which is slow and plain

. t/lib.sh

S=$B/simpoint

# both NAME OPTION[=VALUE]...: on $T/$NAME.bb; all files, scores
both() {
	in=$1
	shift
	rm -rf "$T/a" "$T/b"
	mkdir "$T/a" "$T/b"
	args="-loadFVFile $T/$in.bb" model="loadFVFile=$T/$in.bb"
	for o; do
		case $o in
		saveAll) args="$args -$o" ;;
		*) args="$args -${o%%=*} ${o#*=}" ;;
		esac
		model="$model $o"
	done
	case $* in
	*noProject*|*loadProj*|*join*) proj= ;;
	*) proj=saveProjMatrixTxtFmt ;;
	esac
	for o in saveSimpoints saveSimpointWeights saveLabels saveInitCtrs \
	    saveFinalCtrs saveVectorsTxtFmt saveVectorWeights $proj; do
		args="$args -$o $T/a/$o" model="$model $o=$T/b/$o"
	done
	run "$S" $args && grep -E 'Run|Iter|BIC s|Distortion:' "$T/out" |
	    awk '/^Run/ { k = $NF } /Iter/ { i = $2 } /BIC/ { b = $NF }
		/Dist/ { print k, i, b, $2 }' >"$T/a/log" &&
	timeout 60 python3 t/models/simpoint.py $model "log=$T/b/log" &&
	[ "$(ls "$T/b" | wc -l)" -ge 8 ] &&
	diff -r "$T/a" "$T/b" >"$T/difference"
	ok "$in.bb $*" $? || head -n 20 "$T/difference" | sed 's/^/# /'
}

"$TB/mkbbv" 150 200 30 5 1 >"$T/a.bb"
"$TB/mkbbv" 96 120 20 5 2 exp-bbv >"$T/b.bb"
"$TB/mkbbv" 41 2000 60 3 3 >"$T/c.bb"
# counts that are no whole numbers, blocks out of order, intervals alike
awk '{ printf "T"; n = split(substr($0, 2), p, " ")
	for (i = n; i > 0; i--) { split(p[i], q, ":")
		printf ":%d:%.3f ", q[2], q[3] / 7 } print ""
	if (NR % 5 == 0) print }' "$T/b.bb" >"$T/d.bb"

both a maxK=12
both b k=1:9
both b k=9:2:1,30
both b maxK=9 initkm=ff
both b k=5 dim=3 iters=1
both b k=7 iters=2
both b k=4 iters=0
both b k=12 iters=off
both b k=6 fixedLength=off
both b k=6 sampleSize=30
both b k=6 sampleSize=50 fixedLength=off seedsample=5
both b k=3:9 dim=noProject
both b maxK=6 dim=noProject initkm=ff fixedLength=off
both b k=8 dim=100 seedproj=-77 seedkm=0
both b maxK=20 numInitSeeds=9 bicThreshold=0.4 coveragePct=.9
both b k=40 seedkm=-8
both b k=120 iters=3 dim=2
both b k=5,9 saveAll coveragePct=0.333333333
both b maxK=1
both b maxK=2
both b maxK=3
both b k=9 dim=noProject iters=2 sampleSize=40
both c maxK=5
both c k=4 dim=noProject
both d maxK=10 fixedLength=off
both d maxK=8 initkm=ff dim=1
both d k=11 dim=noProject fixedLength=off

# memory vectors beside those of blocks; one interval touches no memory
"$TB/mkbbv" 96 400 15 3 8 >"$T/m.bb"
sed '9s/.*/T/' "$T/m.bb" >"$T/n.bb"
both b k=7 "joinFVFile=$T/m.bb"
both b maxK=6 "joinFVFile=$T/m.bb" joinShare=.2 fixedLength=off
both b k=5 "joinFVFile=$T/m.bb" dim=noProject
check "an interval without values, joined" "$S" -k 5 -loadFVFile "$T/b.bb" \
    -joinFVFile "$T/n.bb" -saveVectorsTxtFmt "$T/v" -q
same "has none there" "15 0" "$(sed -n 10p "$T/v" | awk '{ for (i = 3; i <= NF; i++)
	if ($i == 0) zero[i > 17]++ } END { print zero[1], zero[0] + 0 }')"
status 2 "not the same intervals" "$S" -k 5 -loadFVFile "$T/a.bb" \
    -joinFVFile "$T/m.bb"
same "is told" "simpoint: $T/m.bb: 96 vectors, where the first file has 150" \
    "$(cat "$T/err")"

# what was saved can be loaded
"$S" -loadFVFile "$T/d.bb" -k 7 -fixedLength off -q \
    -saveFinalCtrs "$T/ctrs" -saveLabels "$T/lab" -saveVectorWeights "$T/w" \
    -saveProjMatrixTxtFmt "$T/proj" -saveVectorsTxtFmt "$T/vec" \
    -saveVectorsBinFmt "$T/vecbin" -saveProjMatrixBinFmt "$T/projbin"
cut -d' ' -f1 "$T/lab" >"$T/lab1"
both d "loadInitCtrs=$T/ctrs"
both d "loadInitCtrs=$T/ctrs" iters=1
both d "loadInitLabels=$T/lab1" sampleSize=60
both d k=3 "loadVectorWeights=$T/w"
both d k=5 "loadProjMatrixTxtFmt=$T/proj"
for form in "TxtFmt $T/vec" "BinFmt $T/vecbin"; do
	check "vectors from a file" "$S" -loadVectors$form -fixedLength off \
	    -k 7 -saveFinalCtrs "$T/ctrs2" -saveVectorsTxtFmt "$T/vec2" -q
	sed 's/^[^:]*://' "$T/vec" >"$T/x"
	sed 's/^[^:]*://' "$T/vec2" >"$T/y"
	samefile "are the same" "$T/x" "$T/y"
done
check "projection from a binary file" "$S" -loadFVFile "$T/d.bb" -q -k 7 \
    -fixedLength off -loadProjMatrixBinFmt "$T/projbin" -saveFinalCtrs "$T/c2"
samefile "gives the same centres" "$T/ctrs" "$T/c2"

# threads
for j in 1 2 3 8; do
	run "$S" -j $j -loadFVFile "$T/a.bb" -k 1:9 -saveSimpoints "$T/p$j" \
	    -saveFinalCtrs "$T/c$j"
	grep -v '^Command\|jobs\|[/]' "$T/out" >"$T/o$j"
	samefile "$j threads: log" "$T/o1" "$T/o$j"
	samefile "$j threads: centres" "$T/c1" "$T/c$j"
done

done_testing
