#!/bin/sh
# The instructions that the stream tells are those that ran, to the last one:
# held to single-stepping on small programs, without a libc (fixed and PIE) and
# with one. Some of them in two kinds here; all, in every kind and mode, in t/long.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"

# Nothing of ours in the programs' environment or on their stack.
clean() {
	env -i PATH=/usr/bin:/bin timeout -k 5 60 "$@" >"$T/stdout" 2>"$T/stderr"
}

# told PROGRAM OPTION...: the stream's count
told() {
	prog=$1
	shift
	clean "$B/trace" "$@" -o "$T/ev" "$prog"
	"$TB/evcount" $pcs "$T/ev" 2>&1
}

modes="-e.all -e.counts"
[ -z "${ALL_MODES:-}" ] || modes="-e.all -e.blocks -e.counts -e.all.--debug=nolink
-e.all.--debug=tinycache -e.all.--debug=nosuper
-e.all.--debug=long -e.blocks.--debug=long,tinycache
-e.counts.--debug=fewcounts -e.cache.--debug=fewcounts
-e.counts.--debug=long -e.counts.--debug=long,tinycache
-e.branches -e.branches.--debug=fewcounts -e.branches.--debug=long"
words() {
	echo "$1" | sed 's/-e\./-e /; s/\.--/ --/'
}

for v in "$TB"/victim/exact-* "$TB"/victim/count-*; do
	name=${v##*/}
	case $name in
	exact-mix|exact-calls|exact-rep|exact-fault) ;;
	*)	[ -n "${ALL_MODES:-}" ] || continue ;;
	esac
	pcs=
	case $name in
	exact-big*)
		steps=$(sed -n 's/^ \* count: //p' t/victim/exact-big.S) ;;
	exact-timer*)
		continue ;;
	*)
		clean "$TB/stepcount" -o "$T/steps" "$v"
		steps=$(cat "$T/steps") ;;
	esac
	for m in $modes; do
		same "$name $(words $m)" "$steps" "$(told "$v" $(words $m))"
	done
done

# Where there is a difference, this says where: address by address.
v=$TB/victim/exact-mix
pcs=-p
clean "$TB/stepcount" -p -o "$T/steps" "$v"
told "$v" >"$T/told"
samefile "every address by itself" "$T/steps" "$T/told"

# Under a timer: four instructions for each run of its handler.
pcs=
for v in "$TB"/victim/exact-timer*; do
	for m in $modes; do
		clean "$B/trace" $(words $m) -o "$T/ev" "$v" off
		base=$("$TB/evcount" "$T/ev")
		got=$(told "$v" $(words $m))
		ticks=$(cat "$T/stdout")
		same "${v##*/} $(words $m), $ticks times" \
		    "$((base + 4 * 0x$ticks))" "$got"
	done
done
done_testing
