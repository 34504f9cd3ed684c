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
	pipeline "$2" "$out" <"$W/fifo" 2>"$W/said" &
	child=$!
	exec 8>"$W/fifo"
	# shellcheck disable=SC2034	# used in eval
	(trace=${pre}trace kind=$events
	exec 8>&-
	cd "$4" || exit 125
	eval "exec \"\$trace\" -e \$kind -o \"\$W/fifo\" --vdso=no \
	    --cpu=\"\$cpu\" --clear-env=\"\$env\" -- $3") \
	    </dev/null >"$log" 2>&1
	status=$?
	exec 8>&-
	wait "$child"
	formed=$?
	child=
	[ ! -s "$W/said" ] || cat "$W/said" >>"$log"
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
