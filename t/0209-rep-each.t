#!/bin/sh
# trace --rep=each: repeated string instructions count as Valgrind has them, for
# all kinds, with and without contexts

. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
${CC:-gcc} -nostdlib -static -o "$T/strings" t/fix/strings.S || exit 99
nm "$T/strings" | sed -n 's/ T \(.*_.*_.*_\)/ \1/p' | sort >"$T/places"
same "the program has its instructions" 228 "$(wc -l <"$T/places" | tr -d ' ')"

# An instruction that moves or stores counts for each round and once for the
# test that finds the count used up, and so does one that compares, unless its
# condition ended it. lods is not repeated.
perl -ane '
	($name, $prefix, $count, $data) = split /_/, $F[1];
	$rounds = $count;
	$met = 0;
	if ($name =~ /cmps|scas/) {
		$differs = $data eq "third" ? 3 : $data eq "fifth" ? 5 : 99;
		$met = $prefix eq "repne" ? 1 : $differs;
		$rounds = $met if $met < $count;
	}
	$ir = $rounds + ($count == 0 || $rounds != $met);
	$ir = 1 if $prefix eq "no" || $name =~ /lods/;
	printf "%x %d\n", hex $F[0], $ir;
' "$T/places" | sort >"$T/truth"

# told TEXT OPTION...: icount of such a stream has the truth
told() {
	what=$1
	shift
	check "$what: traced" "$B/trace" --rep=each -o "$T/ev" "$@" \
	    "$T/strings"
	check "$what: icount" "$B/icount" --rep=each "$T/ev"
	perl -ne 'BEGIN {
		open F, shift;
		while (<F>) { ($at) = split; $is{$at} = 1; }
	}
	if (/^(0x|\+)(\S+) (\d+)$/) {
		$at = $1 eq "+" ? $at + $2 : hex $2;
		$x = sprintf "%x", $at;
		print "$x $3\n" if $is{$x};
	}' "$T/truth" "$T/out" | sort >"$T/got"
	samefile "$what: each instruction" "$T/truth" "$T/got"
}

for kind in counts cache branches blocks all; do
	told $kind -e $kind
	sed '/^Invocation/d' "$T/out" >"$T/out.$kind"
	samefile "$kind: as of kind counts" "$T/out.counts" "$T/out.$kind"
	told "$kind, bit by bit" -e $kind --debug=tinycache,nosuper
done
ir=$(sed -n 's/^totals: //p' "$T/out")
for kind in counts cache; do
	told "$kind with contexts" -e $kind --contexts
	check "$kind: callgraph" "$B/callgraph" --rep=each "$T/ev"
	same "$kind: its Ir" "$ir" "$(sed -n 's/^totals: //p' "$T/out")"
done
status 125 "kind none" "$B/trace" --rep=each -e none "$T/strings"

# Of two prefixes the last counts: repne ends at the first round, repe never.
cat >"$T/two.S" <<'EOF'
	.globl	_start
_start:	lea	zeros(%rip), %rdi
	xor	%eax, %eax
	mov	$3, %ecx
	.byte	0xf3, 0xf2, 0xae	# scasb
	lea	zeros(%rip), %rdi
	mov	$3, %ecx
	.byte	0xf2, 0xf3, 0xae
	mov	$60, %eax
	xor	%edi, %edi
	syscall
	.bss
zeros:	.skip	16
	.section .note.GNU-stack, "", @progbits
EOF
${CC:-gcc} -nostdlib -static -o "$T/two" "$T/two.S"
for kind in counts all branches; do
	"$B/trace" --rep=each -e $kind -o "$T/ev" "$T/two"
	same "two prefixes, $kind" "totals: 13" \
	    "$("$B/icount" --rep=each "$T/ev" | grep totals)"
done

# The program's flags and registers are its own
for v in ins-repcmp exact-rep; do
	check "$v is built" test -x "$TB/victim/$v"
	for o in "-e counts" "-e cache" "-e all" "-e counts --contexts"; do
		check "$v: $o" "$B/trace" --rep=each $o -o /dev/null \
		    "$TB/victim/$v"
	done
done

# ---- Valgrind's tools

if ! command -v valgrind >/dev/null; then
	skip "the same counts as Valgrind's tools" "no valgrind"
	done_testing
	exit
fi
exact="--vex-guest-chase=no --vex-iropt-level=0"
valgrind --tool=cachegrind $exact --cache-sim=yes --branch-sim=yes \
    --cachegrind-out-file="$T/theirs" "$T/strings" 2>"$T/log" ||
    { skip "Valgrind's tools" "no Cachegrind here"; done_testing; exit; }
# sums FILE EVENT...
sums() {
	awk -v names="$2" '/^events:/ { for (i = 2; i <= NF; i++) n[$i] = i }
	/^summary:/ {
		split(names, name, " ")
		print $n[name[1]], $n[name[2]], $n[name[3]]
	}' "$1"
}
"$B/trace" --rep=each -o "$T/ev" "$T/strings"
for p in "cachesim:Ir Dr Dw" "branchsim:Ir Bc Bcm"; do
	check "${p%:*}" "$B/${p%:*}" --rep=each "$T/ev"
	"$B/fmt-cachegrind" -o "$T/ours" "$T/out"
	same "${p%:*}: Cachegrind's sums" "$(sums "$T/theirs" "${p#*:}")" \
	    "$(sums "$T/ours" "${p#*:}")"
done
check "kind branches" "$B/trace" -e branches --rep=each -o "$T/ev" "$T/strings"
check "branchsim" "$B/branchsim" --rep=each "$T/ev"
"$B/fmt-cachegrind" -o "$T/ours" "$T/out"
same "kind branches: Cachegrind's sums" "$(sums "$T/theirs" "Ir Bc Bcm")" \
    "$(sums "$T/ours" "Ir Bc Bcm")"
if valgrind --tool=exp-bbv --bb-out-file="$T/theirs" "$T/strings" 2>"$T/log"
then
	"$B/trace" -e blocks --rep=each "$T/strings" |
	    "$B/bbv" --format=exp-bbv -o "$T/ours"
	samefile "exp-bbv's file" "$T/theirs" "$T/ours"
fi
if valgrind --tool=lackey $exact --trace-mem=yes --log-file="$T/log" \
    "$T/strings"; then
	grep -v '^==' "$T/log" >"$T/theirs"
	"$B/trace" --rep=each "$T/strings" |
	    "$B/plain" --rep=each -o "$T/ours"
	samefile "Lackey's lines" "$T/theirs" "$T/ours"
fi

done_testing
