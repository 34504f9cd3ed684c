#!/bin/sh
# simpoint: regions, JSON, plot, log

. t/lib.sh

S=$B/simpoint

# vectors as PinPoints has them
cat >"$T/pin.bb" <<'END'
G: /bin/my prog LowAddress: 0x400000 LoadOffset: 0x0
I: 0
P: 3
C: sum:dummy Command: ./prog
S: 0x401000 1 /bin/my prog 0x400000 + 0x1000
# Slice at 0
T:1:50 :2:50 
S: 0x401020 6 /bin/my prog 0x400000 + 0x1020
# Slice at 100
T:1:45 :2:50 
S: 0x401040 1 /bin/my prog 0x400000 + 0x1040
# Slice at 195
T:3:104 
S: 0x401040 27 /bin/my prog 0x400000 + 0x1040
# Slice at 299
T:3:100 :1:5 
M: 0x401000 21 
# Slice at 404
T:3:100 :1:10 
M: 0x401000 23 
Dynamic instruction count 514
SliceSize: 100
Block id: 1 0x401000:0x401010 static instructions: 5 block count: 22 block size: 17
Block id: 2 0x401020:0x401030 static instructions: 10 block count: 10 block size: 18
Block id: 3 0x401040:0x401048 static instructions: 4 block count: 76 block size: 9
End of bb
END
check "regions" "$S" -k 2 -initkm ff -loadFVFile "$T/pin.bb" -warmup 2 \
    -regions "$T/r"
# the end's block ran 5 times in interval 0, and comes next; 1 and next in 3; 26
# times in 1 to 2, a warm-up, whose end does not count
cat >"$T/want" <<'END'
# Regions based on: simpoint, 5 intervals, k = 2

# comment,thread-id,region-id,start-pc,start-image-name,start-image-offset,start-pc-count,end-pc,end-image-name,end-image-offset,end-pc-count,end-pc-relative-count,region-length,region-weight,region-multiplier,region-type

# RegionId = 1 Slice = 0 Icount = 0 Length = 101 Weight = 0.40000 Multiplier = 1.897 ClusterSlicecount = 2 ClusterIcount = 195
#Start: pc : 0x401000 image: my_prog offset: 0x1000 absolute_count: 1
#End: pc : 0x401020 image: my_prog offset: 0x1020 absolute_count: 6 relative_count: 6
cluster 0 from slice 0,3,1,0x401000,my_prog,0x1000,1,0x401020,my_prog,0x1020,6,6,101,0.40000,1.897,simulation

# RegionId = 2 Slice = 3 Icount = 300 Length = 105 Weight = 0.60000 Multiplier = 3.103 ClusterSlicecount = 3 ClusterIcount = 319
#Start: pc : 0x401040 image: my_prog offset: 0x1040 absolute_count: 27
#End: pc : 0x401000 image: no_image offset: 0x0 absolute_count: 21 relative_count: 2
cluster 1 from slice 3,3,2,0x401040,my_prog,0x1040,27,0x401000,no_image,0x0,21,2,105,0.60000,3.103,simulation

# No warmup possible for regionid 1 with WarmupFactor 2

# RegionId = 4 Slice = 1 Icount = 101 Length = 199 WarmupFactor = 2
#Start: pc : 0x401020 image: my_prog offset: 0x1020 absolute_count: 6
#End: pc : 0x401040 image: my_prog offset: 0x1040 absolute_count: 27 relative_count: 26
Warmup for regionid 2,3,4,0x401020,my_prog,0x1020,6,0x401040,my_prog,0x1040,27,26,199,0.00000,0.000,warmup:2

# First PC, 0x401000
# Total instructions in 2 regions = 206
# Total instructions in workload = 514
# Total slices in workload = 5
END
samefile "by address and count" "$T/want" "$T/r"
check "a region of one block" "$S" -k 3 -initkm ff -loadFVFile "$T/pin.bb" \
    -regions "$T/r" -tid global -q
same "begins and ends with it" "0x401040,1 0x401040,27 26" \
    "$(grep 'slice 2,global' "$T/r" |
	awk -F, '{ print $4 "," $7, $8 "," $11, $12 }')"
check "regions by instructions" "$S" -k 2 -initkm ff -loadFVFile "$T/pin.bb" \
    -warmup 2 -regions - -regions-by icount
