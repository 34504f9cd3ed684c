#!/bin/sh
# the tree: who includes whom, headers alone, lengths, pages, tests of each
# program, and the manners that all programs share

. t/lib.sh

CC=${CC:-gcc}
progs=
for p in cmd/*.c cmd/*/main.c; do
	case $p in
	*/main.c) p=${p%/main.c} ;;
	esac
	p=${p##*/}
	progs="$progs ${p%.c}"
done
scripts=$(sed -n "s/^SCRIPTS[[:blank:]]*= *//p" Makefile)
filters=$(for p in $progs; do [ "$p" = trace ] || echo "$p"; done)

# --- the top level has what it is meant to have
if top=$(git ls-files 2>/dev/null) && [ -n "$top" ]; then
	same "no stray file at the top" ".ci .clang-format .editorconfig \
.gitignore LICENSE Makefile README cmd lib man scripts t " \
	    "$(echo "$top" | sed 's,/.*,,' | sort -u | tr '\n' ' ')"
else
	skip "no stray file at the top" "no work tree of git's"
fi

# --- dependence: cmd -> lib; no lib -> cmd; the runtime -> shared.h alone
includes() { # file...: "file header" for each #include "header"
	sed -n 's/^[ \t]*#[ \t]*include[ \t]*"\(.*\)".*/\1/p' "$1"
}
bad=$(for f in lib/*.h lib/*/*.[ch]; do
	for h in $(includes "$f"); do
		[ -f "lib/$h" ] || [ -f "${f%/*}/$h" ] || echo "$f: $h"
	done
done)
same "lib includes lib only" "" "$bad"
bad=$(for f in cmd/*.[ch] cmd/*/*.[ch] cmd/*/*/*.[ch]; do
	case $f in
	cmd/trace/runtime/*) continue ;;
	esac
	prog=${f#cmd/} prog=${prog%%/*}
	for h in $(includes "$f"); do
		case $h in
		*/*)
			[ -f "cmd/$prog/$h" ] || echo "$f: $h" ;;
		*)
			[ -f "lib/$h" ] || [ -f "${f%/*}/$h" ] ||
			    [ -f "cmd/$prog/$h" ] || echo "$f: $h" ;;
		esac
	done
done)
same "a command includes its own headers and the public ones of lib" "" "$bad"
if [ -d cmd/trace/runtime ]; then
	# shared.h and its parts, each of which is for both sides
	shared="cmd/trace/shared.h $(includes cmd/trace/shared.h |
	    sed 's,^,cmd/trace/,' | tr '\n' ' ')"
	bad=$(for f in cmd/trace/runtime/*.[chS]; do
		for h in $(includes "$f"); do
			[ -f "cmd/trace/runtime/$h" ] ||
			    [ "$h" = ../shared.h ] || [ "$h" = offsets.h ] ||
			    echo "$f: $h"
		done
	done)
	same "the runtime includes its own and shared.h only" "" "$bad"
	bad=$(sed -n 's/^#[ \t]*include[ \t]*<\(.*\)>.*/\1/p' \
	    cmd/trace/runtime/*.[chS] $shared | sort -u |
	    grep -v -E '^(asm/|linux/|std(arg|bool|def|int|noreturn)\.h|elf\.h)' |
	    tr '\n' ' ')
	# constants of the kernel's interface, no function of a libc
	same "and of others the kernel's and the compiler's" "" "$bad"
	check "the runtime calls no libc" \
	    test -z "$(nm -u "${B%/bin}"/cmd/trace/runtime/blob.elf 2>&1)"
fi
dup=$(find cmd lib -name '*.[chS]' | sed 's|.*/||' | grep -v -x main.c |
    sort | uniq -d)
[ -z "$dup" ] || echo "# same name twice:" $dup

