#!/bin/sh
# simpoint: options that are wrong, or wrong together: status 2, one line, no file

. t/lib.sh

S=$B/simpoint
printf 'T:1:1 :2:3\nT:1:2 :2:1\nT:2:1\n' >"$T/fv"
printf '3\n1: 1\n1: 2\n1: 4\n' >"$T/v"
printf '2\n1: 1\n1: 2\n' >"$T/c"
printf 'a a b\n' >"$T/l"

# no OPTIONS MESSAGE: refused with it
no() {
	eval "set -- \"\$2\" $1"
	want=$1
	shift
	run "$S" "$@" -saveSimpoints "$T/p"
	same "$*" "2 simpoint: $want" "$? $(cat "$T/err")"
}

no '-loadFVFile $T/fv' "want -maxK n, or -k and the values to try; see -help"
no '-k 2 -maxK 3 $T/fv' "-maxK is for -k search only"
no '-k 0 $T/fv' "-k 0: want search, or a, a:b, a:step:b, joined by commas"
no '-k "" $T/fv' "-k : want search, or a, a:b, a:step:b, joined by commas"
no '-k 1:0 $T/fv' "-k 1:0: want search, or a, a:b, a:step:b, joined by commas"
no '-k 1,,2 $T/fv' "-k 1,,2: want search, or a, a:b, a:step:b, joined by commas"
no '-k 1:-1:2x $T/fv' \
    "-k 1:-1:2x: want search, or a, a:b, a:step:b, joined by commas"
no '-k 3 -loadFVFile $T/fv -loadVectorsTxtFmt $T/v' \
    "-loadFVFile and -loadVectorsTxtFmt exclude each other"
no '-k 3 -loadVectorsTxtFmt $T/v' "-loadVectorsTxtFmt needs -fixedLength on or off"
no '-k 3 -loadVectorsTxtFmt $T/v -fixedLength on -dim 3' \
    "-loadVectorsTxtFmt and -dim exclude each other"
no '-k 3 -loadVectorsBinFmt $T/v -fixedLength on -seedproj 3' \
    "-loadVectorsBinFmt and -seedproj exclude each other"
no '-k 3 -loadVectorsTxtFmt $T/v -fixedLength on -regions $T/r' \
    "-loadVectorsTxtFmt and -regions exclude each other"
no '-loadInitCtrs $T/c -loadInitLabels $T/l $T/fv' \
    "-loadInitCtrs and -loadInitLabels exclude each other"
for o in k maxK numInitSeeds seedkm; do
	no "-loadInitCtrs \$T/c -$o 3 \$T/fv" \
	    "-loadInitCtrs and -$o exclude each other"
done
no '-loadInitLabels $T/l -initkm ff $T/fv' \
    "-loadInitLabels and -initkm exclude each other"
no '-loadInitLabels $T/l -bicThreshold 1 $T/fv' \
    "-loadInitLabels and -bicThreshold exclude each other"
no '-k 2 -seedproj 3 -loadProjMatrixTxtFmt $T/c $T/fv' \
    "-loadProjMatrixTxtFmt and -seedproj exclude each other"
no '-k 2 -loadProjMatrixBinFmt $T/c -loadProjMatrixTxtFmt $T/c $T/fv' \
    "-loadProjMatrixTxtFmt and -loadProjMatrixBinFmt exclude each other"
no '-k 2 -dim noProject -seedproj 3 $T/fv' \
    "-dim noProject has no projection matrix"
no '-k 2 -dim noProject -saveProjMatrixTxtFmt $T/m $T/fv' \
    "-dim noProject has no projection matrix"
no '-k 2 -numFVs 3 $T/fv' "-numFVs and -FVDim go together"
no '-k 2 -seedsample 3 $T/fv' "-seedsample needs -sampleSize"
for bad in x '' 1x all; do
	status 2 "-tid '$bad'" "$S" -k 2 -tid "$bad" -regions "$T/r" "$T/fv"
	same "-tid '$bad': is told" \
	    "simpoint: -tid $bad: neither a number nor global" "$(cat "$T/err")"
done
no '-k 2 -warmup 3 $T/fv' "-warmup, -tid and -regions-by need -regions"
no '-k 2 -saveLabels - -json - $T/fv' "only one result can go to standard output"
no '-k 2 -saveAll -saveLabels - $T/fv' \
    "-saveAll and -coveragePct write several files, not standard output"
no '-k 2 -loadVectorWeights -' "only one file can be standard input"
no '-k 2 -loadFVFile - -joinFVFile -' "only one file can be standard input"
no '-k 2 -joinShare .3 $T/fv' "-joinShare needs -joinFVFile"
no '-k 2 -joinFVFile $T/fv -saveProjMatrixTxtFmt $T/m $T/fv' \
    "-joinFVFile and -saveProjMatrixTxtFmt exclude each other"
