# XRay logs: two million entries and exits, four threads, to events; and what
# follows on that. llvm-xray convert is what others start with.

log=two-million.xray
if has fmt-xray read-xray account llvm-xray &&
    { [ -s "$W/$log" ] || untimed "awk '
	BEGIN {
		print \"H quern-events 1\\nH kind calls\"
		print \"F 5 1 3 2596120000 16384 0 made\"
		srand(1)
		for (b = 0; b < 1000; b++) {
			printf \"T %d 99\\nL %d %d\\n\", 100 + b % 4, b / 100, b % 100
			n = 0
			t = 1000000 + 100000 * b
			printf \"S %d %x\\n\", b % 4, t
			while (n < 2000) {
				id = 1 + int(rand() * 50)
				t += int(rand() * 40)
				printf \"N %x %x\\n\", id, t
				t += int(rand() * 40)
				printf \"N %x %x\\n\", id + 50, t
				t += int(rand() * 40)
				printf \"X %x %x\\n\", id + 50, t
				t += int(rand() * 40)
				printf \"X %x %x\\n\", id, t
				n += 4
			}
		}
		print \"E exit 0 2000000\"
	}' | $B/fmt-xray -o $log"; }; then
	title "xray: two million records"
	lane "llvm-xray convert" "llvm-xray convert -f yaml $log"
	lane "read-xray" "$B/read-xray $log"
	lane "read-xray | fmt-xray" "$B/read-xray $log | $B/fmt-xray"
	go "llvm-xray convert"
	# one buffer a thread, as llvm-xray shuffles more than 16
	untimed "$B/read-xray $log | $B/fmt-xray -j -o joined.xray"
	title "xray: durations of a million calls"
	lane "llvm-xray account" "llvm-xray account joined.xray"
	lane "read-xray | account" "$B/read-xray $log | $B/account"
	go "llvm-xray account"
fi
