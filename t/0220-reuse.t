#!/bin/sh
# reuse: distances by a second implementation, its curve by cachesim

. t/lib.sh

R=$B/reuse

# the example of the page, whole
cat >"$T/page.ev" <<'END'
H quern-events 1
H D1 128,2,64
H LL 4096,4,64
B 1 >1000 4r8.0 2C1000
1+7ffe1000
1+40
1-40
1+80
1-40
E exit 0 5
END
cat >"$T/page" <<'END'
# reuse distances of data, lines of 64 bytes
insns 10
refs 5
lines 3
pages 1
cold 3
mean 1.50
median 1
largest 2

# hist from to refs share
hist 0 0 0 0.000000
hist 1 1 1 0.200000
hist 2 3 1 0.200000
hist cold - 3 0.600000

# curve bytes lines misses ratio
curve 64 1 5 1.000000
curve 128 2 4 0.800000
curve 192 3 3 0.600000

# cache name bytes lines misses ratio
cache L1 128 2 4 0.800000
cache LL 4096 64 3 0.600000

# interval from insns refs lines pages new
interval 0 10 5 3 1 3

# function refs misses-128 cold to-10% to-1% to-0 object name
function 5 4 3 1024 1024 1024 ??? ???

end
END
check "a stream by hand" "$R" "$T/page.ev"
samefile "gives what the page says" "$T/page" "$T/out"
check "two caches" "$R" --sizes=128,1k --caches=64,128 --functions=0 \
    "$T/page.ev"
same "sizes and caches of one's own" "curve 128 2 4 0.800000;\
curve 1024 16 3 0.600000;cache 64 64 1 5 1.000000;cache 128 128 2 4 0.800000;" \
    "$(grep '^curve\|^cache' "$T/out" | tr '\n' ';')"

# a second implementation: all distances, working sets, threads
ours() { # options stream
	"$R" --sizes=all --functions=0 "$@" | perl -ne '
		s/^thread \d+/thread/;
		print if /^(insns|refs|lines|cold|thread)/ ||
		    '"$interval"' && /^interval/;
		if (/^curve \d+ (\d+) (\d+)/) {
			print "at ", $1 - 1, " ", $last - $2, "\n"
			    if $last != $2;
			$last = $2;
		}
		$last = $1 if /^refs (\d+)/'
}
for seed in 1 12 24; do
	python3 t/models/repeats.py $seed 40 12 >"$T/in.ev"
	for how in "" --refs=code --refs=both --line=16 "--line=4096" \
	    "--interval=50" "--refs=both --interval=7 --line=32" --per-thread; do
		interval=0
		case $how in *interval*) interval=1 ;; esac
		ours $how "$T/in.ev" | sort >"$T/ours"
		python3 t/models/reuse.py $how "$T/in.ev" | sort >"$T/model"
		samefile "stream $seed $how" "$T/model" "$T/ours"
	done
done
[ -s "$T/model" ]
ok "the model says something" $?

printf 'H quern-events 1\nB 1 >103e 2r4@1040*0 2 2C103e\n1.*3\n' >"$T/in.ev"
echo 'E exit 0 4' >>"$T/in.ev"
ours --refs=both "$T/in.ev" | sort >"$T/ours"
python3 t/models/reuse.py --refs=both "$T/in.ev" | sort >"$T/model"
samefile "a reference without rounds, where code is" "$T/model" "$T/ours"

