# runtimes: programs that compile at run time, in steady state
#
# Their code lies in memory that can be written.  The same work natively, with
# nothing recorded, counted, and in kind all; the longer it takes the less their
# start matters.

cat >"$W/map.js" <<'E2'
let s = 0;
for (let r = 0; r < 6000; r++) {
	const m = new Map();
	for (let i = 0; i < 20000; i++) {
		const k = (i * 7919 + r) % 509;
		m.set(k, (m.get(k) || 0) + i);
	}
	for (const v of m.values())
		s += v;
}
console.log(s);
E2
cp "$here/../t/src/Sums.java" "$W"

# runtime NAME COMMAND
runtime() {
	title "$1: code made at run time"
	lane native "$2"
	lane "trace -e none" "$B/trace -e none $2"
	lane "trace -e counts" "$B/trace -e counts -o /dev/null $2"
	lane "trace -e all" "$B/trace -o /dev/null $2"
	go native
}

has node && runtime node "node map.js"
has java javac && untimed "javac -d . Sums.java" &&
    runtime java "java -cp . Sums 100000"
