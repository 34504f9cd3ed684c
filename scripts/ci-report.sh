# ci-report.sh - what ci reports: a part of it, see scripts/ci
#
# shellcheck shell=sh disable=SC2154	# variables are those of ci

# report FORMAT: markdown, json or junit, from what lies in $W
report() {
	awk -v format="$1" -v W="$W" -v moved="$moved" -v status="$status" \
	    -v version="$version" -v from="$baseline" -v cpu="$cpu" \
	    -v env="$env" -v caches="${caches:-$usual}" -F'\t' "$shown"'
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
	delete reason; delete move
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
	load_diff()
}
# diff: "Limit x: kept" in the order of limits, and functions behind a title
function load_diff(    n, i, k, l, part) {
	n = lines(W "/" $1 ".diff", l)
	for (i = 1; i <= n; i++) {
		if (l[i] ~ /^Limit /) {
			result[++k] = l[i] ~ /: exceeded$/ ? "exceeded" : "kept"
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
function of_function(i) {
	return limit[i] ~ /^[^=]*:/
}
# ---- Markdown
function row(name, e, was, is, diff, what) {
	printf "| %s | %s | %s | %s | %s | %s |\n", name, e, was, is, diff, what
}
function md_limits(e,    i, s) {
	for (i = 1; i <= nlimit; i++)
		if (limit_event(i) == e && !of_function(i))
			s = s (s == "" ? "" : ", ") md(limit[i]) \
			    (result[i] == "exceeded" ? " **exceeded**" : "")
	return s
}
function md_program(    i, e, s) {
	if (state == "error") {
		row($1, "", "", "", "**failed**", md(why))
		return
	}
	for (i = 1; i <= nevent; i++) {
		e = event[i]
		s = md_limits(e)
		if (i > 1 && s == "")
			continue
		row($1, e, hasold ? commas(old[e]) : "", commas(new[e]),
		    hasold ? change(old[e], new[e]) : "no baseline", s)
	}
	for (i = 1; i <= nlimit; i++)
		if (of_function(i))
			row($1, limit_event(i), "", "", "", md(limit[i]) \
			    (result[i] == "exceeded" ? " **exceeded**" : ""))
}
function md_moved(    i, n) {
	for (i = 1; i <= nlimit; i++)
		if (reason[i] != "")
			text = text "\n" $1 ": beyond " md(limit[i]) \
			    "\n\n```\n" reason[i] "```\n"
	if (nmove < 2)
		return
	text = text "\n" $1 ": functions that moved\n\n```\n"
	for (i = 1; i <= nmove && i <= moved + 1; i++)
		text = text move[i] "\n"
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
	printf "},\"diff\":%s}", n ? l[1] : "null"
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
	if (tag == "error")
		nerror++
	else
		nfailure++
	cases = cases sprintf(">\n<%s message=\"%s\">%s</%s>\n</testcase>\n",
	    tag, xml(shown(message)), xml(body), tag)
}
function junit_program(    i, e, m) {
	testcase("runs", state == "error" ? "error" : "", why, "")
	for (i = 1; i <= nlimit; i++) {
		e = limit_event(i)
		m = of_function(i) ? limit[i] " exceeded" : limit[i] \
		    " exceeded: " change(old[e], new[e])
		testcase(limit[i], result[i] == "exceeded" ? "failure" : "", m,
		    reason[i])
	}
}
BEGIN {
	if (format == "markdown") {
		print "| Program | Event | Baseline | Now | Change | Limit |"
		print "|:--|:--|--:|--:|--:|:--|"
	} else if (format == "json") {
		printf "{\"schema\":\"quern/ci/1\",\"version\":%s," \
		    "\"baseline\":%s,\"cpu\":%s,\"caches\":%s," \
		    "\"environment\":%s,\"programs\":[", js(version),
		    from == "" ? "null" : js(from), js(cpu), js(caches), js(env)
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
		printf "%s\ncpu %s; environment: %s\n", text, md(cpu), md(env)
	} else if (format == "json") {
		printf "\n],\"status\":%d}\n", status
	} else {
		print "<?xml version=\"1.0\" encoding=\"UTF-8\"?>"
		printf "<testsuites>\n<testsuite name=\"quern\" tests=\"%d\" " \
		    "failures=\"%d\" errors=\"%d\">\n%s</testsuite>\n" \
		    "</testsuites>\n", ntest, nfailure, nerror, cases
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
