#!/bin/sh
# what others read of our cost files: the rules of the dialect, KCachegrind

. t/lib.sh
. t/kcachegrind.sh

M=$B/merge C=$TB/cost
cd "$T" || exit 99

"$C" random 4 line >r.line
"$C" random 4 instr >r.instr
"$M" r.line >line
"$M" r.instr >instr
if command -v valgrind >/dev/null; then
	valgrind -q --tool=callgrind --cache-sim=yes --callgrind-out-file=v \
	    seq 100 >/dev/null 2>&1
	valgrind -q --tool=callgrind --dump-instr=yes --collect-jumps=yes \
	    --callgrind-out-file=vi seq 100 >/dev/null 2>&1
	"$M" v >v.line
	"$M" vi >v.instr
fi

# callgrind_annotate, KCachegrind, gprof2dot and speedscope agree on a file
# only if it keeps to this
cat >rules.awk <<'EOF'
function bad(what) { if (!(what in told)) print what " at line " NR; told[what] = 1 }
NR == 1 && $0 != "# callgrind format" { bad("first line") }
/[ \t\r]$/ && !/^[a-z]+=\([0-9]+\) $/ && !/^(cmd|desc): / { bad("blank at the end") }
/\t/ { bad("tab") }
/  / && !/^(desc|cmd):/ && !/^[a-z]+=/ { bad("two blanks") }
/^events:/ { nev = NF - 1 }
/^positions:/ { npos = NF - 1 }
/^[a-z]+=\([0-9]+\) / {
	space = $0
	sub(/=.*/, "", space)
	space = space ~ /fn$/ ? "fn" : space ~ /ob$/ ? "ob" : "fl"
	id = $0
	sub(/^[a-z]+=/, "", id)
	sub(/ .*/, "", id)
	if ((space, id) in defined)
		bad("a number given twice")
	defined[space, id] = 1
}
/^fn=/ && last !~ /^fl=/ { bad("fn= without fl=") }
/^cfn=/ && last !~ /^cfi=/ { bad("cfn= without cfi=") }
/^cfi=/ && last !~ /^cob=/ && objects { bad("cfi= without cob=") }
/^ob=/ { objects = 1 }
/^calls=/ { call = NR }
/^(jump|jcnd)=/ { jump = NR; jumps = 1 }
/^[0-9+*-]/ {
	if (jump == NR - 1) {
		if (NF != npos)
			bad("columns of a jump")
	} else if (NF != npos + nev)
		bad("columns")
}
call && call == NR - 1 && !/^[0-9+*-]/ { bad("calls= without its line") }
/^totals:/ { totals = NR; if (NF != nev + 1) bad("columns of totals") }
/^(part|version):/ { if (totals) bad("a second part") }
{ last = $0 }
END { if (totals != NR) bad("no totals at the end") }
EOF
for f in line instr v.line v.instr; do
	[ -s $f ] || continue
	same "the rules, $f" "" "$(awk -f rules.awk $f)"
done
check "line: nothing that only some read" sh -c '! grep -qE "instr|jump=|jcnd=" v.line'

if ! kcachegrind_there; then
	skip "KCachegrind" "it is not installed"
	done_testing
	exit
fi
for f in line instr v.line v.instr; do
	[ -s $f ] || continue
	same "KCachegrind loads $f without complaint" opened \
	    "$(kcachegrind_loads $f)"
done

done_testing
