#!/bin/sh
# As many pieces of code as there are ids, and programs of very much code.
# Those that are not here are skipped; BROWSER=1 runs chromium, too.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
CC=${CC:-gcc}
LIMIT=900

$CC -O1 -o "$T/many" t/src/many.c || exit 99
status 125 "17 million pieces of code" "$B/trace" -e counts -o "$T/ev" \
    "$T/many" 17000000
same "the program goes on" 17000000 "$(cat "$T/out")"
same "with a message" 1 "$(grep -c 'different pieces' "$T/err")"
# how often main's loop is told depends on its fragment: instructions do not
"$B/icount" "$T/ev" 2>"$T/err" | awk '/^[0-9+]/ { n += $2 }
    $1 == "+2" && $2 == 1 { once++ }
    END { print "I " n; print once >"'"$T/once"'" }' >"$T/sum"
same "its end is missing" 1 "$(grep -c 'truncated after' "$T/err")"
same "all that was counted is told" "$(tail -n 1 "$T/ev")" "$(cat "$T/sum")"
ok "each piece once" $(($(cat "$T/once") < 16600000))
rm -f "$T/ev"

# large KIND TEXT PROGRAM ARGUMENT...: as natively, and the stream is whole
large() {
	kind=$1 text="$2, $1"
	shift 2
	if ! command -v "$1" >/dev/null 2>&1; then
		skip "$text" "no $1"
		return
	fi
	run "$@"
	mv "$T/out" "$T/native"
	timeout -k 5 "$LIMIT" "$B/trace" -e "$kind" --stdout="$T/traced" "$@" \
	    2>"$T/err" | tail -n 1 >"$T/last"
	samefile "$text: output" "$T/native" "$T/traced"
	same "$text: the end" "E exit 0" "$(sed 's/ [0-9]*$//' "$T/last")"
}

# a source that takes rustc most of what it has
for i in $(seq 12); do
	cat <<EOF
#[derive(Debug, Clone, PartialEq)]
pub enum E$i { A(u64), B(String), C(Vec<E$i>) }
impl E$i {
    pub fn value(&self) -> u64 { match self {
	E$i::A(n) => n.wrapping_mul($i),
	E$i::B(s) => s.bytes().map(u64::from).sum(),
	E$i::C(v) => v.iter().map(|e| e.value()).fold($i, |a, b| a ^ b) } }
    pub fn parse(s: &str) -> Result<E$i, String> {
	if let Ok(n) = s.parse::<u64>() { return Ok(E$i::A(n)); }
	if s.contains(',') {
	    let v: Result<Vec<_>, _> = s.split(',').map(E$i::parse).collect();
	    return v.map(E$i::C); }
	if s.is_empty() { Err(format!("empty {:?}", s)) }
	else { Ok(E$i::B(s.to_string())) } }
}
EOF
done >"$T/large.rs"
{
	echo 'fn main() {'
	for i in $(seq 12); do
		echo "println!(\"{:?} {}\", E$i::parse(\"1,x\"),"
		echo "    E$i::parse(\"2,y\").map_or(0, |e| e.value()));"
	done
	echo '}'
} >>"$T/large.rs"
for kind in counts cache; do
	large $kind rustc rustc -O -o "$T/large" "$T/large.rs"
done

HOME=$T
export HOME
# a browser's start depends on the machine's network and sessions: on request
[ -z "${BROWSER:-}" ] || large counts chromium chromium --headless --no-sandbox --disable-gpu \
    --dump-dom 'data:text/html,<p>text</p>'
done_testing
