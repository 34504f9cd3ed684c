#!/bin/sh
# the rounds of repeated string instructions are told by all kinds, to the last
# one, also where faults interrupt the instructions

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
${CC:-gcc} -O1 -g -no-pie -o "$T/rounds" t/fix/rounds.c || exit 99
nm "$T/rounds" | sed -n 's/ t rep_/ /p' >"$T/places"
same "the program has its instructions" 7 "$(wc -l <"$T/places" | tr -d ' ')"

# costs OPTION...: of the last stream, "hex Ir" lines; no library is that large
costs() {
	"$B/icount" "$@" "$T/ev" >"$T/costs" || return 1
	sed '/^Invocation/d' "$T/costs" >"$T/same"
	perl -ne 'if (/^(0x|\+)(\S+) (\d+)$/) {
		$at = $1 eq "+" ? $at + $2 : hex $2;
		printf "%x %d\n", $at, $3; }' "$T/costs"
}

# rounds OPTION...: of each instruction, "name rounds", by differences of Ir: one
# that reads counts for its rounds and for each execution without any
rounds() {
	costs --rep=once >"$T/once" && costs --rep=each >"$T/each" || return 1
	perl -e '
	for $how ("once", "each") {
		open F, "$ARGV[0]/$how";
		while (<F>) { ($a, $ir) = split; $$how{$a} = $ir }
	}
	open F, "$ARGV[0]/places";
	while (<F>) {
		($a, $name) = split;
		$a =~ s/^0*//;
		$n{$name} = $name =~ /compare|scan|load/ ? $each{$a} :
		    $each{$a} - $once{$a};
	}
	print "$_ $n{$_}\n" for sort keys %n' "$T"
}

modes="counts cache blocks all counts.--debug=fewcounts
cache.--debug=fewcounts,tinycache counts.--debug=tinycache
blocks.--debug=long counts.-i9999 counts.--debug=nosuper"
[ -n "${ALL_MODES:-}" ] || modes=$(echo "$modes" | head -n 2)
for closed in "" closed; do
	"$T/rounds" $closed | awk '$1 ~ /com|scan|load/ { $2 += $3 }
	    { print $1, $2 }' | sort >"$T/truth"
	for m in $modes; do
		check "$m $closed: traced" "$B/trace" -e $(echo "$m" |
		    sed 's/\./ /g') -o "$T/ev" --clear-env "$T/rounds" $closed
		rounds >"$T/told"
		samefile "$m $closed: rounds" "$T/truth" "$T/told"
		case $m in
		counts | cache | blocks | all)
			cp "$T/same" "$T/by.$m" ;;
		esac
	done
	for m in counts cache blocks; do
		samefile "$m $closed: costs as of kind all" "$T/by.all" \
		    "$T/by.$m"
	done
	"$B/trace" -o "$T/ev" --clear-env "$T/rounds" $closed >"$T/o"
	"$B/trace" -e blocks -o "$T/blocks" --clear-env "$T/rounds" \
	    $closed >"$T/o"
	check "cachesim $closed" "$B/cachesim" --rep=each "$T/ev"
	same "cachesim $closed: Ir" \
	    "$(sed -n 's/^totals: //p' "$T/by.all")" \
	    "$(sed -n 's/^totals: \([0-9]*\).*/\1/p' "$T/out")"
	for p in "branchsim --rep=each" "callgraph --rep=each"; do
		"$B/"$p "$T/ev" >"$T/all.out"
		check "$p $closed" "$B/"$p "$T/blocks"
		samefile "$p $closed: of kind blocks as of kind all" \
		    "$T/all.out" "$T/out"
		same "$p $closed: Ir" "$(sed -n 's/^totals: //p' "$T/by.all")" \
		    "$(sed -n 's/^totals: \([0-9]*\).*/\1/p' "$T/out")"
	done
done

done_testing
