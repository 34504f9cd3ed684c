#!/bin/sh
# Real programs under trace: output, messages and status as natively, and a
# whole stream.  Who is not here is skipped.
. t/lib.sh

[ -x "$B/trace" ] || skip_all "no trace"
LIMIT=120
here=$PWD

# Everything of a run but the files of libraries, which grow warm.
run_both() {
	(cd "$T/dir" && HOME=$T exec timeout -k 5 "$LIMIT" "$@") \
	    >"$T/native.out" 2>"$T/native.err" </dev/null
	native=$?
	(cd "$T/dir" && HOME=$T exec timeout -k 5 "$LIMIT" "$B/trace" -e "$kind" \
	    -o "$T/ev" -- "$@") >"$T/traced.out" 2>"$T/traced.err" </dev/null
	traced=$?
	# what trace itself says to who runs node and java
	sed -i '/^trace: code made at run time has no names; /d' "$T/traced.err"
}

# big KIND TEXT PROGRAM ARGUMENT...
big() {
	kind=$1 text="$2, $1"
	shift 2
	if ! command -v "$1" >/dev/null 2>&1; then
		skip "$text" "no $1"
		return
	fi
	run_both "$@"
	same "$text: status" "$native" "$traced"
	samefile "$text: output" "$T/native.out" "$T/traced.out"
	samefile "$text: messages" "$T/native.err" "$T/traced.err"
	same "$text: the end" "E exit $native" \
	    "$(tail -n 1 "$T/ev" | sed 's/ [0-9]*$//')"
	rm -f "$T/ev"
}

mkdir "$T/dir"
seq 1 30000 >"$T/dir/numbers"
cat >"$T/dir/prog.c" <<'END'
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
END
python=python3
[ -x /usr/bin/python3 ] && python=/usr/bin/python3	# no wrapper script

big all "python" $python -c 'import json, decimal, argparse, re
print(json.dumps({str(i): str(decimal.Decimal(i) / 7) for i in range(99)}))
print(re.sub("[aeiou]", lambda m: m.group().upper(), "vowels everywhere"))
try:
    [].pop()
except IndexError as e:
    print(e)'
big counts "python threads" $python -c 'import threading, queue
q = queue.Queue(); out = []
def work():
    while (x := q.get()) is not None: out.append(x * x)
ts = [threading.Thread(target=work) for _ in range(6)]
[t.start() for t in ts]; [q.put(i) for i in range(500)]
[q.put(None) for _ in ts]; [t.join() for t in ts]
print(len(out), sum(out))'
big counts "python processes" $python -c 'import subprocess, os
print(subprocess.run(["sort", "-rn"], input="1\n3\n2\n", text=True,
    capture_output=True).stdout)
r = os.fork()
if r == 0: os._exit(5)
print(os.waitpid(r, 0)[1])'
big all "perl" perl -e 'my %h;
for (1 .. 9000) { $h{$_ % 977} .= "x$_" }
print join(",", map { length $h{$_} } sort keys %h), "\n";
$_ = "the quick brown fox" x 50; my $n = () = /(\w)(\w+)/g; print "$n\n";
$SIG{ALRM} = sub { print "alarm\n"; exit 3 }; alarm 1; 1 while 1;'
big all "sqlite3" sqlite3 :memory: "create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)
insert into t select x, x * 7 % 101 from c;
select b, count(*), sum(a), group_concat(a) from t group by b order by b;"
big all "bzip2" bzip2 -c numbers
big all "xz" xz -c -1 numbers
big counts "xz threads" xz -T3 -c --block-size=20000 numbers
big all "gzip" gzip -nc numbers
big all "pigz" pigz -nc -p 4 -b 128 numbers
big counts "openssl digest" openssl dgst -sha256 -sha512 numbers
big all "openssl cipher" openssl enc -aes-256-cbc -pass pass:x -nosalt -pbkdf2 \
    -iter 500 -in numbers
big counts "openssl rsa" sh -c 'openssl genrsa 1024 2>/dev/null >k &&
openssl rsa -in k -check -noout'
big all "git log" git -C "$here" log --stat -3
big counts "git init" sh -c 'rm -rf r; git init -q r && cd r && echo x >x &&
git add x && git -c user.name=n -c user.email=e commit -q --date=@1 -m m &&
git ls-tree HEAD && git fsck --strict'
big all "bash" bash -c 'seq 1 300 | sort -r | while read x; do echo $((x * 2))
done | tail -3; for i in 1 2 3; do (echo sub $i); done
echo $(echo nested $(echo deep)); trap "echo trapped" USR1; kill -USR1 $$
coproc cat; echo through >&${COPROC[1]}; read x <&${COPROC[0]}; echo $x
exec false'
big all "sh" sh -c 'i=0; while [ $i -lt 300 ]; do i=$((i + 1)); done; echo $i;
printf "%s\n" a b c | (read x; echo $x); exit 9'
big all "awk" awk '{ s[$1 % 10] += $1 } END { for (i = 0; i < 10; i++)
print i, s[i] }' numbers
big all "sed" sed -n '/99$/s/\(.\)/[\1]/gp' numbers
big all "sort" sort -R --random-source=numbers numbers
big all "tar" tar -cf - --mtime=@0 numbers prog.c
big counts "gcc" gcc -O2 -c prog.c -o prog.o
big counts "cc1" "$(gcc -print-prog-name=cc1 2>/dev/null || echo cc1)" -quiet \
    -O2 prog.c -o -
big counts "clang" clang -O1 -S prog.c -o -
big counts "lua" lua -e 'local t = {} for i = 1, 20000 do t[i] = i * i % 1013 end
table.sort(t) print(t[1], t[#t], #t) print(pcall(error, "x"))
local co = coroutine.wrap(function() for i = 1, 3 do coroutine.yield(i) end end)
print(co(), co(), co())'
big counts "node" node -e 'let s = 0;
for (let i = 0; i < 3e5; i++) s += i % 7;
console.log(s, JSON.stringify([..."abc"].map(x => x.charCodeAt(0))));
require("crypto").pbkdf2("a", "b", 1000, 16, "sha1", (e, k) => {
	console.log(k.toString("hex"));
	setTimeout(() => console.log("late"), 10);
});
process.on("exit", c => console.log("exit", c)); process.exitCode = 4'
cat >"$T/dir/Hello.java" <<'END'
public class Hello {
	public static void main(String[] args) throws Exception {
		long s = 0;
		for (int i = 0; i < 300000; i++)
			s += Integer.toString(i).hashCode();
		Thread t = new Thread(() -> System.out.println("thread"));
		t.start();
		t.join();
		Object o = args.length > 5 ? "x" : null;
		try {
			o.hashCode();
		} catch (NullPointerException e) {
			System.out.println("caught " + s);
		}
		System.exit(7);
	}
}
END
if command -v javac >/dev/null 2>&1; then
	(cd "$T/dir" && javac Hello.java) 2>/dev/null
fi
if [ -f "$T/dir/Hello.class" ]; then
	big counts "java" java -XX:TieredStopAtLevel=1 Hello
else
	skip "java" "no javac"
fi
big counts "gdb" gdb -q -batch -ex 'print 6 * 7' -ex 'info line main' "$B/trace"
done_testing
