#!/bin/sh
# the lines of kind calls: what the reader of event text takes and refuses

. t/lib.sh

E=$TB/ev

sed -n '/^.Ss Entries and exits/,/^.Sh/p' man/events.5 |
    sed -n '/^H quern-events/,/^E exit/p' >"$T/page.ev"
same "the page has an example" 11 "$(wc -l <"$T/page.ev" | tr -d ' ')"
check "it is read" "$E" copy "$T/page.ev"
samefile "all of it" "$T/page.ev" "$T/out"

# line TEXT MESSAGE LINE: LINE in a stream of its own; - is no message
line() {
	printf '%s\n' "H quern-events 1" "H kind calls" "$3" >"$T/l.ev"
	case $3 in
	[NXV]*) echo "E exit 0 1" ;;
	*) echo "E exit 0 0" ;;
	esac >>"$T/l.ev"
	if [ "$2" = - ]; then
		check "$1" "$E" copy "$T/l.ev"
		samefile "$1: the same" "$T/l.ev" "$T/out"
	else
		status 2 "$1" "$E" copy "$T/l.ev"
		same "$1: message" "ev: $T/l.ev:3: $2" "$(cat "$T/err")"
	fi
}

line "an entry" - "N fffffff ffffffffffffffff"
line "an entry without its tick" "N: a field is missing" "N 1"
line "an entry with more" "N: \` 3' behind the last field" "N 1 2 3"
line "a thread's process" - "T 5 6"
line "a thread with more" "T: \` 7' behind the last field" "T 5 6 7"
line "an event" - 'D 1f a \000 b'
line "an event without text" - "D 1f"
line "an event with a type" - "D 1f:ffff text"
line "an event that goes on" - "D . text"
line "an event without a tick" "D: not a number at \`text'" "D text"
line "an event without its type" "D: not a number at \`1: text'" "D 1: text"
line "an event, malformed" "D: malformed text" 'D 1 \08'
line "a name" - "G 1 5555 work(int, char)"
line "a name without address" - "G 1 . work"
line "a name alone" "G: not a number at \`work'" "G 1 work"
line "a wall clock before its epoch" - "L -5 -1"
line "a wall clock" "L: not a number at \`+5 0'" "L +5 0"
line "a log" - "F 5 1 3 18446744073709551615 0 0 name"
line "a log without a name" "F: a field is missing" "F 5 1 3 1000 0 0"
line "a processor" - "S 1 2"
line "a clock" - "J 1"
line "something lost" - "R 1 2 why"

printf '%s\n' "H quern-events 1" "H kind calls" "N 1 1" "X 1 2" "E exit 0 1" \
    >"$T/n.ev"
status 2 "a wrong count" "$E" copy "$T/n.ev"
same "a wrong count: message" "ev: $T/n.ev:5: the end mark counts 1 executions, but 2 were told" \
    "$(cat "$T/err")"

done_testing
