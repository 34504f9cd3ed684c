#!/bin/sh
# callgraph judged by Valgrind's Callgrind, on real programs

. t/lib.sh

command -v valgrind >/dev/null || skip_all "no valgrind"
command -v python3 >/dev/null || skip_all "no python3"
# stubs of linkage with an endbr64 before them are functions to Callgrind
readelf -SW "$(ldd /bin/true | sed -n 's/.* => \(.*libc[.-][^ ]*\) .*/\1/p')" |
    grep -q '[.]plt[.]sec' && skip_all "Callgrind does not know .plt.sec"
TOP=$PWD
cd "$T" || exit 99

# Valgrind gives its guest a few variables: ours gets them too.
env -i valgrind -q --tool=none /usr/bin/env >environment 2>/dev/null

# judge TEXT CMD...: rounds of rep count as Valgrind has them; with options
opts=
judge() {
	what=$1
	shift
	{ cat environment; printf '%s\n' "$B/trace" -e all --cpu=v3 \
	    --vdso=no -o ev "$@"; } >args
	check "$what: trace" xargs -d '\n' -a args env -i
	# shellcheck disable=SC2086
	check "$what: valgrind" env -i valgrind -q --tool=callgrind \
	    --vex-iropt-level=0 --dump-instr=yes $opts --callgrind-out-file=want "$@"
	# shellcheck disable=SC2086
	check "$what: callgraph" "$B/callgraph" --rep=each $opts -o got ev
	check "$what: as Callgrind has it" python3 \
	    "$TOP/t/models/callgrind.py" want got
	sed 's/^[^#]/# &/' out
}

${CC:-gcc} -O1 -g -o recurse "$TOP/t/src/recurse.c" || exit 99
opts=--collect-jumps=yes
judge "recursion, longjmp, signals" ./recurse
"$B/fmt-callgrind" --dump-instr=yes -o rich got
check "jumps" python3 "$TOP/t/models/jumps.py" want rich recurse
sed 's/^[^#]/# &/' out
opts=--fn-skip=main
judge "back into a skipped function" ./recurse
opts=--separate-recs=4
judge "levels of recursion" ./recurse
opts=--skip-direct-rec=yes
judge "direct recursion without levels" ./recurse
opts=--separate-callers=auto
judge "callers apart: auto" ./recurse
opts=
${CC:-gcc} -O2 -static -g -o recurse "$TOP/t/src/recurse.c" || exit 99
judge "a static program, -O2" ./recurse
if command -v g++ >/dev/null; then
	g++ -O1 -g -o throw "$TOP/t/src/throw.cc" || exit 99
	judge "exceptions" ./throw
	opts=--fn-skip=main
	judge "exceptions caught in a skipped function" ./throw
	opts=
else
	skip "exceptions" "no g++"
fi
if command -v bzip2 >/dev/null; then
	seq 1 2000 >text
	judge "bzip2" "$(command -v bzip2)" -kc text
else
	skip "bzip2" "not here"
fi
if command -v sqlite3 >/dev/null; then
	# no reals: sqlite3 tests what a long double has, which Valgrind's has not
	cat >sql <<'E'
create table t(a integer primary key, b text, c integer);
with recursive n(i) as (select 1 union all select i+1 from n where i<1000)
 insert into t select i, 'x'||(i*7919%100), i*i%997 from n;
create index tb on t(b);
select b, count(*), sum(c) from t group by b order by 3 desc limit 5;
select count(*) from t x join t y on x.b=y.b where x.a<y.a;
delete from t where a%3=0;
select sum(c) from t;
E
	judge "sqlite3" "$(command -v sqlite3)" -init sql :memory: .quit
else
	skip "sqlite3" "not here"
fi

done_testing
