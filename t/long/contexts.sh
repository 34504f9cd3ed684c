# contexts.sh - large programs, for t/long/0720-contexts-of-trace.t

# there PROGRAM: or tests skipped
there() {
	command -v "$1" >/dev/null && return
	skip "$1" "not here"
	return 1
}

seq 1 20000 >numbers
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3	# no wrapper script
cat >w.sql <<'E'
create table t(a integer primary key, b text);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 3000)
insert into t select i, 'row ' || (i * 7919 % 3001) from n;
create index b on t(b);
select count(*), max(b) from t where b like '%9%';
select a.b from t a join t b on a.a = b.a + 1 where b.b > 'row 99' limit 5;
E
cat >w.py <<'E'
import json, re
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)
class Stop(Exception):
    pass
def fall(n):
    if n == 0:
        raise Stop()
    fall(n - 1)
for n in range(30):
    try:
        fall(n)
    except Stop:
        pass
print(fib(14), re.sub("[aeiou]", "-", "vowels " * 50))
print(json.dumps({str(i): [i] * 3 for i in range(100)}))
E
cat >w.pl <<'E'
my @a = map { $_ * 7919 % 1007 } 1 .. 2000;
my @s = sort { $a <=> $b } @a;
my $t = join ",", @s;
$t =~ s/(\d)0/$1-/g;
eval { die "once\n" } for 1 .. 20;
print length $t, "\n";
E
cat >w.lua <<'E'
local function fib(n) return n < 2 and n or fib(n - 1) + fib(n - 2) end
local t = {}
for i = 1, 2000 do t[i] = i * 7919 % 1007 end
table.sort(t)
for i = 1, 20 do pcall(error, "once") end
print(fib(15), #t, ("x"):rep(100):gsub("x", "yz"))
E
cat >w.c <<'E'
#include <stdio.h>
struct point { double x, y; };
static struct point swap(struct point p) { return (struct point){ p.y, p.x }; }
int main(int argc, char **argv)
{
	struct point p = { argc, 2.5 };
	for (int i = 0; i < argc; i++)
		printf("%s %g\n", argv[i], swap(p).x * i);
	return 0;
}
E

there bzip2 && alike bzip2 bzip2 -kc numbers
there sqlite3 && alike sqlite3 sqlite3 :memory: -init w.sql .quit
there perl && alike perl perl w.pl
there $python && most python3 5000 $python -S w.py
there bzip2 && each bzip2 bzip2 -kc numbers
there sqlite3 && each sqlite3 sqlite3 :memory: -init w.sql .quit
there perl && each perl perl w.pl
there $python && each python3 $python -S -c pass
# jq seeds its hashes with getrandom
there jq && most jq 5000 jq -n '[range(2000)] | map(. * 7 % 13) | sort | add'
there lua5.4 && alike lua lua5.4 w.lua
cc1=$(${CC:-gcc} -print-prog-name=cc1)
${CC:-gcc} -E -o w.i w.c
there "$cc1" && alike cc1 "$cc1" -fpreprocessed -quiet -O2 -o w.s w.i
there "$cc1" && each cc1 "$cc1" -fpreprocessed -quiet -O2 -o w.s w.i
there xz && most "xz -T2" 5000 xz -T2 --block-size=40KiB -kc numbers
${CC:-gcc} -O2 -fno-inline -static -o static "$SRC/tails.c" &&
    ${CC:-gcc} -O1 -pthread -Wl,-z,now -o workers "$SRC/workers.c" &&
    ${CXX:-g++} -O1 -o unwind "$SRC/unwind.cc"
ok "programs" $?
alike "static" ./static
for m in "plain 6" "guarded 1" "pong 1" "jumps 4" jump alt-below-nested \
    alt-above-again nested inside again; do
	alike "unwind $m" ./unwind $m
done
moves 11 50
some "300 threads" '^work_' ./workers 300
if record "-e cache --contexts" other true; then
	there bzip2 && cached bzip2 bzip2 -kc numbers
	there sqlite3 && cached sqlite3 sqlite3 :memory: -init w.sql .quit
	there perl && cached perl perl w.pl
else
	skip "kind cache" "$(cat record.err)"
fi
