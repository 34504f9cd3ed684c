#!/bin/sh
# Kinds, options and ends of trace that no other test has together, by chance,
# on threads that check what they get (t/src/crowd.c): the program shall see
# nothing of it, and readers take the stream.
#
#	SEED=N	the choices of another run	[1]
#	ROUNDS=N				[40]
#
# What fails names its command.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
${CC:-gcc} -O1 -pthread -o "$T/crowd" t/src/crowd.c || exit 99

seed=${SEED:-1}
# pick N: a number below N, in $n
pick() {
	seed=$(((seed * 1103515245 + 12345) % 2147483648))
	n=$((seed / 65536 % $1))
}
# choose WORD...: one of them, in $word
choose() {
	pick $#
	shift $n
	word=$1
}
# perhaps N OPTION...: in one of N rounds, one of these
perhaps() {
	pick "$1"
	shift
	[ "$n" -eq 0 ] || return 0
	choose "$@"
	options="$options $word"
}

# command: what this round does, in $kind, $options, $tasks and $attach
command() {
	options='' attach=''
	choose all blocks cache branches counts none
	kind=$word
	choose cn ct cwj tfa wjp ffc cccc acp ntj fwp tcpa jfaw
	tasks=$word
	choose 300 600
	tasks="$tasks $word"
	choose "" "" 300 2000 20000
	tasks="$tasks $word"
	perhaps 4 --debug=nolink --debug=tinycache --debug=nosuper \
	    --debug=long --debug=watch --debug=fewids
	pick 3
	[ "$n" -ne 0 ] || attach=1
	if [ -z "$attach" ]; then
		perhaps 3 "--store=$T/store" --aslr --vdso=no --cpu=v3 -f
	fi
	case $kind in
	none) return ;;
	all | blocks)	# all of it would be a gigabyte
		choose --for=1 --for=50000 --for=700000 --last=50k
		options="$options $word"
		[ "$word" = --last=50k ] || perhaps 3 --syscall-times
		;;
	counts) perhaps 3 -i20000 --contexts --contexts=200 ;;
	cache) perhaps 3 --contexts --contexts=200 ;;
	esac
	case $options in
	*--for* | *--last*) ;;
	*) perhaps 3 --for=1 --for=50000 --for=700000 --for=3M ;;
	esac
	perhaps 4 --after=1 --after=100000 --after=600000
	perhaps 5 --from=mix --from=handler --to=triple
	perhaps 6 --allocs
}

# read_back FILE: a reader of the kind takes the stream; what it says, and its
# status if it failed, in $T/read.err.  Not what cachesim says of this machine's
# last level, if its sets are no power of two.
read_back() {
	case $kind,$options in
	none,*) : ;;
	counts,*--contexts*) "$B/callgraph" "$1" ;;
	cache,*--contexts*) "$B/cachesim" -t "$1" | "$B/callgraph" ;;
	cache,*) "$B/cachesim" "$1" ;;
	branches,*) "$B/branchsim" "$1" ;;
	all,*) "$B/plain" "$1" ;;
	*) "$B/icount" "$1" ;;
	esac >"$T/read" 2>"$T/said" || echo "status $?" >>"$T/said"
	grep -v "the LL cache of .* is simulated as" "$T/said" >"$T/read.err"
}

# started: trace starts the program
started() {
	timeout -k 5 120 "$B/trace" -e $kind $options -o "$T/ev.%p" \
	    "$T/crowd" $tasks >"$T/out" 2>"$T/err"
	same "$what: the program's status" 3 $?
}

# attached: trace comes and goes
attached() {
	"$T/crowd" $tasks >"$T/out" &
	pid=$!
	for i in $(seq 100); do
		grep -q ready "$T/out" && break
		sleep 0.05
	done
	# SIGINT is ignored behind "&", and timeout(1) may leave it so, or leave
	# its child, if the signal comes when that has just begun
	env --default-signal=INT "$B/trace" -e $kind $options -p $pid \
	    -o "$T/ev.%p" 2>"$T/err" &
	tracer=$!
	perl -e 'sleep 60; kill 9, shift' $tracer &
	killer=$!
	choose 0 0.03 0.1 0.3
	sleep "$word"
	kill -INT $tracer 2>/dev/null
	wait $tracer
	kill $killer
	wait $pid
	same "$what: the program's status" 3 $?
}

for round in $(seq "${ROUNDS:-40}"); do
	command
	what="$round: -e $kind$options${attach:+ -p}, crowd $tasks"
	rm -f "$T"/ev.*
	if [ -n "$attach" ]; then
		attached
	else
		started
	fi
	same "nothing was wrong" "ready 0 wrong" \
	    "$(tr '\n' ' ' <"$T/out" | sed 's/ $//')"
	same "trace found nothing amiss" "" "$(grep -E 'inside|trace.s; ' \
	    "$T/err")"
	for f in "$T"/ev.*; do
		[ -e "$f" ] || continue
		read_back "$f"
		same "the stream is read" "" "$(cat "$T/read.err")"
	done
done
done_testing