cat >"$T/want" <<'END'
# Regions based on: simpoint, 5 intervals, k = 2

# comment,thread-id,region-id,simulation-region-start-icount,simulation-region-end-icount,region-weight

# Region = 1 Slice = 0 Icount = 0 Length = 101 Weight = 0.40000
cluster 0 from slice 0,3,1,0,100,0.40000

# Region = 2 Slice = 3 Icount = 300 Length = 105 Weight = 0.60000
# Warmup: Slice = 1 Icount = 101 Length = 199
cluster 1 from slice 3,3,2,300,404,0.60000

# Total instructions in 2 regions = 206
# Total instructions in workload = 514
# Total slices in workload = 5
END
samefile "by instruction count" "$T/want" "$T/out"
grep '^T' "$T/pin.bb" >"$T/plain.bb"
check "without markers" "$S" -k 2 -initkm ff -loadFVFile "$T/plain.bb" \
    -regions "$T/r" -tid 3 -warmup 2
samefile "by instruction count" "$T/want" "$T/r"
# the last interval has no marker behind it
sed '/^M: 0x401000 23/d' "$T/pin.bb" >"$T/kept.bb"
check "the last interval, without a marker" "$S" -k 5 -initkm ff \
    -loadFVFile "$T/kept.bb" -regions "$T/r" -warmup 1
same "is told" "simpoint: no marker before interval 5: all regions are by \
instruction count" "$(cat "$T/err")"
"$S" -k 5 -initkm ff -loadFVFile "$T/kept.bb" -warmup 1 -regions "$T/want" \
    -regions-by icount -q
samefile "no region is by address" "$T/want" "$T/r"
status 2 "it cannot be by address" "$S" -k 5 -initkm ff \
    -loadFVFile "$T/kept.bb" -regions "$T/r" -regions-by pc
# this boundary is one of a region only if its warm-up is one interval
sed '/^S: 0x401040 1 /d' "$T/pin.bb" >"$T/gap.bb"
for w in 0 1 2; do
	by=pc
	[ $w -ne 1 ] || by=icount
	check "one marker missing, -warmup $w" "$S" -k 2 -initkm ff \
	    -loadFVFile "$T/gap.bb" -regions "$T/r" -warmup $w -q
	"$S" -k 2 -initkm ff -loadFVFile "$T/pin.bb" -regions "$T/want" -q \
	    -warmup $w -regions-by $by
	samefile "is by $by" "$T/want" "$T/r"
done
rm "$T/r"
status 2 "by address without markers" "$S" -k 2 -loadFVFile "$T/plain.bb" \
    -regions "$T/r" -regions-by pc
same "is told" "simpoint: no marker before interval 0: -regions-by icount \
needs none" "$(cat "$T/err")"
grep -v '^Block' "$T/pin.bb" >"$T/noblocks.bb"
status 2 "without table of blocks" "$S" -k 2 -loadFVFile "$T/noblocks.bb" \
    -regions "$T/r"
same "is told" 1 "$(grep -c 'no "Block id:" line for the marker' "$T/err")"
for bad in 'M: x 1' 'M: 0x1 x' 'Block id: 1 0x2 static instructions: 3' \
    'Block id: 1 0x2:0x3 static instructions: 0 block'; do
	{ cat "$T/pin.bb"; echo "$bad"; } >"$T/bad.bb"
	status 2 "bad line $bad" "$S" -k 2 -loadFVFile "$T/bad.bb" \
	    -regions "$T/r"
	same "with its place" 1 "$(grep -c "^simpoint: $T/bad.bb:27: " "$T/err")"
	check "passed over without -regions" "$S" -k 2 -loadFVFile "$T/bad.bb" -q
done
[ ! -e "$T/r" ]
ok "a region file is whole or not there" $?

# JSON
"$TB/mkbbv" 97 200 20 4 1 >"$T/a.bb"
check "json" "$S" -maxK 6 -loadFVFile "$T/a.bb" -json "$T/j" -saveLabels "$T/l" \
    -saveSimpoints "$T/p" -saveSimpointWeights "$T/w" -q
