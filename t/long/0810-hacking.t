#!/bin/sh
# The recipes of cmd/HACKING, carried out in a copy of the tree: each `file:' is
# written, each `row:' put into its table, each `header:' before its header's
# end, and each `run:' is run.
. t/lib.sh
LIMIT=900

command -v git >/dev/null && git rev-parse HEAD >/dev/null 2>&1 ||
    skip_all "no git, so no copy of the tree"
mkdir "$T/tree" && git ls-files -z | xargs -0 cp --parents -t "$T/tree" ||
    exit 99

# what is to be done, in order: one file for each step, its first line says what
awk -v dir="$T" '
/^(file|row|header|run):/ { f = sprintf("%s/step%02d", dir, ++n); print >f; next }
f != "" && /^\t/ { sub(/^\t/, ""); print >f; next }
f != "" && /^$/ { print >f; next }
{ f = "" }
' cmd/HACKING
ok "HACKING has recipes" "$([ -f "$T/step01" ]; echo $?)"

insert() { # before the line that matches $1 in $2: the text of $3
	sed -n '2,$p' "$3" >"$T/text"
	awk -v pat="$1" -v text="$T/text" '
	$0 ~ pat && !done {
		while ((getline line <text) > 0)
			if (line != "")
				print line
		done = 1
	}
	{ print }' "$2" >"$T/new" && cp "$T/new" "$2"
}
cd "$T/tree" || exit 99
for step in "$T"/step*; do
	head=$(head -n 1 "$step")
	to=${head#*: }
	case $head in
	file:*)
		sed '1,2d' "$step" >"$to"
		check "$to is written" test -s "$to" ;;
	row:*)
		check "a row of $to" insert '\.name = "none"' "$to" "$step" ;;
	header:*)
		check "a prototype in $to" insert '^#endif' "$to" "$step" ;;
	run:)
		sed 1d "$step" >"$T/script"
		check "commands: $(sed -n '2s/.*build.bin.//p' "$T/script")" \
		    env -u MAKEFLAGS -u MAKELEVEL sh -e "$T/script" ;;
	esac
done

done_testing
