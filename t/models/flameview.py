#!/usr/bin/python3
"""flameview.py SVG FOLDER - a flame graph in a browser

Three widths, light and dark, by mouse, touch and keyboard; pictures go to the
folder. Prints what is wrong; status 77 if the browser does not run here.
"""
import os
import re
import sys
from browser import Browser

FACTS = '''
(function () {
	const svg = document.documentElement;
	const parse = c => c.match(/[\\d.]+/g).map(Number);
	function light(c) {
		const l = c.slice(0, 3).map(v => (v /= 255) <= 0.04045 ?
		    v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
		return 0.2126 * l[0] + 0.7152 * l[1] + 0.0722 * l[2];
	}
	const fill = e => light(parse(getComputedStyle(e).fill));
	function ratio(a, b) {
		return (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
	}
	const paper = fill(document.getElementById("paper"));
	let least = 99, labels = 0, out = 0, last = 0;
	for (const t of document.querySelectorAll("text")) {
		const f = t.closest(".f");
		if (!t.textContent || !t.checkVisibility())
			continue;
		labels++;
		least = Math.min(least, ratio(fill(t), f ?
		    fill(f.querySelector("rect")) : paper));
		const r = t.getBoundingClientRect();
		out += r.right > innerWidth + 1 || r.left < -1;
	}
	for (const r of document.querySelectorAll(".f:not(.hidden) rect")) {
		const b = r.getBoundingClientRect();
		last = Math.max(last, b.right);
		out += b.right > innerWidth + 1 || b.left < -1;
	}
	return { least, labels, out, last, paper,
	    wide: document.documentElement.scrollWidth,
	    title: document.querySelector("svg > title").textContent,
	    letter: document.querySelector(".f text")
	        .getBoundingClientRect().height };
})()
'''
ACTIVE = '''(e => [e.getAttribute("data-name") || e.id || e.tagName,
    getComputedStyle(e.querySelector ? e.querySelector("rect") || e : e)
    .strokeWidth])(document.activeElement)'''
wrong = []


def need(what, ok, told=''):
    if not ok:
        wrong.append('%s %s' % (what, told))


def look(b, url, folder):
    for width in 400, 800, 1400:
        for dark in False, True:
            what = '%d %s' % (width, 'dark' if dark else 'light')
            b.window(width, 700, dark)
            b.open(url)
            f = b.run(FACTS)
            need(what + ': contrast', f['least'] >= 4.5, f)
            need(what + ': labels', f['labels'] > 5, f)
            need(what + ': as wide as the window', f['out'] == 0 and
                 f['wide'] <= width and width - 12 <= f['last'], f)
            need(what + ': letters keep their size', 11 < f['letter'] < 20, f)
            need(what + ': paper', (f['paper'] < 0.1) == dark, f)
            need(what + ': title', f['title'] != '', f)
            file = os.path.join(folder, 'flame-%s.png' %
                                what.replace(' ', '-'))
            b.picture(file)
            need(what + ': a picture', os.path.getsize(file) > 5000)
            for complaint in b.complaints():
                wrong.append(what + ': ' + complaint)
    # the window changes while it is shown
    b.window(640, 700)
    b.run('new Promise(r => setTimeout(() => r(1), 200))')
    f = b.run(FACTS)
    need('resized', f['out'] == 0 and 628 <= f['last'], f)


def active(b):
    return b.run(ACTIVE)


def keyboard(b, url):
    b.window(1000, 700)
    b.open(url)
    b.run('document.documentElement.focus()')
    seen = []
    for _ in range(4):
        b.key('Tab')
        seen.append(active(b)[0])
        if seen[-1] == 'all':
            break
    need('Tab leads to the search', 'find' in seen, seen)
    need('and to the lowest frame', seen[-1] == 'all', seen)
    need('focus is visible', active(b)[1] == '3px', active(b))
    need('it says what it is', b.run(
        'document.activeElement.getAttribute("aria-label")').startswith('all:'))
    up, back = 'ArrowUp', 'ArrowDown'
    if b.run('document.documentElement.getAttribute("data-down") == "1"'):
        up, back = back, up
    b.key(up)
    one = active(b)[0]
    need('up goes to a callee', one != 'all')
    b.key(up)
    need('and on', active(b)[0] != one, one)
    b.key(back)
    need('and back', active(b)[0] == one, active(b))
    b.key(up)
    name = active(b)[0]
    info = b.run('document.getElementById("info").textContent')
    need('its costs are told', info.startswith(name[:20]), info)
    b.key('Enter')
    need('Enter zooms', 'zoom=' in b.run('location.hash'))
    wide = b.run('document.activeElement.querySelector("rect")'
                 '.getBoundingClientRect().width')
    need('as wide as all', wide > 970, wide)
    b.key('Escape')
    need('Escape goes back', 'zoom=' not in b.run('location.hash'))
    b.key('f', modifiers=2)
    need('Ctrl-F asks', b.run('document.activeElement.tagName') == 'input')
    b.write(re.findall(r'\w+', name)[0])
    found = b.run('document.getElementById("found").textContent')
    need('the share is told', 'found: ' in found and '% in ' in found and
         not found.endswith(' 0'), found)
    need('they are marked', b.run('document.querySelectorAll(".match").length'))
    b.key('Escape')
    need('Escape clears', b.run(
        'document.querySelectorAll(".match").length') == 0)


def touch(b, url):
    b.window(400, 700, touch=True)
    b.open(url)
    x, y = b.run('''(r => [r.left + r.width / 2, r.top + r.height / 2])(
        document.querySelectorAll(".f")[1].getBoundingClientRect())''')
    b.tap(x, y)
    b.run('new Promise(r => setTimeout(() => r(1), 400))')
    need('a tap tells', b.run('document.getElementById("info").textContent'))
    need('and zooms', 'zoom=1' in b.run('location.hash'))


def main():
    url = 'file://' + os.path.abspath(sys.argv[1])
    try:
        b = Browser(os.environ.get('BROWSER', 'chromium'), 100)
    except (OSError, EOFError, TimeoutError) as e:
        print(e)
        sys.exit(77)
    try:
        look(b, url, sys.argv[2])
        keyboard(b, url)
        touch(b, url)
    finally:
        b.close()
    print('\n'.join(wrong))
    sys.exit(1 if wrong else 0)


main()
