#!/usr/bin/python3
"""page.py COMMAND PAGE [ARGUMENT]... - a page of annotate in a browser

trial PAGE          sort, filter, choose columns, follow a link, by keyboard
look PAGE FOLDER [cold]
                    is it legible at three widths, light and dark? pictures;
                    cold: no cell has all the costs
axe PAGE AXE.JS     has axe-core anything serious to say?

Prints a line for each thing that is wrong; status 1 if there is one, 77 if the
browser does not run here. BROWSER is its program.
"""
import json
import os
import sys
from browser import Browser

VISIBLE = '''
function visible(e) {
	const r = e.getBoundingClientRect();
	return r.width > 0 && r.height > 0 &&
	    getComputedStyle(e).visibility == "visible" && e.checkVisibility();
}
'''

# Everything with text of its own: its colour against what is behind it.
CONTRAST = VISIBLE + '''
(function () {
	function parse(c) {
		const n = c.match(/[\\d.]+/g).map(Number);
		return n.length < 4 ? [...n, 1] : n;
	}
	const over = (a, b) => [0, 1, 2].map(
	    i => a[i] * a[3] + b[i] * (1 - a[3])).concat(1);
	function light(c) {
		const l = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ?
		    v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
	}
	function behind(e) {
		const up = e.parentElement;
		const c = parse(getComputedStyle(e).backgroundColor);
		return c[3] == 1 ? c : over(c, up ? behind(up) : [255, 255, 255, 1]);
	}
	const bad = {}, all = document.querySelectorAll("body *");
	let n = 0, least = 99;
	for (const e of all) {
		if (!Array.from(e.childNodes).some(t => t.nodeType == 3 &&
		    t.data.trim()) || !visible(e) || e.tagName == "SCRIPT")
			continue;
		const bg = behind(e), s = getComputedStyle(e);
		const x = light(over(parse(s.color), bg)), y = light(bg);
		const ratio = (Math.max(x, y) + .05) / (Math.min(x, y) + .05);
		n++;
		least = Math.min(least, ratio);
		if (ratio < 4.5)
			bad[e.tagName + "." + e.className] = ratio.toFixed(2);
	}
	return { n, least, bad, page: light(behind(document.body)),
	    input: light(behind(document.querySelector("input"))),
	    hottest: document.querySelectorAll(
	    "#functions + table .h9").length };
})()
'''

# What sticks out of the window, or out of a box that does not show the rest.
CUT = VISIBLE + '''
(function () {
	const bad = [], w = innerWidth;
	function scrolls(e) {
		for (; e; e = e.parentElement)
			if (/auto|scroll/.test(getComputedStyle(e).overflowX) &&
			    e != document.documentElement)
				return true;
		return false;
	}
	for (const e of document.querySelectorAll("body *")) {
		if (!visible(e))
			continue;
		const r = e.getBoundingClientRect();
		if ((r.right > w + 1 || r.left < -1) && !scrolls(e))
			bad.push(e.outerHTML.slice(0, 80));
		const s = getComputedStyle(e);
		if (/hidden|clip/.test(s.overflowX) &&
		    e.scrollWidth > e.clientWidth + 1)
			bad.push("clipped: " + e.outerHTML.slice(0, 80));
	}
	if (document.documentElement.scrollWidth > w)
		bad.push("the page is " + document.documentElement.scrollWidth);
	return bad.slice(0, 5);
})()
'''

SETTLE = 'new Promise(r => setTimeout(() => r(1), 100))'
wrong = []


def expect(what, want, got):
    if want != got:
        wrong.append('%s: %r, not %r' % (what, got, want))


def need(what, ok, told=''):
    if not ok:
        wrong.append('%s %s' % (what, told))


def names(b):
    return b.run('''Array.from(document.querySelectorAll(
        "#functions + table tbody tr:not(.rest):not([hidden]) th"))
        .map(t => t.textContent).join(",")''')


def focus(b, script, most=60):
    """Go by Tab to what a script finds; False: it is not to be reached."""
    b.run('document.activeElement.blur(); scrollTo(0, 0)')
    b.run('document.body.tabIndex = -1; document.body.focus()')
    for _ in range(most):
        b.key('Tab')
        s = b.run('''(e => [e == (%s), getComputedStyle(e).outlineStyle,
            parseFloat(getComputedStyle(e).outlineWidth)])(
            document.activeElement)''' % script)
        need('focus is visible', s[1] != 'none' and s[2] >= 2, str(s))
        if s[0]:
            return True
    return False


def column(i):
    return 'document.querySelectorAll("#functions + table thead button")[%d]' % i


