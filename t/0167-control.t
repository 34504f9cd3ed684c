#!/bin/sh
# trace --control: commands by a FIFO, while the program runs

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
. t/server.sh
cd "$T" || exit 99

# say COMMAND: into the FIFO, which trace has open to read
say() {
	timeout 60 sh -c 'printf "%s\n" "$1" >"$2"' sh "$1" "$ctl"
}

# obeyed: all commands so far
nth=0
obeyed() {
	nth=$((nth + 1))
	say "status $T/st$nth"
	there "st$nth"
}

# begin TRACE-OPTION... -- PROGRAM...: in the background
begin() {
	rm -f in answers out out.*
	mkfifo in
	"$B/trace" --client-requests --control=ctl "$@" <in >answers 2>said &
	pid=$!
	exec 5>in
	ctl=ctl
	check "the FIFO is there" there ctl
}

end() {
	exec 5>&-
	wait $pid
	same "its status" 0 $?
	same "nothing is left" "" "$(ls -d ctl* 2>/dev/null)"
}

# calls FILE: how often main called work
calls() {
	awk '/^cfn=.* work$/ { getline; print $1 }' "$1"
}

total() {
	sed -n 's/^totals: //p' "$1"
}

pipe="|'$B/callgraph' | '$B/fmt-callgrind' --parts=callgrind -o out"
for kind in "counts --contexts" blocks; do
	begin -e $kind -o "$pipe" ./server
	check "$kind: answers" asked a
	say "dump the first part"
	check "a part is written while it runs" there out.1
	check "with its reason" grep -q '^desc: Trigger.*: the first part$' out.1
	first=$(total out.1)
	check "and all that it did" test "$first" -gt 400000
	same "its call among it" "calls=1" "$(calls out.1)"
	asked b
	say "zero"
	obeyed
	asked c
	say "dump"
	check "another part" there out.2
	check "is what was executed since zero" test "$(total out.2)" -lt \
	    700000 -a "$(total out.2)" -gt 400000
	say "off"
	check "off" obeyed
	same "is told" "telling: no threads: 1" "$(echo $(cat st$nth))"
	asked d
	say "on"
	obeyed
	same "on, too" "telling: yes threads: 1" "$(echo $(cat st$nth))"
	end
	check "the last part has what was told" test "$(total out)" -lt 20000
	same "nothing is said" "" "$(cat said)"
done

# --- a thread that runs on and on is stopped, too
for kind in "counts --contexts" counts cache blocks all; do
	case $kind in
	counts*) does=runs ;;
	*) does=sleeps ;;
	esac
	begin -e $kind -o ev ./server $does
	asked a
	obeyed
	same "$kind: threads" "telling: yes threads: 2" "$(echo $(cat st$nth))"
	say "off"
	obeyed
	asked b
	say "on"
	obeyed
	asked c
	say "dump"
	obeyed
	end
	same "marks" "J off J cold J dump" "$(echo $(grep '^J' ev))"
	check "$kind: the stream is whole" grep -q '^E exit 0 ' ev
	check "and read" sh -c "'$B/callgraph' ev >costs 2>err || '$B/icount' \
	    ev >costs"
done

# --- what is no command
begin -e counts -o ev ./server
{ echo; echo; printf 'off now\nstatus here\n\033[mx\n'
    head -c 9000 /dev/zero | tr '\0' x; echo; echo dump; } >ctl
obeyed
end
same "is named" "trace: --control: \`off now': on, off, dump [TEXT], zero or \
status /FILE
trace: --control: \`status here': on, off, dump [TEXT], zero or status /FILE
trace: --control: \`\\033[mx': on, off, dump [TEXT], zero or status /FILE" \
    "$(cat said)"
same "the others are obeyed" "J dump" "$(grep '^J' ev)"

# --- one FIFO for each process, and image
rm -f in answers
mkfifo in
"$B/trace" --client-requests -f -e counts -o ev.%p --control=ctl.%p ./server \
    <in >answers 2>said &
pid=$!
exec 5>in
asked f
same "a child has a FIFO" 2 "$(ls ctl.* | wc -l)"
for ctl in ctl.*; do
	say "dump $ctl"
	check "by which it obeys" obeyed
done
end
same "each stream has its mark" 2 "$(grep -l '^J dump' ev.* | wc -l)"
begin -e counts --exec=new -o "|cat >image.ev" ./server exec ./server
asked a
say dump
obeyed
end
check "the new image obeys" grep -q '^J dump' image.ev

begin -e counts --exec=no -o ev ./server exec ./server
asked a
say on
obeyed
end
same "an image that runs natively is named" "trace: --control: on: the process \
executed a program that runs natively" "$(cat said)"

# --- names that are there
mkfifo ctl
begin -e counts -o ev ./server
asked a
check "one that was left" obeyed
end
echo kept >ctl
rm -f ev
status 125 "a file" "$B/trace" --client-requests --control=ctl -e counts \
    -o ev ./server </dev/null
same "is told" "trace: --control: ctl is there, and is no FIFO" "$(cat err)"
same "and stays" kept "$(cat ctl)"
check "the program did not run" test ! -e ev
rm ctl
for o in --control= "-o ''"; do
	eval "set -- $o"
	status 125 "$o" "$B/trace" --client-requests -e counts "$@" true
	same "is refused" "trace: ${1%=}: an empty name" "$(cat err)"
done

# --- what does not go together
refused() { # WHY OPTION...
	why=$1
	shift
	status 125 "$*" "$B/trace" --control=ctl -o ev "$@" ./server
	same "is refused" "trace: --control: $why" "$(cat err)"
}
refused "needs --client-requests"
refused "not with --last" --client-requests --last=64k
refused "kind none tells nothing" --client-requests -e none
refused "each process has a FIFO of its own: needs %p in the name with -f" \
    --client-requests -f -o ev.%p

done_testing