# --- each header compiles alone
alone() { # flags header
	printf '#include "%s"\n' "${2##*/}" | $CC -std=gnu11 -D_GNU_SOURCE \
	    -Wall -Wextra -Werror -fsyntax-only -Ilib "-I${2%/*}" \
	    $(echo "$2" | sed -n 's|^\(cmd/[^/]*\)/.*|-I\1|p') -x c - 2>&1
}
bad=$(for h in $(find lib cmd -name '*.h'); do
	alone "" "$h" >"$T/alone" || sed "s|^|$h: |" "$T/alone"
done)
same "each header compiles alone" "" "$bad"
env -u MAKEFLAGS -u MAKELEVEL "${MAKE:-make}" -pn build/fuzz/fuzz_ev \
    >"$T/rules" 2>/dev/null
check "a fuzz target is made again for a header of lib" \
    grep -q '^build/fuzz/fuzz_ev:.* lib/cpu\.h' "$T/rules"

# --- lengths
if ctags --version 2>/dev/null | grep -q Universal; then
	check "lengths of functions and files" scripts/metrics
else
	skip "lengths" "no universal-ctags"
fi
bad=$(grep -rn -E 'TO''DO|FIX''ME|X''XX' cmd lib scripts man Makefile README \
    t/*.t t/unit t/fuzz/*.c 2>/dev/null | grep -v -i 'mktemp\|X''XXXXX' | head)
same "nothing is marked as left to do" "" "$bad"

# --- pages
if command -v mandoc >/dev/null; then
	for page in man/*.[157]; do
		mandoc -Tlint -Wwarning "$page" >"$T/lint" 2>&1
		same "${page#man/} is clean" "" "$(cat "$T/lint")"
	done
else
	skip "pages" "no mandoc"
fi
for p in $progs $scripts; do
	check "$p has a page" test -f "man/$p.1"
	for s in NAME SYNOPSIS DESCRIPTION 'EXIT STATUS' EXAMPLES; do
		grep -q "^\.Sh $s" "man/$p.1" 2>/dev/null || echo "$s"
	done >"$T/missing"
	same "with all its sections" "" "$(cat "$T/missing")"
	check "$p is in quern(7)" grep -q "^\.It Xr $p 1\$" man/quern.7
	check "$p is in README" grep -q "^ *$p  *[a-z]" README
	check "$p has a test" grep -q -l "\$B/$p\\b\|\${B}/$p\\b" t/[0-9]*.t t/long/[0-9]*.t
done
for p in $(sed -n 's/^\.It Xr \([-a-z]*\) 1$/\1/p' man/quern.7); do
	check "quern(7)'s $p exists" test -x "$B/$p"
done

# --- manners
for p in $progs $scripts; do
	trouble=2 full=2 named="$p (quern)" usage='^usage: '
	case $p in
	trace) trouble=125 full=125 ;;
	callgrind_control)	# its manners are Valgrind's
		trouble=1 named=callgrind_control-3.25.0.quern
		usage='^callgrind_control: unknown command line option' ;;
	valgrind)	# likewise; the tool comes first
		trouble=1 named=valgrind-3.25.0.quern
		usage='^valgrind: give --tool=' ;;
	esac
	check "$p --help" "$B/$p" --help
	check "$p: help tells something" test -s "$T/out"
	same "$p: nothing else" "" "$(cat "$T/err")"
	check "$p -h" "$B/$p" -h
	check "$p --version" "$B/$p" --version
	same "$p: name and version" "$named" \
	    "$(sed 's/ [0-9][0-9.]*$//' "$T/out")"
	status $trouble "$p: a bad option" "$B/$p" --no-such-option
	same "$p: is told with a usage line, without output" "1" \
	    "$(grep -c "$usage" "$T/err")$(cat "$T/out")"
	full() { "$B/$p" --help >/dev/full; }
	status $full "$p --help on a full disk" full
	# every long option of the help is in the page
	"$B/$p" --help | grep -o -E -e '^ .*--[a-zA-Z0-9][-a-zA-Z0-9]*' |
	    grep -o -E -e '--[a-zA-Z0-9][-a-zA-Z0-9]*' | sed 's/^--//' |
	    sort -u >"$T/options"
	while read -r o; do
		sed 's/\\-/-/g' "man/$p.1" 2>/dev/null |
		    grep -q -F -e "$o" || echo "$o"
	done <"$T/options" >"$T/missing"
	same "$p: the page has all its options" "" "$(cat "$T/missing")"
done

# one input for each filter that makes it write something: $sample
printf '%s\n' '# callgrind format' 'version: 1' 'creator: quern' 'cmd: x' \
    'positions: line' 'events: Ir' '' 'fl=a.c' 'fn=f' '1 2' '' 'totals: 2' \
    >"$T/costs"
sed 's/ 2$/ 3/' "$T/costs" >"$T/costs2"
printf '%s\n' 'H quern-events 1' 'H kind all' 'M 1 1000 2000 0 [vdso]' \
    'B 1 >1000 3r8.0 2S' '1+5000' 'Y 231' 'E exit 0 1' >"$T/events"
printf '%s\n' 'H quern-events 1' 'H kind calls' 'T 1' 'N 1 10' 'X 1 20' \
    'E exit 0 2' >"$T/calls"
printf '%s\n' 'main;f 1' >"$T/stacks"
printf '%s\n' 'T:1:10 :2:20' 'T:1:20 :2:10' >"$T/vectors"
sample() {
	case $1 in
	annotate | fmt-cachegrind | merge | fmt-callgrind | fmt-folded | \
	    fmt-pprof)
		sample=$T/costs ;;
	diff)
		sample="$T/costs $T/costs2" ;;
	account | fmt-xray)
		sample=$T/calls ;;
	fmt-svg)
		sample=$T/stacks ;;
	simpoint)
		sample="-maxK 2 -loadFVFile $T/vectors" ;;
	read-xray)
		"$B/fmt-xray" -o "$T/log" "$T/calls"
		sample=$T/log ;;
	*)
		sample=$T/events ;;
	esac
}
none() {
	case $1 in
	simpoint)
		none="-maxK 2 -loadFVFile $T/none" ;;
	diff)
		none="$T/none $T/costs" ;;
	*)
		none=$T/none ;;
	esac
}
for p in $filters; do
	none "$p"
	status 2 "$p: a file that is not there" "$B/$p" $none
	same "$p: is named behind the program's name, in one line" "1 0" \
	    "$(grep -c "^$p: .*none" "$T/err") $(grep -v -c "^$p: .*none" \
	    "$T/err")"
	sample "$p"
	run "$B/$p" $sample
	ok "$p: reads its sample, status $?" "$([ $? -le 1 ]; echo $?)"
	check "$p: and writes something" test -s "$T/out"
	full() { "$B/$p" $sample >/dev/full; }
	status 2 "$p: a full disk" full
	check "$p: is told" grep -q "^$p: .*No space left" "$T/err"
	"$B/$p" $sample 2>/dev/null | sed '/^Invocation:/d' >"$T/whole"
	case $p in
	simpoint) # its own way to say where results go
		continue ;;
	esac
	run "$B/$p" -o "$T/o" $sample
	sed '/^Invocation:/d' "$T/o" | cmp -s "$T/whole" -
	ok "$p: -o FILE writes the same" $?
	full() { "$B/$p" -o "$T/no/o" $sample; }
	status 2 "$p: -o in a folder that is not there" full
	# a program's own compressed input
	set -- $sample
	for f in "$@"; do
		gzip -c "$f" >"$f.gz" 2>/dev/null || continue
		zstd -qc "$f" >"$f.zst"
	done
	case $sample in
	"$T"/*)
		for z in gz zst; do
			run "$B/$p" $(for f in $sample; do echo "$f.$z"; done)
			sed "/^Invocation:/d; s/\.$z//g" "$T/out" >"$T/unzipped"
			cmp -s "$T/whole" "$T/unzipped"
			ok "$p: compressed input gives the same: $z" $?
		done ;;
	esac
	case $p in
	diff | merge) ;;
	*)
		piped() { "$B/$p" <"$(echo $sample)"; }
		run piped
		sed '/^Invocation:/d' "$T/out" >"$T/fromstdin"
		same "$p: standard input is read" "$(wc -l <"$T/whole")" \
		    "$(wc -l <"$T/fromstdin")" ;;
	esac
done

done_testing