no '-k 3 -loadVectorsTxtFmt $T/v -fixedLength on -joinFVFile $T/fv' \
    "-loadVectorsTxtFmt and -joinFVFile exclude each other"
no '-k 2 -bicThreshold 1.1 $T/fv' "-bicThreshold 1.1: not a number from 0 to 1"
no '-k 2 -coveragePct nan $T/fv' "-coveragePct nan: not a number from 0 to 1"
no '-k 2 -seedkm 1x $T/fv' "-seedkm 1x: not a whole number"
no '-k 2 -fixedLength yes $T/fv' "-fixedLength yes: neither on nor off"
no '-k 2 -initkm best $T/fv' "-initkm best: unknown; see -help"

# what the files say does not fit
no '-k 2 -numFVs 4 -FVDim 2 $T/fv' "$T/fv: 3 vectors, highest block 2; \
-numFVs says 4, -FVDim 2"
no '-k 2 -numFVs 3 -FVDim 3 $T/fv' "$T/fv: 3 vectors, highest block 2; \
-numFVs says 3, -FVDim 3"
no '-loadInitCtrs $T/c $T/fv' "$T/c: 1 dimensions, the vectors have 15"
printf 'a b\n' >"$T/l"
no '-loadInitLabels $T/l $T/fv' "$T/l: 2 labels for 3 intervals"
no '-k 2 -loadVectorWeights $T/l $T/fv' "$T/l:1: no weight"
no '-k 2 -loadProjMatrixTxtFmt $T/c $T/fv' "$T/c: 1 columns, but -dim is 15"
no '-k 2 -loadProjMatrixTxtFmt $T/v -dim 1 $T/fv' \
    "$T/fv: highest block 2, but the projection matrix has 3 rows"
printf '1\n1: 1\n' >"$T/c"
no '-k 2 -loadProjMatrixTxtFmt $T/c -dim 1 $T/fv' \
    "$T/fv:1: block 2, but the projection matrix has 1 rows"
no '-k 2 -loadFVFile /dev/null' \
    "/dev/null: no vectors (lines that begin with T)"
no '-k 2 -loadFVFile $T/none' "$T/none: open: No such file or directory"
for bad in T:0:1 T:-3:1; do
	echo $bad >"$T/fv"
	no '-k 2 $T/fv' "$T/fv:1: dimension < 1"
done
echo 'T:1:1e308 :2:1e308' >"$T/fv"
no '-k 2 -bugs mend $T/fv' "$T/fv:1: the values' sum is inf: nothing can be divided by it"
for bad in '' x 0 '1\n' '1\n2: 1' '1\n1: 1 2' '1\n1: nan' '1:v\n1: 1' \
    '2\n1: 1\n2: 1 2' '1:w\n1: 1'; do
	printf "$bad\n" >"$T/v"
	status 2 "bad matrix $bad" "$S" -k 2 -loadVectorsTxtFmt "$T/v" \
	    -fixedLength on
done
for bad in '' '\1\0\0\0' '\1\0\0\0\2\0\0\0' '\1\0\0\0\0\0\0\0\377\377\377\377' \
    '\1\0\0\0\0\0\0\0\1\0\0\0abc'; do
	printf "$bad" >"$T/v"
	status 2 "bad binary matrix $bad" "$S" -k 2 -loadVectorsBinFmt "$T/v" \
	    -fixedLength on
done
[ ! -e "$T/p" ]
ok "nothing was written" $?

# manners
printf 'T:1:1 :2:3\nT:1:2 :2:1\nT:2:1\n' >"$T/fv"
status 2 "unknown option" "$S" -loadProjData x
check "abbreviations, two dashes" "$S" --k 2 --numInit=3 -q "$T/fv"
check "help" "$S" -help
check "version" "$S" --version
status 2 "full disk: simpoints" "$S" -k 2 -saveSimpoints /dev/full -q "$T/fv"
status 2 "full disk: log" sh -c '"$0" -k 2 "$1" >/dev/full' "$S" "$T/fv"
check "one argument too many" "$S" -k 2 "$T/fv" more -q
same "is told" "simpoint: more: ignored, there is an input file already" \
    "$(cat "$T/err")"
check "the last of two" "$S" -k 1 -k 2 -initkm ff -saveLabels - "$T/fv"
same "counts" 2 "$(cut -d' ' -f1 "$T/out" | sort -u | wc -l)"

done_testing
