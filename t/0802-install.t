#!/bin/sh
# make install: names with a prefix, pages that speak of them, links without

. t/lib.sh

MAKE=${MAKE:-make}
build=${B%/bin}
san=
case $build in
*/san) san=1 ;;
esac

inst() { # prefix, folder
	"$MAKE" -s install "SAN=$san" "P=$1" "DESTDIR=$2" PREFIX=/usr
}
check "install" inst qn- "$T/a"
check "install with another prefix" inst my "$T/b"
check "install without one" inst "" "$T/c"

# the name that it says; these two say Valgrind's version
says() {
	case $2 in
	*valgrind | *callgrind_control) echo "$2" ;;
	*) cut -d ' ' -f 1 "$1" ;;
	esac
}
for p in $(ls "$B"); do
	check "$p: installed with its prefix" test -x "$T/a/usr/bin/qn-$p"
	check "$p: runs under its bare name" \
	    "$T/a/usr/libexec/quern/$p" --version
	same "$p: and has that name" "$p" "$(says "$T/out" "$p")"
	check "$p: runs" "$T/a/usr/bin/qn-$p" --version
	same "$p: and knows its name" "qn-$p" "$(says "$T/out" "qn-$p")"
	check "$p: another prefix" test -x "$T/b/usr/bin/my$p"
	check "$p: no prefix" test -x "$T/c/usr/bin/$p"
done
same "no other names" "" "$(ls "$T/a/usr/bin" | grep -v '^qn-')"
check "the intro page keeps its name" test -f "$T/a/usr/share/man/man7/quern.7"
for page in man/*.[157]; do
	n=${page#man/}
	case $n in
	quern*.7) q=$n ;;
	*) q=qn-$n ;;
	esac
	f=$T/a/usr/share/man/man${n##*.}/$q
	check "$q is there" test -f "$f"
	if command -v mandoc >/dev/null; then
		# with prefixes, references are in another order
		mandoc -Tlint -Wwarning "$f" 2>&1 |
		    grep -v 'unusual Xr order' >"$T/lint"
		same "$q is clean" "" "$(cat "$T/lint")"
	fi
	samefile "$n is as it was, without a prefix" "$page" \
	    "$T/c/usr/share/man/man${n##*.}/$n"
done
page=$T/a/usr/share/man/man1/qn-fmt-cachegrind.1
check "a page's name" grep -q '^\.Nm qn-fmt-cachegrind$' "$page"
check "its references" grep -q '^\.Xr qn-annotate 1' "$page"
check "not others' programs" grep -q '^\.Xr cg_annotate 1' "$page"
check "its examples" \
    grep -q '^qn-trace ./prog | qn-cachesim | qn-fmt-cachegrind >' "$page"
check "those of one line" grep -q '^\.Dl qn-merge .* | qn-annotate$' \
    "$T/a/usr/share/man/man1/qn-merge.1"
check "and behind &&" grep -q '^\.Dl qn-trace .* && qn-cachesim .* | qn-' \
    "$T/a/usr/share/man/man1/qn-cachesim.1"
check "and what mpirun starts" grep -q '^\.Dl mpirun -n 2 qn-trace -o' \
    "$T/a/usr/share/man/man1/qn-trace.1"
bare=$(awk -v ours="$(ls "$B" | tr '\n' ' ')" '
BEGIN { for (n = split(ours, l, " "); n > 0; n--) own[l[n]] = 1 }
/^\.Bd.*-literal/ { shown = 1 }
/^\.Ed/ { shown = 0 }
shown || /^\.Dl / {
	for (i = 1; i <= NF; i++)
		if ($i in own && (i == 1 || $(i - 1) !~ /^-[a-z]$/))
			print FILENAME ": " $0
}' "$T"/a/usr/share/man/man[157]/*)
same "no example has a bare name" "" "$bare"

done_testing
