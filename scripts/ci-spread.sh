# ci-spread.sh - how far runs of a program differ, and which changes are no more
# than that: a part of ci, see scripts/ci
#
# shellcheck shell=sh disable=SC2154	# variables are those of ci

# Functions of awk for what diff writes: costs(LINE, N, TO) has the N changes of
# a function's line in TO, and gives its name. total() says whether this line is
# one of the total's changes, moved() whether one of a function's. They count
# events: event[1] to event[nevent], change[EVENT] in all.
# shellcheck disable=SC2016	# of awk
of_diff='
function costs(s, n, to,    i, c) {
	for (i = 1; i <= n; i++) {
		match(s, /^ *[-+]?[0-9,]+( *\([^)]*\))? +/)
		c = substr(s, 1, RLENGTH)
		s = substr(s, RLENGTH + 1)
		gsub(/\(.*|[ ,+]/, "", c)
		to[i] = c + 0
	}
	sub(/^ +/, "", s)
	return s
}
function total(    word) {
	if ($0 ~ /^Event +old +new +change$/) {
		part = "total"
		nevent = 0
	} else if (part == "total" && split($0, word, " ") >= 4) {
		event[++nevent] = word[1]
		gsub(/[,+]/, "", word[4])
		change[word[1]] = word[4] + 0
		return 1
	} else if (part == "total") {
		part = ""
	}
	return 0
}
function moved() {
	if ($0 == "-- Functions")
		part = "title"
	else if (part == "title" && $0 == "")
		part = "moved"
	else if (part == "moved" && $0 == "")
		part = ""
	else
		return part == "moved" && /:/
	return 0
}'

# differ OPTION... OLD NEW: diff by function, with equal names for both trees
differ() {
	[ -z "$mods" ] || set -- --mod-filename="$mods" \
	    --mod-objname="$mods" "$@"
	"${pre}diff" --strict --by=function "$@"
}

# spread: how much less and more the runs in $work have than $out: "runs", their
# number, then "event less more", and the same with a function; a tab between.
# What is the same in all has no line.
spread() {
	k=0
	: >"$work/diff"
	while [ $k -lt "$runs" ]; do
		k=$((k + 1))
		differ --threshold=0 "$out" "$work/$side.$k" >>"$work/diff"
		[ $? -le 1 ] || return
	done
	printf 'runs\t%s\n' "$runs"
	awk "$of_diff"'
	function note(key, c) {
		if (!(key in less) && c != 0) {
			key_of[++nkey] = key
			less[key] = more[key] = 0
		}
		if (c < less[key])
			less[key] = c
		if (c > more[key])
			more[key] = c
	}
	total() { note(event[nevent] "\t", change[event[nevent]]) }
	moved() {
		name = costs($0, nevent, c)
		for (i = 1; i <= nevent; i++)
			note(event[i] "\t" name, c[i])
	}
	END {
		for (i = 1; i <= nkey; i++) {
			split(key_of[i], part_of, "\t")
			printf "%s\t%.0f\t%.0f%s\n", part_of[1],
			    less[key_of[i]], more[key_of[i]],
			    part_of[2] == "" ? "" : "\t" part_of[2]
		}
	}' "$work/diff"
}

# weigh NAME: a change that is no more than the spread of one side, or that lies
# where the runs of both overlap, is noisy. NAME.diff says so then: of limits,
# instead of exceeded, and behind functions; NAME.spread says it of events.
weigh() {
	was=/dev/null
	[ ! -f "$base/$1.spread" ] || was=$base/$1.spread
	file=$W/$1.spread awk -F'\t' -v events="$events" "$of_diff"'
	BEGIN {
		file = ENVIRON["file"]
	}
	function max(a, b) {
		return a > b ? a : b
	}
	function width(side, key) {
		return more[side, key] - less[side, key]
	}
	function noisy(c, key,    n) {
		n = max(width("old", key), width("new", key))
		if (c < 0)
			return -c <= max(n, more["new", key] - less["old", key])
		return c <= max(n, more["old", key] - less["new", key])
	}
	# the limit that is held, when all functions beyond it are known
	function flush() {
		if (held != "" && beyond && !real)
			sub(/exceeded$/, "noisy", held)
		printf "%s", held == "" ? "" : held "\n" reasons
		held = reasons = ""
		beyond = real = 0
	}
	side != "" && $1 == "runs" {
		known[side] = 1
		next
	}
	side != "" {
		differs = 1
		less[side, $1 "\t" $4] = $2
		more[side, $1 "\t" $4] = $3
		next
	}
	/^Limit / {
		flush()
		held = $0
		e = $0
		sub(/^Limit /, "", e)
		match(e, /[:=]/)
		of_function = substr(e, RSTART, 1) == ":"
		e = substr(e, 1, RSTART - 1)
		if (/: exceeded$/ && !of_function) {
			beyond++
			real = !noisy(change[e], e "\t")
		}
		next
	}
	held != "" && /^  / {
		name = costs($0, 1, c)
		beyond++
		if (noisy(c[1], e "\t" name))
			$0 = $0 "  noisy"
		else
			real++
		reasons = reasons $0 "\n"
		next
	}
	{
		flush()
		total()
	}
	moved() {
		name = costs($0, nevent, c)
		n = real_ones = 0
		for (i = 1; i <= nevent; i++)
			if (c[i] != 0 && !noisy(c[i], event[i] "\t" name))
				real_ones++
		if (!real_ones)
			$0 = $0 "  noisy"
	}
	{ print }
	END {
		flush()
		print differs + 0 >file
		n = split(events, e_of, " ")
		for (i = 1; i <= n; i++) {
			e = e_of[i]
			printf "%s\t%s\t%.0f\t%d\n", e,
			    known["old"] ? width("old", e "\t") : "",
			    width("new", e "\t"), change[e] != 0 &&
			    noisy(change[e], e "\t") >file
		}
	}' side=old "$was" side=new "$dir/$1.spread" side= "$W/$1.diff" \
	    >"$W/weighed" || lost
	mv "$W/weighed" "$W/$1.diff" || lost
}

# below NAME: say which limits its runs exceed among themselves
below() {
	[ -s "$W/$1.limits" ] || return
	for side in new old; do
		k=0 out=$dir/$1.out
		[ $side = new ] || out=$base/$1.out
		while [ $k -lt "$runs" ]; do
			k=$((k + 1))
			run=$W/$1.run/$side.$k
			if [ -f "$run" ] && ! cmp -s "$out" "$run"; then
				with_limits "$1" "$out" "$run"
				with_limits "$1" "$run" "$out"
			fi
		done
	done 2>/dev/null | sed -n 's/^Limit \(.*\): exceeded$/\1/p' | sort -u |
	    while IFS= read -r l; do
		say "$1: --limit=$l is below the spread of its runs"
	done
}
