#!/bin/sh
# The references that the stream tells: against Lackey on random programs, line
# for line, and against what the manuals say on one instruction after another.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}

# Lackey repeats the instruction in each round of a repeated one, and tells a
# locked one as a load and a modification.
lackey() {
	valgrind --tool=lackey --trace-mem=yes --vex-iropt-level=0 \
	    --vex-guest-chase=no --log-file="$T/log" "$1" >/dev/null
	awk '!/^(I | [LSM])/ { next }
	/^I/ && $0 == last { next }
	/^I/ { last = $0 }
	/^ M/ && substr(held, 1, 2) == " L" && substr(held, 3) == substr($0, 3) {
		held = $0; next }
	{ if (held != "") print held; held = $0 }
	END { print held }' "$T/log"
}

for seed in 1 2 3 4; do
	if ! command -v valgrind >/dev/null 2>&1; then
		skip "seed $seed" "no valgrind"
		continue
	fi
	"$TB/rndasm" -b $seed 40 >"$T/p.S" &&
	    $CC -static -nostdlib -o "$T/p" "$T/p.S"
	lackey "$T/p" >"$T/expected"
	timeout -k 5 60 "$B/trace" -o "$T/ev" "$T/p" >/dev/null
	"$B/plain" -o "$T/told" "$T/ev"
	samefile "seed $seed: as Lackey has it" "$T/expected" "$T/told"
done

# Names for places: D data, K stack, R constants.
named() {
	"$B/plain" "$1" | awk -v d="$2" -v k="$3" '
	function num(s,  i, n) {
		for (i = 1; i <= length(s); i++)
			n = n * 16 + index("0123456789abcdef", substr(s, i, 1)) - 1
		return n
	}
	BEGIN { data = num(d); stack = num(k) }
	/^I/ { split($2, f, ","); pc = f[1]; next }
	{
		split($2, f, ",")
		a = num(f[1])
		if (a >= data && a < data + 4096)
			p = sprintf("D+%x", a - data)
		else if (a >= stack && a < stack + 4096)
			p = sprintf("K+%x", a - stack)
		else
			p = "R"
		if (pc != old && old != "")
			printf "\n"
		printf "%s%s %s %s", pc == old ? " " : "", $1, p, f[2]
		old = pc
	}
	END { printf "\n" }'
}

cp t/fix/refs.S "$T/refs.S"
if ! grep -q avx512bw /proc/cpuinfo; then
	sed -i '/AVX-512 below/,/kmovw.*\[/d' "$T/refs.S"
fi
$CC -static -nostdlib -o "$T/refs" "$T/refs.S"
address() {
	nm "$T/refs" | sed -n "s/^0*\([0-9a-f]*\) . $1\$/\1/p"
}
# What is called stands below the call in the source: in order of execution.
sed -n 's/.*#: \([LSM] .*\)/\1/p' "$T/refs.S" >"$T/in-source"
awk '/^L D\+28 8 S K/ { print; print "L K+f8 8"; next }
/^L D\+28 8$/ { print; skip = 1; next }
skip { skip = 0; next }
{ print }' "$T/in-source" >"$T/expected"
for kind in all "all --debug=nosuper" "all --debug=tinycache" "all --debug=long"; do
	timeout -k 5 60 "$B/trace" -e $kind -o "$T/ev" "$T/refs"
	named "$T/ev" "$(address data)" "$(address stack)" >"$T/told"
	samefile "one after another, $kind" "$T/expected" "$T/told"
done
done_testing
