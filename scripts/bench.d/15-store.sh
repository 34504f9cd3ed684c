# The second run: translations kept on disk (trace --store), where a short run's
# time goes into them. All code is there; `none' and `counts' are kinds.

short() {
	title "$1, with its translations kept"
	shift
	for kind in none counts; do
		untimed "rm -rf store.$kind; for i in 1 2 3; do $B/trace \
		    -e $kind -o /dev/null --store=store.$kind $* || exit; done"
	done
	lane native "$*"
	lane "none, stored" "$B/trace -e none -o /dev/null \
	    --store=store.none $*"
	lane "counts, stored" "$B/trace -e counts -o /dev/null \
	    --store=store.counts $*"
	lane "none" "$B/trace -e none -o /dev/null $*"
	lane "counts" "$B/trace -e counts -o /dev/null $*"
	go native
}

short "true" /bin/true
has perl && short "perl's start" "$(command -v perl)" -e 1
has "$(python)" && short "python3's start" "$(python)" -S -c pass
if workload cc1; then
	short "cc1" $run
fi