cat >"$T/read.py" <<'END'
import json, sys
j = json.load(open(sys.argv[1]))
points = j["simpoints"]
want = [l.split() for l in open(sys.argv[2])]
assert [[str(p["interval"]), str(p["phase"])] for p in points] == want
want = [l.split()[0] for l in open(sys.argv[3])]
assert ["%g" % p["weight"] for p in points] == want
want = [int(l.split()[0]) for l in open(sys.argv[4])]
assert j["labels"] == want and j["intervals"] == len(want)
sums = [sum(int(p.split(":")[1]) for p in l[2:].split(" :"))
        for l in open(sys.argv[5])]
assert j["instructions"] == sum(sums)
for p in points:
    i = p["interval"]
    assert (p["start"], p["length"]) == (sum(sums[:i]), sums[i])
    assert p["intervals"] == want.count(p["phase"])
chosen = j["runs"][j["run"] - 1]
assert chosen["k"] == j["k"] and len(chosen["trials"]) == 5
best = chosen["trials"][chosen["best"] - 1]["bic"]
assert best == max(t["bic"] for t in chosen["trials"])
END
check "json: as the files" python3 "$T/read.py" "$T/j" "$T/p" "$T/w" "$T/l" \
    "$T/a.bb"
# blocks that no interval has take no memory, and change nothing
printf '%s\n' 'T:1:5 :3:2 :9:1' 'T:1:5 :3:3' 'T:9:4 :3:1' 'T:9:5 :1:1' >"$T/few"
sed 's/:9:/:100000000:/' "$T/few" >"$T/far"
for f in few far; do
	([ -n "${SAN:-}" ] || ulimit -v 1000000
	"$S" -k 2 -dim noProject -j 2 -loadFVFile "$T/$f" -saveSimpoints "$T/$f.p" \
	    -saveLabels "$T/$f.l" -q)
	ok "blocks up to a number: $f" $?
done
samefile "the same phases" "$T/few.p" "$T/far.p"
samefile "the same distances" "$T/few.l" "$T/far.l"
sed 's/:9:/:700:/' "$T/few" >"$T/wide"
check "centres with all columns" "$S" -k 2 -dim noProject -q \
    -loadFVFile "$T/wide" -saveFinalCtrs "$T/c" -saveVectorsTxtFmt "$T/v"
same "of all blocks" "700 700 700 700 700 700" \
    "$(awk 'NR > 1 { print NF - 2 }' "$T/c" "$T/v" | grep -v '^-' | paste -sd' ')"
same "at their places" "0.125 700" "$(awk 'NR == 2 { for (i = 3; i <= NF; i++)
    if ($i == .125) print $i, i - 2 }' "$T/v")"

check "json: what has no bounds" "$S" -k 1,2 -dim noProject -bugs mend -json - \
    -loadFVFile "$T/pin.bb"
check "json: is null or a number" python3 -c \
    'import json, sys; json.load(open(sys.argv[1]))' "$T/out"

# plot
check "plot" "$S" -maxK 6 -loadFVFile "$T/a.bb" -plot "$T/s" -q
check "plot: well-formed" python3 -c '
import sys, xml.dom.minidom
d = xml.dom.minidom.parse(sys.argv[1])
text = [t.firstChild.data for t in d.getElementsByTagName("text")]
n = int(text[0].split()[0])
assert n == sum(t.startswith("phase ") for t in text)
assert n == sum(", interval " in t for t in text)
' "$T/s"
"$TB/mkbbv" 9001 300 5 9 1 >"$T/b.bb"
check "plot of many intervals" "$S" -k 9 -numInitSeeds 1 -loadFVFile "$T/b.bb" \
    -plot - -quiet
[ "$(wc -c <"$T/out")" -lt 400000 ]
ok "stays small" $?
check "plot of one" "$S" -k 1 -bugs mend -loadFVFile "$T/plain.bb" -plot - -q

# log
check "log" "$S" -maxK 6 -loadFVFile "$T/a.bb" -numInitSeeds 2 -verbose 1
same "runs" "Run number 1 of at most 5, k = 1" \
    "$(grep Run "$T/out" | head -n 1)"
same "trials" "$(( $(grep -c '^Run' "$T/out") * 2 ))" \
    "$(grep -c 'BIC score' "$T/out")"
same "clusters by size" 2 "$(grep -c "by size: 0 (1)$" "$T/out")"

check "the fuzzing corpus" "$TB/fuzz_simpoint" t/fuzz/corpus/simpoint

done_testing