# the curve at S lines is a cache of one set with S ways
cachesim_misses() { # lines stream: of data, of code
	"$B/cachesim" --D1=$((64 * $1)),"$1",64 --I1=$((64 * $1)),"$1",64 \
	    --LL=8388608,16,64 "$2" 2>"$T/err2" |
	    awk '/^totals/ { print $6 + $9, $3 }'
}
lru() {
	sizes=$(for n in $lines; do printf '%d,' $((64 * n)); done)
	for refs in data code; do
		"$R" --refs=$refs --sizes="${sizes%,}" --functions=0 "$1" |
		    awk '$1 == "curve" { print $2 / 64, $4 }' >"$T/$refs"
	done
	for n in $lines; do
		echo "$n $(cachesim_misses "$n" "$1")"
	done >"$T/caches"
	awk '{ getline c <"'"$T/code"'"; split(c, v); print $0, v[2] }' \
	    "$T/data" >"$T/curve"
	samefile "$2: LRU caches of all sizes" "$T/caches" "$T/curve"
}
lines="2 3 4 5 7 8 12 15 16 17 18 24 31 33 64 100 128 256 512 1000"
for seed in 1 2; do
	"$TB/caches" gen $seed 8000 >"$T/in.ev"
	lru "$T/in.ev" "random stream $seed"
done
"$B/trace" -o "$T/ls.ev" ls / >/dev/null
lru "$T/ls.ev" "ls"

# by instruction: the sums are those of the curve, -t tells the same
sum=$("$R" --sizes=1k,4k,32k --functions=0 "$T/ls.ev" |
    awk '$1 == "curve" { printf " %s", $4 }')
check "costs" "$R" --costs=4k,1k,32k,4k "$T/ls.ev"
cp "$T/out" "$T/costs"
same "their columns" "events: Ir D Dm1K Dm4K Dm32K" "$(grep ^events "$T/out")"
same "their sums" "$sum" \
    "$(sed -n 's/^totals: [0-9]* [0-9]*//p' "$T/out")"
check "-t" "$R" -t --costs=1k,4k,32k "$T/ls.ev"
cp "$T/out" "$T/told.ev"
same "tells the same to the next stage" "$sum" \
    "$("$B/branchsim" "$T/told.ev" | awk '/^totals/ {
	print " " $(NF - 2) " " $(NF - 1) " " $NF }')"
