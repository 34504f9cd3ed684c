# The second run: translations kept on disk (trace --store), where a short run's
# time goes into them. All code is there; the names of lanes are kinds. Runs of
# some ms are timed twenty at a time.

# short TEXT TIMES PROGRAM...
short() {
	title "$1, with its translations kept, $2 at a time"
	again="for i in \$(seq $2); do"
	shift 2
	lane native "$again $* || exit; done"
	for kind in none counts all cache; do
		untimed "rm -rf store.$kind; for i in 1 2 3; do $B/trace \
		    -e $kind -o /dev/null --store=store.$kind $* || exit; done"
		lane "$kind, stored" "$again $B/trace -e $kind -o /dev/null \
		    --store=store.$kind $* || exit; done"
		lane "$kind" "$again $B/trace -e $kind -o /dev/null $* || exit; done"
	done
	go native
}

short "true" 20 /bin/true
has perl && short "perl's start" 20 "$(command -v perl)" -e 1
has "$(python)" && short "python3's start" 20 "$(python)" -S -c pass
if workload cc1; then
	short "cc1" 1 $run
fi
