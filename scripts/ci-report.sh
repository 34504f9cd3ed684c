# ci-report.sh - what ci reports: a part of it, see scripts/ci
#
# shellcheck shell=sh disable=SC2154	# variables are those of ci

# report FORMAT: markdown, json or junit, from what lies in $W
report() {
	# not by -v, which takes a backslash for the beginning of an escape
	folder=$W me=$me from=$baseline env=$env caches=${caches:-$usual} \
	    awk -v format="$1" -v moved="$moved" -v status="$status" \
	    -v runs="$runs" -v version="$version" -v cpu="$cpu" \
	    -F'\t' "$shown"'
BEGIN {
	W = ENVIRON["folder"]
	me = ENVIRON["me"]
	from = ENVIRON["from"]
	env = ENVIRON["env"]
	caches = ENVIRON["caches"]
}
function commas(n,    s, sign) {
	sign = n < 0 ? "-" : ""
	s = sprintf("%.0f", n < 0 ? -n : n)
	n = ""
	for (; length(s) > 3; s = substr(s, 1, length(s) - 3))
		n = "," substr(s, length(s) - 2) n
	return sign s n
}
function change(old, new) {
	if (old == new)
		return "0"
	if (old == 0)
		return sprintf("+%s (new)", commas(new))
	return sprintf("%s%s (%+.2f %%)", new > old ? "+" : "",
	    commas(new - old), (new - old) * 100 / (old < 0 ? -old : old))
}
# strings of the formats
function md(s) {
	s = shown(s)
	gsub(/\|/, "\\|", s)
	return "`" s "`"
}
function xml(s) {
	gsub(/&/, "\\&amp;", s)
	gsub(/</, "\\&lt;", s)
	gsub(/>/, "\\&gt;", s)
	gsub(/"/, "\\&quot;", s)
	gsub(/[\001-\010\013\014\016-\037]/, "?", s)
	return s
}
function js(s,    n, part, c, out) {
	for (; s != ""; s = substr(s, n + 2)) {
		n = utf8(s)
		part = substr(s, 1, n)
		gsub(/["\\]/, "\\\\&", part)
		c = code[substr(s, n + 1, 1)]
		out = out part (c < 1 ? "" : \
		    sprintf(c < 32 ? "\\u%04x" : "\\\\%03o", c))
	}
	return "\"" out "\""
}
function lines(file, to,    n, l) {
	for (n = 0; (getline l < file) > 0; )
		to[++n] = l
	close(file)
	return n
}
# the program of this line of the list: its files into arrays
function load(    n, i, l, p) {
	delete event; delete old; delete new; delete limit; delete result
	delete reason; delete move; delete spread; delete noisy
	nevent = nlimit = nmove = 0
	hasold = 0
	n = lines(W "/" $1 ".state", l)
	state = l[1]
	why = ""
	if (state ~ /^error/) {
		why = substr(state, 7)
		state = "error"
	}
	n = lines(W "/" $1 ".new", l)
	for (i = 1; i <= n; i++) {
		split(l[i], p, " ")
		event[++nevent] = p[1]
		new[p[1]] = p[2]
	}
	n = lines(W "/" $1 ".old", l)
	for (i = 1; i <= n; i++) {
		split(l[i], p, " ")
		old[p[1]] = p[2]
		hasold = 1
	}
	nlimit = lines(W "/" $1 ".limits", limit)
	load_spread()
	load_diff()
}
# the spread of each event: of the old runs, of the new ones, and the larger one
function load_spread(    n, i, l, p) {
	n = lines(W "/" $1 ".spread", l)
	differs = n && l[1] + 0
	for (i = 2; i <= n; i++) {
		split(l[i], p, "\t")
		spread["old", p[1]] = p[2]
		spread["new", p[1]] = p[3]
		spread[p[1]] = p[2] + 0 > p[3] + 0 ? p[2] : p[3]
		noisy[p[1]] = p[4]
	}
	if (differs)
		different = different (different == "" ? "" : ", ") md($1)
}
# diff: "Limit x: kept" in the order of limits, and functions behind a title
function load_diff(    n, i, k, l, part) {
	n = lines(W "/" $1 ".diff", l)
	for (i = 1; i <= n; i++) {
		if (l[i] ~ /^Limit /) {
			result[++k] = l[i]
			sub(/.*: /, "", result[k])
			part = "limit"
		} else if (part == "limit" && l[i] ~ /^  /) {
			reason[k] = reason[k] substr(l[i], 3) "\n"
		} else if (l[i] ~ /^-- Functions$/) {
			part = "moved"
			i++
		} else if (part == "moved" && l[i] != "") {
			move[++nmove] = l[i]
		}
	}
}
function limit_event(i,    e) {
	e = limit[i]
	sub(/[:=].*/, "", e)
	return e
}
function is_skipped(i) {
	return result[i] == "noisy" || result[i] == "no function"
}
function of_function(i) {
	return limit[i] ~ /^[^=]*:/
}
# ---- Markdown
function row(name, e, was, is, diff, wide, what) {
	printf "| %s | %s | %s | %s | %s | %s%s |\n", name, e, was, is, diff,
	    runs == 1 ? "" : wide " | ", what
}
function md_spread(e,    of) {
	if (spread[e] == 0)
		return spread[e]
	of = hasold ? old[e] : new[e]
	return commas(spread[e]) \
	    (of > 0 ? sprintf(" (%.2f %%)", spread[e] * 100 / of) : "")
}
function md_limit(i) {
	return md(limit[i]) (result[i] == "exceeded" ? " **exceeded**" : \
	    is_skipped(i) ? " " result[i] : "")
}
function md_limits(e,    i, s) {
	for (i = 1; i <= nlimit; i++)
		if (limit_event(i) == e && !of_function(i))
			s = s (s == "" ? "" : ", ") md_limit(i)
	return s
}
function md_program(    i, e, s) {
	if (state == "error") {
		row($1, "", "", "", "**failed**", "", md(why))
		return
	}
	for (i = 1; i <= nevent; i++) {
		e = event[i]
		s = md_limits(e)
		if (i > 1 && s == "")
			continue
		row($1, e, hasold ? commas(old[e]) : "", commas(new[e]),
		    hasold ? change(old[e], new[e]) \
		    (noisy[e] ? ", noisy" : "") : "no baseline",
		    md_spread(e), s)
	}
	for (i = 1; i <= nlimit; i++)
		if (of_function(i))
			row($1, limit_event(i), "", "", "", "", md_limit(i))
}
function md_moved(    i, n, s) {
	for (i = 1; i <= nlimit; i++)
		if (reason[i] != "")
			text = text "\n" $1 ": beyond " md(limit[i]) \
			    "\n\n```\n" reason[i] "```\n"
	if (nmove < 2)
		return
	for (i = 1; i <= nmove && i <= moved + 1; i++) {
		s = s move[i] "\n"
		n += move[i] ~ /  noisy$/
	}
	text = text "\n" $1 ": functions that moved" (n && runs > 1 ? \
	    "; noisy: no more than from run to run" : "") "\n\n```\n" s
	if (nmove > moved + 1)
		text = text nmove - moved - 1 " more\n"
	text = text "```\n"
}
# ---- JSON
function json_program(    i, l, n, s) {
	printf "%s\n{\"name\":%s,\"kind\":%s,\"command\":%s,\"state\":%s",
	    NR == 1 ? "" : ",", js($1), js($2), js(command), js(state)
	if (why != "")
		printf ",\"message\":%s", js(why)
	printf ",\"totals\":{"
	for (i = 1; i <= nevent; i++)
		printf "%s%s:%.0f", i == 1 ? "" : ",", js(event[i]),
		    new[event[i]]
	n = lines(W "/" $1 ".json", l)
	printf "},"
	if (runs > 1)
		json_spread()
	printf "\"diff\":%s}", n ? l[1] : "null"
}
function json_spread(    i, e, was) {
	printf "\"spread\":{"
	for (i = 1; i <= nevent; i++) {
		e = event[i]
		was = spread["old", e]
		printf "%s%s:{\"old\":%s,\"new\":%s,\"noisy\":%s}",
		    i == 1 ? "" : ",", js(e), was == "" ? "null" : was,
		    spread["new", e], noisy[e] ? "true" : "false"
	}
	printf "},\"noisy\":["
	e = ""
	for (i = 1; i <= nlimit; i++)
		if (result[i] == "noisy") {
			printf "%s%s", e, js(limit[i])
			e = ","
		}
	printf "],"
}
# ---- JUnit: a test for the run, and one for each limit
function testcase(name, tag, message, body) {
	ntest++
	cases = cases sprintf("<testcase classname=\"%s\" name=\"%s\"",
	    xml($1), xml(shown(name)))
	if (tag == "") {
		cases = cases "/>\n"
		return
	}
	count[tag]++
	cases = cases sprintf(">\n<%s message=\"%s\">%s</%s>\n</testcase>\n",
	    tag, xml(shown(message)), xml(body), tag)
}
function junit_program(    i, e, m) {
	testcase("runs", state == "error" ? "error" : "", why, "")
	for (i = 1; i <= nlimit; i++) {
		e = limit_event(i)
		m = limit[i] " " result[i]
		if (!of_function(i))
			m = m ": " change(old[e], new[e])
		testcase(limit[i], result[i] == "exceeded" ? "failure" : \
		    is_skipped(i) ? "skipped" : "", m, reason[i])
	}
}
BEGIN {
	if (format == "markdown") {
		print "| Program | Event | Baseline | Now | Change |" \
		    (runs == 1 ? "" : " Spread |") " Limit |"
		print "|:--|:--|--:|--:|--:|" (runs == 1 ? "" : "--:|") ":--|"
	} else if (format == "json") {
		printf "{\"schema\":\"quern/ci/1\",\"version\":%s," \
		    "\"baseline\":%s,\"cpu\":%s,\"caches\":%s," \
		    "\"environment\":%s,%s\"programs\":[", js(version),
		    from == "" ? "null" : js(from), js(cpu), js(caches),
		    js(env), runs == 1 ? "" : "\"runs\":" runs ","
	}
}
{
	command = $0
	sub(/^[^\t]*\t[^\t]*\t/, "", command)
	load()
	if (format == "markdown") {
		md_program()
		md_moved()
	} else if (format == "json") {
		json_program()
	} else {
		junit_program()
	}
}
END {
	if (format == "markdown") {
		if (different != "")
			text = text "\n" different ": identical runs differ" \
			    ", as by seeds of hashes, for which " \
			    "`--env=PYTHONHASHSEED=0` and others are the " \
			    "cure, or by time: see CAVEATS in " me "(1)\n"
		printf "%s\ncpu %s; environment: %s\n", text, md(cpu), md(env)
	} else if (format == "json") {
		printf "\n],\"status\":%d}\n", status
	} else {
		print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
		printf "<testsuites>\n<testsuite name=\"quern\" tests=\"%d\" " \
		    "failures=\"%d\" errors=\"%d\"%s>\n%s</testsuite>\n" \
		    "</testsuites>\n", ntest, count["failure"],
		    count["error"], runs == 1 && !count["skipped"] ? "" : \
		    sprintf(" skipped=\"%d\"", count["skipped"]), cases
	}
}' "$W/programs"
}

# put FORMAT FILE: a report that appears when it is whole
put() {
	if ! report "$1" >"$2.tmp.$$" || ! mv "$2.tmp.$$" "$2"; then
		rm -f "$2.tmp.$$"
		die "$2: cannot be written"
	fi
}