grep -v '^O \|^H outcomes\|^H desc' "$T/told.ev" | "$TB/ev" copy >"$T/a.ev"
"$TB/ev" copy "$T/ls.ev" >"$T/b.ev"
samefile "passes all on" "$T/b.ev" "$T/a.ev"
status 2 "twice through reuse" "$R" -t --costs=1k "$T/told.ev"
check "the rest of the pipe" "$B/fmt-cachegrind" -o "$T/cg.out" "$T/costs"
check "and its end" "$B/annotate" --sort=Dm32K "$T/cg.out"
grep -q 'Dm32K' "$T/out"
ok "shows the column" $?
# with -t each use is looked at by itself, else those of a sample by eight
agree() { # option...
	"$R" --costs=64,128,1k "$@" "$T/in.ev" | awk '/^(0x|[-+*])/ {
	    $3 = ""; $0 = $0; $1 = $1; print }' >"$T/sum"
	"$R" -t --costs=64,128,1k "$@" "$T/in.ev" | "$B/icount" |
	    awk '/^(0x|[-+*])/' >"$T/told"
	[ -s "$T/sum" ] && cmp "$T/sum" "$T/told"
}
# groups SEED: executions of blocks with up to 40 groups, some values 0
groups() {
	python3 - "$1" <<-'END'
	import random, sys
	rnd = random.Random(int(sys.argv[1]))
	print('H quern-events 1')
	was = {}
	for b in range(1, 41):
	    print('B %x >%x000' % (b, 0x1000 + b) + ''.join(
	        ' 4%s%x.%x+%x' % (rnd.choice('rwm'), rnd.choice([1, 8, 64, 100]),
	        g, rnd.randrange(200)) for g in range(b)) +
	        rnd.choice([' 2', ' 4r8@77777777']))
	for _ in range(4000):
	    b = rnd.randrange(1, 41)
	    line = '%x' % b
	    for g in range(b):
	        old = was.get((b, g), 0)
	        new = rnd.choice([0, old, old + 8, rnd.randrange(1, 1 << 20)])
	        was[b, g] = new
	        line += ('+%x' % (new - old) if new > old else
	                 '-%x' % (old - new) if new < old else '.')
	    print(line)
	print('E exit 0 4000')
	END
}
# parts SEED: prefixes of blocks whose uses overlap, or are near each other
parts() {
	python3 - "$1" <<-'END'
	import random, sys
	rnd = random.Random(int(sys.argv[1]))
	print('H quern-events 1')
	ids = []
	for b in range(1, 31):
	    n, used = rnd.randrange(1, 24), []
	    line = 'B %x >%x000' % (2 * b, 0x1000 + b)
	    for i in range(n):
	        g = rnd.randrange(min(1 + max(used, default=-1), b) + 1)
	        used.append(g)
	        far = rnd.choice([0, 0, 0, 4096, 1 << 40])
	        line += ' 4%s%x.%x%s%x' % (rnd.choice('rwm'), rnd.choice(
	            [1, 4, 8, 32, 90]), g, rnd.choice('+-'),
	            far + rnd.randrange(1, 150))
	        if rnd.random() < .1:
	            line += 'r8@%x' % rnd.randrange(1 << 12)
	    print(line)
	    ids.append((2 * b, 2 * b, 1 + max(used)))
	    if n > 1:
	        k = rnd.randrange(1, n)
	        print('P %x %x %x' % (2 * b + 1, 2 * b, k))
	        ids.append((2 * b + 1, 2 * b, 1 + max(used[:k])))
	was, done = {}, 0
	for _ in range(4000):
	    i, b, groups = rnd.choice(ids)
	    line = '%x' % i
	    for g in range(groups):
	        by = rnd.choice([0, 8, 8, 64, 1 << 12, (1 << 20) + 24])
	        line += '+%x' % by if by else '.'
	    more = rnd.choice([0, 0, 0, 1, 5, 40])
	    print(line + ('*%x' % more if more else ''))
	    done += 1 + more
	print('E exit 0 %d' % done)
	END
}
for seed in 1 12; do
	python3 t/models/repeats.py $seed 40 30 >"$T/in.ev"
	for how in "" --sample=50% "--sample=80% --line=16"; do
		# shellcheck disable=SC2086
		agree --refs=both $how
		ok "repeats: -t and costs agree, stream $seed $how" $?
	done
	groups $seed >"$T/in.ev"
	agree --sample=5%
	ok "many groups" $?
	agree --sample=5% --line=16 --refs=both
	ok "many groups, short lines" $?
	parts $seed >"$T/in.ev"
	agree --sample=20% --refs=both
	ok "parts of blocks, uses near each other" $?
	"$TB/caches" gen $seed 8000 >"$T/in.ev"
	agree --sample=5%
	ok "a random stream" $?
	"$R" --sample=5% --functions=0 "$T/in.ev" >"$T/out"
	GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F "$R" --sample=5% \
	    --functions=0 "$T/in.ev" >"$T/lesser"
	samefile "the same without AVX-512" "$T/out" "$T/lesser"
done

{ echo H quern-events 1
  echo 'B 1 >401000 2r1.0*1w1.2*1'
  echo 1+400000+3fffffffffffffff+500000
  echo E exit 0 1; } >"$T/many.ev"
status 2 "an instruction that no program repeats so often" "$R" "$T/many.ev"
same "said with its line" "reuse: $T/many.ev:3: an instruction repeated more \
than 68719476736 times" "$(cat "$T/err")"

# functions: the sums are those of all; a loop over 8 KB needs 8 KB
awk 'BEGIN { print "H quern-events 1\nM 1 1000 2000 0 /no\\040such/file"
	print "B 1 >1000 4r8.0 2C1000"
	print "1+10000\n1+40*7e"
	for (i = 0; i < 50; i++) print "1-1fc0\n1+40*7e"
	print "1-1fc0\nE exit 0 6529" }' >"$T/loop.ev"
