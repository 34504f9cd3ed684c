#!/bin/sh
# Kind branches: a program that keeps the predictor itself tells what branchsim
# makes of all executions, branch by branch.
. t/lib.sh

LIMIT=120
[ -x "$B/trace" ] || skip_all "no trace"
${CC:-gcc} -O1 -g -static -pthread -o "$T/branchy" t/src/branchy.c ||
    skip_all "no compiler"

traced() {
	PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PYTHONHASHSEED=0 \
	    timeout 120 "$B/trace" "$@" </dev/null >/dev/null 2>"$T/err"
}
each=
costs() {
	# shellcheck disable=SC2086
	"$B/branchsim" $each "$T/$1.ev" | "$B/fmt-cachegrind" -o "$T/$1.out"
}

# equal TEXT [option]... program [argument]...
equal() {
	name=$1
	shift
	rm -f "$T/a.out" "$T/b.out"
	# shellcheck disable=SC2086
	traced $each -e blocks -o "$T/a.ev" "$@" && costs a
	# shellcheck disable=SC2086
	traced $each -e branches -o "$T/b.ev" "$@" && costs b
	grep -q '^summary: .*[1-9]' "$T/a.out"
	ok "$name: branches are simulated" $?
	samefile "$name: the same of each branch" "$T/a.out" "$T/b.out"
}
one() {
	if command -v "$2" >/dev/null; then
		equal "$@"
	else
		skip "$1" "no $2"
	fi
}

seq 1 20000 >"$T/numbers"
cat >"$T/w.sql" <<'EOF'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)
    insert into t select x, 'name' || x from c;
select count(*), sum(length(b)) from t where b like '%7%';
EOF
one bzip2 bzip2 -kc "$T/numbers"
one sqlite3 sqlite3 :memory: -init "$T/w.sql" .quit
one perl perl -e 'print join ",", sort map { $_ * 7919 % 10007 } 1 .. 5000'
one ls ls -isSR t
equal "an exec" env ls t/src
equal "all flows" "$T/branchy" plain 3000
for o in --debug=nolink --debug=tinycache --debug=nosuper --debug=fewcounts \
    --debug=long --debug=long,tinycache --allocs --after=100000 --from=work; do
	# shellcheck disable=SC2086
	equal "$o" $o "$T/branchy" plain 2000
done
equal "faults" "$T/branchy" faults 300
equal "the trap flag" "$T/branchy" steps 100

# rounds of repeated instructions
equal "not rounds" "$T/branchy" strings 1000
each=--rep=each
one bzip2 bzip2 -kc "$T/numbers"
for o in --cpu=v2 --debug=nolink --debug=tinycache --debug=nosuper \
    --debug=fewcounts --debug=long --debug=long,tinycache --allocs \
    --after=1000 --from=strings; do
	equal "rounds, $o" "$o" "$T/branchy" strings 1000
done
equal "rounds, the trap flag" "$T/branchy" stringsteps 50
for v in exact-rep exact-repfault ins-rep ins-repcmp; do
	if [ -x "$TB/victim/$v" ]; then
		equal "rounds, $v" "$TB/victim/$v"
	else
		skip "rounds, $v" "not built"
	fi
done
equal "rounds, an exec" env ls t/src
for us in 40 97; do
	traced --rep=each -e branches -o "$T/b.ev" "$T/branchy" stringtimer \
	    20000 $us
	check "rounds, signals each $us us" "$B/branchsim" --rep=each -v \
	    -o /dev/null "$T/b.ev"
done
each=

# costs of one function; handlers and others take no part
of() {
	awk -v fn="fn=$1" '/^fn=/ { on = $0 == fn } on' "$2"
}

# Signals find it anywhere; their handler has no branch.  All runs have the same
# environment, and arguments of one length, whose branches the predictor learns.
interrupted() { # each so many us
	timeout 120 "$B/trace" -e branches -o "$T/$1.ev" \
	    "$T/branchy" timer 300000 "$2" </dev/null >"$T/came" \
	    2>"$T/err" && costs "$1"
}
interrupted a 900000
of work "$T/a.out" >"$T/want"
for us in 000040 000097; do
	interrupted b $us
	check "signals came" test "$(cat "$T/came")" -gt 10
	of work "$T/b.out" >"$T/got"
	samefile "signals each $us us: the same of each branch" "$T/want" \
	    "$T/got"
done