def trial(b, page, what):
    want = json.loads(what)
    b.window(1400, 900)
    b.open(page)
    expect('at first', want['first'], names(b))
    expect('sorted by', want['by'], b.run('''document.querySelector(
        "#functions + table [aria-sort]").textContent'''))
    expect('columns', want['columns'], b.run('''Array.from(
        document.querySelectorAll("#functions + table thead th")).filter(
        t => getComputedStyle(t).display != "none").map(
        t => t.textContent).join(",")'''))
    need('the first head is reached by Tab', focus(b, column(0)))
    b.key('Enter')
    expect('sorted by Enter', want['sorted'], names(b))
    expect('and says so', 'descending', b.run(
        column(0) + '.parentNode.getAttribute("aria-sort")'))
    b.key(' ')
    expect('again by the space bar', ','.join(
        reversed(want['sorted'].split(','))), names(b))
    expect('says so', 'ascending', b.run(
        column(0) + '.parentNode.getAttribute("aria-sort")'))
    expect('one column is sorted', 1, b.run('''document.querySelectorAll(
        "#functions + table [aria-sort]").length'''))
    need('the filter is reached by Tab', focus(b, 'filter'))
    b.write(want['filter'])
    expect('filtered', want['filtered'], names(b))
    need('the number is told', ' of ' in b.run('byId("found").textContent'))
    b.key('Tab')
    b.key('Enter')
    b.run(SETTLE)
    expect('cleared by the button', len(want['first'].split(',')),
           len(names(b).split(',')))
    need('the columns are reached by Tab',
         focus(b, 'document.querySelector("#columns summary")'))
    b.key('Enter')
    b.key('Tab')
    b.key(' ')
    expect('a column is hidden by the space bar', 'none', b.run(
        'getComputedStyle(%s.parentNode).display' % column(0)))
    expect('in sources, too', 'none', b.run(
        'getComputedStyle(document.querySelectorAll(".s th")[1]).display'))
    b.key(' ')
    need('and shown again', b.run(
        'getComputedStyle(%s.parentNode).display' % column(0)) != 'none')
    for link, row in want['links']:
        b.open(page + '#' + link)
        b.run(SETTLE)
        got = b.run('''(h => h && [h.matches("details") ? h.open :
            h.closest("details.fn").open,
            h.getBoundingClientRect().top >= tools.offsetHeight,
            h.getBoundingClientRect().top < innerHeight,
            h.matches("tr") ? h.cells[0].textContent : ""])(
            document.querySelector(".here"))''')
        expect('#' + link, [True, True, True, row], got)
        expect('the address', link, b.run(
            'decodeURIComponent(location.hash.slice(1))'))
    for complaint in b.complaints():
        wrong.append(complaint)


def look(b, page, folder, heat='hot'):
    for width in 400, 800, 1400:
        for dark in False, True:
            what = '%d %s' % (width, 'dark' if dark else 'light')
            b.window(width, 900, dark)
            b.open(page)
            got = b.run(CONTRAST)
            need(what + ': text is there', got['n'] > 20, str(got['n']))
            need(what + ': contrast', got['least'] >= 4.5, str(got['bad']))
            need(what + ': the hottest cell is there',
                 heat == 'cold' or got['hottest'] > 0)
            for part in 'page', 'input':
                need(what + ': ' + part, (got[part] < 0.1) == dark,
                     str(got[part]))
            got = b.run(CUT)
            need(what + ': nothing is cut', not got, str(got))
            for i in range(b.run('document.querySelectorAll("nav a").length')):
                got = b.run('''new Promise(r => {
                    const a = document.querySelectorAll("nav a")[%d];
                    a.click();
                    setTimeout(() => r([a.hash, document.querySelector(a.hash)
                        .getBoundingClientRect().top, Math.max(0,
                        tools.getBoundingClientRect().bottom)]), 60); })''' % i)
                need(what + ': heading below the bar', got[1] >= got[2] and
                     got[1] < 900, str(got))
            b.run('scrollTo(0, 0)')
            file = os.path.join(folder, what.replace(' ', '-') + '.png')
            b.picture(file)
            need(what + ': a picture', os.path.getsize(file) > 12000)
            for complaint in b.complaints():
                wrong.append(what + ': ' + complaint)


def axe(b, page, script):
    with open(script, encoding='utf-8') as f:
        text = f.read()
    for width, dark in (1400, False), (1400, True), (400, False):
        b.window(width, 900, dark)
        b.open(page)
        b.run(text + ';1')
        for v in b.run('''axe.run(document, { resultTypes: ["violations"] })
            .then(r => r.violations.map(v => [v.impact, v.id,
            v.nodes[0].html.slice(0, 200)]))'''):
            if v[0] in ('serious', 'critical'):
                wrong.append('%d: %s' % (width, ': '.join(v)))


def main():
    command, page, *rest = sys.argv[1:]
    page = 'file://' + os.path.abspath(page)
    try:
        b = Browser(os.environ.get('BROWSER', 'chromium'), 100)
    except (OSError, EOFError, TimeoutError) as e:
        print(e)
        sys.exit(77)
    try:
        {'trial': trial, 'look': look, 'axe': axe}[command](b, page, *rest)
    finally:
        b.close()
    print('\n'.join(wrong))
    sys.exit(1 if wrong else 0)


main()