check "a loop over 128 lines" "$R" --caches=4k "$T/loop.ev"
same "and where its misses stop" \
    "function 6529 6529 128 8192 8192 8192 /no\\040such/file ???" \
    "$(grep '^function' "$T/out")"
sed 's,/no,/n\\303\\274\\134,' "$T/loop.ev" >"$T/utf8.ev"
check "an object's path in UTF-8, with a backslash" "$R" --caches=4k "$T/utf8.ev"
same "is readable" "$(printf '/n\303\274\\134\\040such/file')" \
    "$(awk '$1 == "function" { print $8 }' "$T/out")"

# samples: all lines are the whole; some are near it, as they say
"$R" --sample=1 "$T/ls.ev" >"$T/a"
"$R" "$T/ls.ev" >"$T/b"
samefile "a sample of all" "$T/b" "$T/a"
awk 'function rnd(n) { x = (x * 69069 + 12345) % 4294967296
		return int(x / 65536) % n }
	BEGIN { print "H quern-events 1\nB 1 >1000 4r8@10000 4r8.0"
	was = 0
	for (i = 0; i < 60000; i++) {
		n = rnd(4) ? rnd(200) * 7 : rnd(20) ? rnd(20000) : i % 20000
		at = 16777216 + 64 * n
		printf at < was ? "1-%x\n" : "1+%x\n", at < was ? was - at : \
		    at - was
		was = at
	}
	print "E exit 0 60000" }' >"$T/some.ev"
sizes=$(seq 20480 20480 1048576 | tr '\n' ,)
"$R" --sizes="${sizes%,}" --functions=0 "$T/some.ev" >"$T/exact"
"$R" --sizes="${sizes%,}" --functions=0 --sample=10% "$T/some.ev" \
    >"$T/sample"
awk '$1 == "curve" && NR == FNR { ratio[$2] = $5 }
	$1 == "curve" && NR != FNR { d = $5 - ratio[$2]
		n++; if (d < 0) d = -d; if (d > 3 * $6 + 0.002) bad = 1
		if ($6 <= 0 || $6 > 0.05) bad = 1 }
	END { exit bad || n < 50 }' "$T/exact" "$T/sample"
ok "a sample of a tenth is within its error" $?
same "as many references" "$(grep '^refs\|^insns' "$T/exact")" \
    "$(grep '^refs\|^insns' "$T/sample")"
# The error is what it says: sweeps over 4000 to 6000 lines, at other places,
# and so with other samples. Where the curve falls, distances decide, which all
# lines measure alike.
sweeps() { # first line
	awk -v first="$1" 'function rnd(n) { x = (x * 69069 + 12345) % 4294967296
			return int(x / 65536) % n }
		BEGIN { print "H quern-events 1\nB 1 >1000 4r8.0"
		printf "1+%x\n", first * 64
		for (i = 0; i < 20; i++) {
			n = 4000 + rnd(2000)
			printf "1+40*%x\n1-%x\n", n - 2, n * 64 - 64
			uses += n
		}
		print "E exit 0 " uses + 1 }'
}
sizes=$(seq 266240 8192 380928 | tr '\n' ,)
sweeps 100003 | "$R" --functions=0 --sizes="${sizes%,}" >"$T/exact"
for first in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
	sweeps $((first * 100003)) |
	    "$R" --functions=0 --sizes="${sizes%,}" --sample=10%
done >"$T/samples"
same "most are within one error, nearly all within two" \
    "300 points: well" "$(awk '$1 == "curve" && NR == FNR { ratio[$2] = $5 }
	$1 == "curve" && NR != FNR { d = $5 - ratio[$2]; if (d < 0) d = -d
		n++; far += d > $6; farther += d > 2 * $6 }
	END { print n " points: " (far < .45 * n && farther < .2 * n &&
		far > .15 * n ? "well" : far " " farther) }' \
	"$T/exact" "$T/samples")"