# a predictor for each thread: as if each ran alone
traced -e blocks -o "$T/a.ev" "$T/branchy" threads 3000 3
traced -e branches -o "$T/b.ev" "$T/branchy" threads 3000 3 && costs b
split_threads() { # a.ev: a stream of each thread, thread0.ev ...
	perl -e 'open my $f, "<", "$ARGV[0]/a.ev" or die;
	my @lines = <$f>;
	my @tids = map { /^T (\d+)/ ? $1 : () } @lines;
	my $now = $tids[0];
	my (%text, %n);
	$text{$_} = "" for @tids;
	for (@lines) {
		if (/^T (\d+)/) {
			$now = $1;
		} elsif (/^[0-9a-f]+[^*]*(?:\*(\w+))?$/) {
			$text{$now} .= $_;
			$n{$now} += 1 + hex($1 // 0);
		} elsif (/^[KYJ]/) {
			$text{$now} .= $_;
		} elsif (!/^E/) {
			for my $t (keys %text) { $text{$t} .= $_ }
		}
	}
	my $i = 0;
	for (sort { $a <=> $b } keys %text) {
		open my $o, ">", "$ARGV[0]/thread" . $i++ . ".ev" or die;
		print $o $text{$_}, "E exit 0 ", $n{$_} // 0, "\n";
	}' "$T"
}
split_threads
same "threads" 4 "$(ls "$T"/thread*.ev | wc -l)"
for i in 0 1 2 3; do costs thread$i; done
"$B/merge" -o "$T/sum.out" "$T"/thread?.out
of work "$T/sum.out" | grep -v '^fn' >"$T/want"
of work "$T/b.out" | grep -v '^fn' >"$T/got"
check "they branch" grep -q '^[0-9]' "$T/want"
samefile "each thread has a predictor of its own" "$T/want" "$T/got"

# children begin with an empty one
"$B/trace" -f -e branches -o "$T/f%p.ev" sh -c "ls $T/numbers; exit 0" \
    >"$T/out" 2>"$T/err"
same "a stream of the parent and of the child" 2 "$(ls "$T"/f[0-9]*.ev | wc -l)"
for f in "$T"/f[0-9]*.ev; do
	check "it is whole" "$B/branchsim" -o /dev/null "$f"
done

# the store
mkdir -m 700 "$T/store"
traced -e branches -o "$T/a.ev" "$T/branchy" plain 3000 && costs a
for how in cold warm; do
	traced -v -e branches -o "$T/b.ev" --store="$T/store" \
	    "$T/branchy" plain 3000 && costs b
	cp "$T/err" "$T/store.err"
	samefile "store, $how: the same" "$T/a.out" "$T/b.out"
done
check "it was used" grep -q '[1-9][0-9]* fragments from the store' \
    "$T/store.err"

# what other programs make of it
traced -e counts -o "$T/counts.ev" "$T/branchy" plain 3000
for p in icount mix; do
	"$B/$p" "$T/counts.ev" >"$T/want"
	"$B/$p" "$T/a.ev" >"$T/got"
	samefile "$p: as of kind counts" "$T/want" "$T/got"
done
check "plain -s" "$B/plain" -s "$T/a.ev"
check "says what was mispredicted" grep -q \
    '^[1-9][0-9]* times mispredicted: .*/branchy.c:[0-9]*: work' "$T/out"
why() {
	sed 's/^branchsim: [^ ]*: //' "$T/err"
}
for o in --predictor=tage -t; do
	status 2 "branchsim $o" "$B/branchsim" $o "$T/a.ev"
	same "is refused" "${o%=tage} needs executions in order, which kinds \
all and blocks tell; kind branches has only sums" "$(why)"
done
status 2 "branchsim --rep=each" "$B/branchsim" --rep=each "$T/a.ev"
same "needs rounds" "--rep=each needs a predictor that has learnt rounds: \
trace -e branches --rep=each" "$(why)"
traced --rep=each -e branches -o "$T/b.ev" "$T/branchy" plain 1
status 2 "branchsim --rep=once" "$B/branchsim" "$T/b.ev"
same "needs none" "the predictor has learnt rounds, by trace --rep=each: \
needs --rep=each" "$(why)"
for p in cachesim callgraph bbv dataprof reuse memsim; do
	status 2 "$p" "$B/$p" "$T/a.ev"
	check "refuses it by name" grep -q 'a stream of kind branches' "$T/err"
done
status 125 "contexts" "$B/trace" -e branches --contexts true
same "are refused" "trace: --contexts: kind branches tells none; kinds counts \
and cache do" "$(cat "$T/err")"
done_testing
