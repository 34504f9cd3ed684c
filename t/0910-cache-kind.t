#!/bin/sh
# Kind cache leaves out only what changes nothing: cachesim's output from it is
# byte for byte that of the full stream, on programs that run the same twice.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
plan 16

caches="--I1=32768,8,64 --D1=32768,8,64 --LL=1048576,16,64"
seq 1 20000 >"$T/numbers"
cat >"$T/w.sql" <<'EOF'
create table t(a integer primary key, b text);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)
    insert into t select x, 'name' || x from c;
select count(*), sum(length(b)) from t where b like '%7%';
create index i on t(b);
select a from t where b = 'name777';
EOF
cat >"$T/words.pl" <<'EOF'
my @a = map { $_ * 7919 % 10007 } 1 .. 20000;
my @s = sort { $a <=> $b } @a;
my $t = join ",", @s;
$t =~ s/(\d)0/$1-/g;
print length $t, "\n";
EOF

run() {
	PERL_HASH_SEED=0 PERL_PERTURB_KEYS=0 PYTHONHASHSEED=0 \
	    timeout 120 "$B/trace" "$@" </dev/null >/dev/null
}

same_costs() {
	name=$1
	shift
	run -o "$T/all.ev" "$@" && run -e cache -o "$T/cache.ev" "$@" &&
	    "$B/cachesim" $caches -o "$T/all" "$T/all.ev" &&
	    "$B/cachesim" $caches -o "$T/cache" "$T/cache.ev"
	ok "$name: both kinds are simulated" $?
	cmp -s "$T/all" "$T/cache"
	ok "$name: the same bytes" $?
}

one() {
	command -v "$2" >/dev/null || {
		skip "$1: simulated" "no $2"
		skip "$1: the same bytes" "no $2"
		return
	}
	same_costs "$@"
}

one bzip2 bzip2 -kc "$T/numbers"
one sqlite3 sqlite3 :memory: -init "$T/w.sql" .quit
one perl perl "$T/words.pl"
one gzip gzip -c "$T/numbers"
one ls ls -l /usr/bin

# With -t the misses come as O lines, behind references alone or standing.
run -e cache -o "$T/cache.ev" sqlite3 :memory: -init "$T/w.sql" .quit &&
    "$B/cachesim" $caches -o "$T/want" "$T/cache.ev" &&
    "$B/cachesim" -t $caches -o "$T/told.ev" "$T/cache.ev"
ok "passed through" $?
perl -ne 'sub add {
		for (split / /, $_[0]) {
			/(\w+)(\*(\w+))?/; $n{$1} += $_[1] * ($2 ? hex $3 : 1);
		}
	}
	if (/^O @(\w+) ?(.*)/) { $stands{$1} = $2 }
	elsif (/^O [0-9a-f]+ (.*)/) { add($1, 1) }
	elsif (/^([0-9a-f]+)[^*]*(\*(\w+))?$/ && $stands{$1}) {
		add($stands{$1}, 1 + ($2 ? hex $3 : 0));
	}
	END { print join(" ", map { $n{$_} + 0 }
	    qw(I1mr ILmr D1mr DLmr D1mw DLmw)), "\n" }' "$T/told.ev" >"$T/sums"
same "all misses are told" \
    "$(awk '/^totals:/ { print $3, $4, $6, $7, $9, $10 }' "$T/want")" \
    "$(cat "$T/sums")"
sed '/^O /d; /^H outcomes/d; /^H desc/d' "$T/told.ev" |
    "$B/cachesim" $caches -o "$T/got"
cmp "$T/want" "$T/got"
ok "all else is passed on" $?
printf '%s\n' "H quern-events 2" "H kind cache 64 64 8" "B 1 >1000 3 4r8.0" \
    "Q 2 1 2 1 s" "2+7ffe10000" "O 1 D1mr" "W 1 1" "E exit 0 2" >"$T/o.ev"
"$B/cachesim" $caches -o /dev/null "$T/o.ev" 2>"$T/err"
same "misses of another instruction are told" "cachesim: $T/o.ev:6: O: the \
last reference is of instruction 2, not 1" "$(cat "$T/err")"

run -e cache=32 -o "$T/small.ev" bzip2 -kc "$T/numbers" &&
    run -o "$T/all.ev" bzip2 -kc "$T/numbers" &&
    "$B/cachesim" $caches -o "$T/all" "$T/all.ev" &&
    "$B/cachesim" $caches -o "$T/cache" "$T/small.ev"
cmp -s "$T/all" "$T/cache"
ok "a table of 32 lines: the same bytes" $?
"$B/cachesim" --D1=1024,1,64 -o /dev/null "$T/small.ev" 2>"$T/err"
[ $? -eq 2 ] && grep -q 'cache' "$T/err"
ok "a cache with fewer sets than the table is refused" $?
