#!/bin/sh
# damaged streams: simulators and plain end in order, with 0 or 2
# or 2

. t/lib.sh

cat >"$T/damage.pl" <<'END'
# damage SEED <in >out: some bytes changed, lost, doubled, lines swapped
srand shift;
my @l = <STDIN>;
for (1 .. 1 + rand 4) {
	my $n = int rand @l;
	my $at = int rand length $l[$n];
	my $how = int rand 6;
	if ($how == 0) {
		substr $l[$n], $at, 1, substr "0123456789abcdef+-.* >@rwmCJLIXRSBPQTHMOEWAFVN\n",
		    int rand 45, 1;
	} elsif ($how == 1) {
		substr $l[$n], $at, 1, "";
	} elsif ($how == 2) {
		substr $l[$n], $at, 0, substr $l[$n], $at, 1 + rand 5;
	} elsif ($how == 3) {
		splice @l, $n, 1;
	} elsif ($how == 4) {
		splice @l, int rand @l, 0, $l[$n];
	} else {
		@l[$n, $n - 1] = @l[$n - 1, $n];
	}
}
print @l;
END

sed -n '/^.Sh EXAMPLES/,$p' man/events.5 |
    sed -n '/^H quern-events/,/^E exit/p' | sed 's/^\\&//' |
    sed -e ':a' -e '/\\e$/{N;s/\\e\n//;ba' -e '}' >"$T/page.ev"
"$TB/caches" gen 3 300 >"$T/random.ev"
"$TB/caches" filter 64 64 4 "$T/random.ev" >"$T/cache.ev"
"$B/plain" "$T/page.ev" >"$T/lines"
[ -s "$T/page.ev" ] && [ -s "$T/lines" ] && [ -s "$T/cache.ev" ]
ok "streams to damage" $?
small="--I1=4096,2,64 --D1=4096,1,64 --LL=65536,4,64"

damaged() { # file program...
	from=$1
	shift
	bad=
	for seed in $(seq 40); do
		perl "$T/damage.pl" $seed <"$from" >"$T/in"
		timeout -k 5 20 "$@" <"$T/in" >"$T/out" 2>"$T/err"
		case $? in
		0) ;;
		2) [ "$(grep -c . "$T/err")" -eq 1 ] || bad="$bad $seed" ;;
		*) bad="$bad $seed" ;;
		esac
	done
	same "$(basename "$from"): $(basename "$1") $2" "" "$bad"
}

for f in page random cache; do
	damaged "$T/$f.ev" "$B/cachesim" $small
	damaged "$T/$f.ev" "$B/cachesim" -t $small
	damaged "$T/$f.ev" "$B/branchsim" --rep=each
	damaged "$T/$f.ev" "$B/branchsim" -t
	damaged "$T/$f.ev" "$B/plain"
	damaged "$T/$f.ev" "$B/mix" --by=width
	damaged "$T/$f.ev" "$B/reuse" --refs=both
	damaged "$T/$f.ev" "$B/reuse" -t --costs=64,1k
done
damaged "$T/lines" "$B/plain" -r
# calling contexts
cp t/fuzz/corpus/ev/contexts t/fuzz/corpus/ev/frames "$T"
damaged "$T/frames" "$B/cachesim" $small
damaged "$T/frames" "$B/cachesim" -t $small
damaged "$T/frames" "$TB/ev" copy
damaged "$T/frames" "$B/plain" -s
damaged "$T/frames" "$B/icount" --rep=each
damaged "$T/contexts" "$B/bbv"
damaged "$T/contexts" "$B/icount" --rep=each
damaged "$T/contexts" "$B/icount" -i
damaged "$T/contexts" "$B/plain" -s
for f in contexts frames; do
	damaged "$T/$f" "$B/callgraph" --contexts
	damaged "$T/$f" "$B/callgraph"
done
damaged "$T/contexts" "$B/callgraph" --separate-threads
damaged "$T/contexts" "$TB/ev" copy
done_testing