# pictures
{ printf 'H quern-events 1\nH cmd <script>alert(1)</script>&"\n'
  sed 1d "$T/page.ev"; } >"$T/evil.ev"
check "a picture" "$R" --plot="$T/p.svg" "$T/evil.ev"
python3 - "$T/p.svg" <<'END' >"$T/out" 2>&1
import sys, xml.dom.minidom
d = xml.dom.minidom.parse(sys.argv[1])
assert not d.getElementsByTagName('script')
text = [''.join(n.data for n in t.childNodes)
        for t in d.getElementsByTagName('text')]
for want in ('miss ratio', 'working set, KiB', 'time, instructions',
             'size of an LRU cache, bytes (lines of 64)', 'L1 128', 'LL 4K'):
    assert want in text, (want, text)
END
ok "is XML, with axes, units and caches" $?
"$R" --plot="$T/p.svg" --sample=20% --per-thread "$T/in.ev" >"$T/out" &&
    python3 -c 'import sys, xml.dom.minidom
xml.dom.minidom.parse(sys.argv[1])' "$T/p.svg"
ok "of a sample" $?
printf 'H quern-events 1\nE exit 0 0\n' >"$T/empty.ev"
check "of nothing" "$R" --plot="$T/p.svg" "$T/empty.ev"
check "--costs of nothing" "$R" --costs "$T/empty.ev"

# the machine's caches are those that cachesim finds, in the stream and here
if [ -x "$B/trace" ]; then
	"$B/trace" -o "$T/true.ev" /bin/true
	"$B/cachesim" "$T/true.ev" 2>/dev/null | grep '^desc: .* cache' >"$T/told"
	# shellcheck disable=SC2046	# three options
	"$B/cachesim" $("$B/cachesim" --caches=machine) "$T/true.ev" |
	    grep '^desc: .* cache' >"$T/machine"
	samefile "trace tells the caches that cachesim finds" "$T/machine" \
	    "$T/told"
	sed '/^H \(I1\|D1\|LL\) /d' "$T/true.ev" >"$T/bare.ev"
	check "the caches of this machine" "$R" --functions=0 "$T/bare.ev"
	same "the first and the last are those of the stream" \
	    "$(sed -n 's/^H \(D1\|LL\) \([0-9]*\),.*/\2/p' "$T/true.ev" |
	    tr '\n' ' ')" "$(sed -n 's/^cache L[^ ]* //p' "$T/out" |
	    sed -n '1p;$p' | sed 's/ .*//' | tr '\n' ' ')"
else
	skip "the machine's caches" "no trace"
fi

# what it refuses
"$TB/caches" filter 64 64 4 "$T/in.ev" >"$T/cache.ev"
for kind in cache blocks counts; do
	sed "s/^H kind .*/H kind $kind/" "$T/ls.ev" >"$T/kind.ev"
	[ $kind = cache ] && cp "$T/cache.ev" "$T/kind.ev"
	status 2 "kind $kind" "$R" "$T/kind.ev"
	grep -q "kind $kind.*each reference with its address" "$T/err"
	ok "is refused by name" $?
done
for bad in --line=48 --line=4 --sample=0 --sample=2 --sample=x --sizes= \
    --sizes=1,x --refs=all --interval=0 --costs=0 --nonsense; do
	status 2 "$bad" "$R" "$bad" "$T/page.ev"
	same "in a line or with the usage" 1 "$(grep -c '^reuse: \|^usage: ' \
	    "$T/err")"
done
status 2 "-t with many sizes" "$R" -t --costs=1k,2k,3k,4k,5k,6k,7k,8k,9k \
    "$T/page.ev"
head -n 7 "$T/page.ev" >"$T/cut.ev"
status 2 "a cut stream" "$R" "$T/cut.ev"
same "is told so far, without the end" "curve 64 1 3 1.000000;curve 128 2 2 0.666667;" \
    "$(grep '^curve\|^end' "$T/out" | tr '\n' ';')"
done_testing
