# The second run: translations kept on disk (trace --store), where a short run's
# time goes into them. All code is there; the names of lanes are kinds.

short() {
	title "$1, with its translations kept"
	shift
	lane native "$*"
	for kind in none counts all cache; do
		untimed "rm -rf store.$kind; for i in 1 2 3; do $B/trace \
		    -e $kind -o /dev/null --store=store.$kind $* || exit; done"
		lane "$kind, stored" "$B/trace -e $kind -o /dev/null \
		    --store=store.$kind $*"
		lane "$kind" "$B/trace -e $kind -o /dev/null $*"
	done
	go native
}

short "true" /bin/true
has perl && short "perl's start" "$(command -v perl)" -e 1
has "$(python)" && short "python3's start" "$(python)" -S -c pass
if workload cc1; then
	short "cc1" $run
fi
