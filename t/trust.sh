# trust.sh - programs that lie to trace, for the tests of that
#
#	. t/lib.sh
#	. t/trust.sh
#	check "text" build_lies
#	lies "OPTION ..." "$T/hostile" what	under trace: its status
#	is_sane STATUS			says what is wrong with how that went

build_lies() {
	"${CC:-gcc}" -std=gnu11 -O1 -Icmd/trace -D_GNU_SOURCE \
	    -o "$T/hostile" t/src/hostile.c &&
	    "${CC:-gcc}" -std=gnu11 -O1 -D_GNU_SOURCE -o "$T/scribble" \
	    t/src/scribble.c -lpthread
}

# what they say is in $T/out and $T/err, the stream $T/lie.ev
lies() {
	how=$1
	shift
	rm -f "$T/lie.ev"
	# shellcheck disable=SC2086
	run "$B/trace" $how -o "$T/lie.ev" "$@"
}

# is_sane STATUS: whatever the program did, trace ended as it says: by its own
# will, with 125 and no stream, or as the program ended, with a whole one
is_sane() {
	end=
	! grep -q -e Sanitizer -e 'runtime error' "$T/err" || {
		echo "a sanitizer's report"
		return
	}
	[ ! -e "$T/lie.ev" ] || end=$(tail -n 1 "$T/lie.ev" | cut -d' ' -f1-3)
	case $1,$end in
	125,) ;;
	*,"E exit $1" | *,"E signal $(($1 - 128))") ;;
	*)
		echo "status $1, stream: ${end:-none}"
		return ;;
	esac
	[ -z "$end" ] || reads "$T/lie.ev" >/dev/null 2>"$T/reader" ||
	    cat "$T/reader"
}

reads() {
	case $(head -n 10 "$1" | grep -a '^H kind') in
	*counts | *blocks | *branches) "$TB/evcount" "$1" ;;
	*) "$B/cachesim" -o "$T/lie.costs" "$1" ;;
	esac
}
