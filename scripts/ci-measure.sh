# ci-measure.sh - how ci measures a program: a part of it, see scripts/ci
#
# shellcheck shell=sh disable=SC2154	# variables are those of ci

# pipeline KIND OUT: events from standard input to a profile
pipeline() {
	case $1 in
	counts) "${pre}icount" | "${pre}fmt-cachegrind" -o "$2" ;;
	branches) "${pre}branchsim" | "${pre}fmt-cachegrind" -o "$2" ;;
	calls) "${pre}callgraph" | "${pre}fmt-callgrind" -o "$2" ;;
	cache)
		# shellcheck disable=SC2086	# several options
		"${pre}cachesim" ${caches:-$usual} |
		    "${pre}fmt-cachegrind" -o "$2" ;;
	esac
}
usual='--I1=32768,8,64 --D1=32768,8,64 --LL=8388608,16,64'

# events KIND: sets what trace has to tell; its table suits the usual caches
events() {
	case $1,$caches in
	counts,*) events=counts ;;
	cache,) events=cache ;;
	cache,*) events=all ;;
	*) events=blocks ;;
	esac
}

# measure NAME KIND COMMAND FOLDER TO: run it in FOLDER, its profile is
# TO/NAME.out and its words are TO/NAME.log; else why is set
measure() {
	out=$5/$1.out log=$5/$1.log
	[ ! -e "$out" ] || rm -f "$out"
	events "$2"
	exec 7<>"$work/fifo"	# so that none waits for another to open it
	exec 6<"$work/fifo"
	exec 8>"$work/fifo" 7>&-
	(exec <&6 6<&- 8>&- 9<&-
	pipeline "$2" "$out") 2>"$work/said" &
	child=$!
	exec 6<&-
	(exec 8>&- 9<&-
	cd "$4" || exit 125
	run_listed "$3" "${pre}trace" -e "$events" -o "$work/fifo" --vdso=no \
	    --cpu="$cpu" --clear-env="$env") </dev/null >"$log" 2>&1 &
	traced=$!
	wait "$traced"
	status=$?
	exec 8>&-
	wait "$child"
	formed=$?
	child='' traced='' before=$!
	[ ! -s "$work/said" ] || cat "$work/said" >>"$log"
	if [ $status -ne 0 ]; then
		why="status $status: $3"
		# what trace itself says of its own status
		[ $status -ne 125 ] ||
		    why="$why$(sed -n 's/^[^ ]*trace: /: &/p' "$log" |
		        tail -n 1)"
	elif [ $formed -ne 0 ] || [ ! -f "$out" ]; then
		why="no profile: $(tail -n 1 "$log")"
	else
		why=
		return 0
	fi
	rm -f "$out"
	return 1
}

# repeat SIDE NAME KIND COMMAND FOLDER TO: measure it as often as --runs says;
# all profiles are $work/SIDE.1 and so on.  TO/NAME.out is that of the run with
# the least of the first event: a whole one, so that its costs belong together.
repeat() {
	side=$1 k=0 least=
	shift
	rm -f "$5/$1.spread"
	while [ $k -lt "$runs" ]; do
		k=$((k + 1))
		if ! measure "$@"; then
			[ "$runs" -eq 1 ] || why="run $k: $why"
			return
		fi
		[ "$runs" -gt 1 ] || return
		mv "$out" "$work/$side.$k" || lost
		mv "$log" "$work/$side.$k.log" || lost
		totals "$work/$side.$k" >"$work/totals"
		read -r _ n <"$work/totals"
		if [ -z "$least" ] || [ "$n" -lt "$least" ]; then
			least=$n best=$k
		fi
	done
	if ! { cp "$work/$side.$best" "$out" &&
	    cp "$work/$side.$best.log" "$log" &&
	    spread >"$work/spread" && cp "$work/spread" "$5/$1.spread"; }; then
		die "$5/$1.out: cannot be written"
	fi
}

# gather NAME KIND COMMAND: measure it, now and in the baseline's tree; why
# there is no profile is in $work/new and $work/old, a line, empty if there is
gather() {
	repeat new "$1" "$2" "$3" . "$dir"
	printf '%s\n' "$why" >"$work/new" || lost
	if [ -n "$why" ] || [ -z "$tree" ]; then
		return
	fi
	repeat old "$1" "$2" "$3" "$there" "$base"
	printf '%s\n' "$why" >"$work/old" || lost
}

# ----------------------------------------------------------------- runners

# runner: measure those programs of the list that no other runner has begun
runner() {
	child='' traced='' before=${!-}
	trap stop EXIT
	trap 'exit 2' HUP INT TERM
	# without it, we were to end before that trap was set
	[ -f "$W/programs" ] || exit 2
	while IFS='	' read -r name kind command <&9; do
		work=$W/$name.run
		if ! mkdir "$work" 2>/dev/null; then
			[ -d "$work" ] || lost
			continue
		fi
		mkfifo "$work/fifo" || exit 2
		gather "$name" "$kind" "$command"
	done 9<"$W/programs"
}

# stop: end what a runner has begun. trace passes the signal on; what goes on
# for a second is killed, and all that the program started.
# shellcheck disable=SC2317	# called by trap
stop() {
	trap '' HUP INT TERM
	exec 2>/dev/null	# some shells tell what was killed
	case ${!-},$child in	# it may be that one was about to be kept
	"$before",* | "$child",*) ;;
	*,) child=$! ;;
	*) traced=$! ;;
	esac
	if [ -n "$traced" ]; then
		kill "$traced"
		n=0
		while [ "$n" -lt 10 ] && kill -0 "$traced"; do
			sleep 0.1
			n=$((n + 1))
		done
		kill -KILL "-$traced" "$traced"
	fi
	if [ -n "$child" ]; then
		exec 6<&- 8>&-
		wait
		rm -f "$out"
	fi
}

# run_all: the programs of the list, $jobs at once
run_all() {
	find_session
	runners=' ' n=0
	while [ $n -lt "$jobs" ] && [ $n -lt "$nprogram" ]; do
		runner &
		runners="$runners$! "
		n=$((n + 1))
	done
	for r in $runners; do
		wait "$r"
		[ $? -ne 2 ] || exit 2
	done
	runners=
}

# totals PROFILE: "event count" of each; sets events to " event event... "
totals() {
	events=' ' total=
	while IFS=: read -r what words; do
		case $what in
		events) events="$words " ;;
		*) total=$words ;;
		esac
	done <<-END
		$(grep -E '^(events|summary|totals):' "$1")
	END
	# shellcheck disable=SC2086	# words
	set -- $total
	for e in $events; do
		printf '%s %s\n' "$e" "${1:-0}" || lost
		[ $# -eq 0 ] || shift
	done
}

# what a profile depends on beside the program
conditions() {
	printf '%s\n' "cpu $cpu" "caches ${caches:-$usual}" "environment $env"
}
