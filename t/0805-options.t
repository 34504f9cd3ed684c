#!/bin/sh
# The options of each program's --help are those of its page, and the other
# way round; each is one that the program takes.
. t/lib.sh

# of --help: what has one or two dashes and is no part of a word
helped() {
	grep -oE -- '(^|[^[:alnum:]-])--?[[:alpha:]][[:alnum:]-]*' |
	    sed 's/^[^-]//' | sort -u
}

# of a page: what its list of options has
listed() {
	sed -n '/^\.It /{s/\\-/-/g;p;}' "$1" | grep -oE ' Fl [^ ]+' |
	    sed 's/^ Fl /-/' | sort -u
}

cd "$T" || exit 99
for p in $(ls "$B"); do
	page=$OLDPWD/man/$p.1
	"$B/$p" --help >"$p.text" 2>/dev/null
	same "$p: --help" 0 $?
	helped <"$p.text" >"$p.help"
	listed "$page" >"$p.page"
	check "$p: there are some" test -s "$p.help"
	samefile "$p: --help has the options of the page" "$p.page" "$p.help"
	refused=
	while read -r o; do
		"$B/$p" "$o" --help </dev/null >out 2>&1
		if grep -qE "unrecogni[sz]ed|(invalid|unknown) option" out; then
			refused="$refused $o"
		fi
	done <"$p.page"
	same "$p: takes them all" "" "$refused"
done

done_testing
