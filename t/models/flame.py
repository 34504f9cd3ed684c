#!/usr/bin/python3
"""flame.py SVG FOLDED - is the picture that of the stacks?

Checks each frame's place and width against the stacks, that frames lie within
their callers and not over each other, that nothing leads elsewhere, and that
what is shown is told in titles. Prints the number of frames and rows.
"""
import collections
import re
import sys
import xml.etree.ElementTree as ET

NS = '{http://www.w3.org/2000/svg}'


def check_merged(merged, below, row):
    """Merged frames lie on a caller, and over none of its callees."""
    for _, x, w, title in merged:
        assert re.match(r'[0-9]+ small frames: [0-9,]+ ', title), title
        assert any(b[0] - 0.002 <= x and x + w <= b[0] + b[1] + 0.002
                   for b in below), title
        assert all(x + w <= r[0] + 0.002 or r[0] + r[1] <= x + 0.002
                   for r in row), title


def main():
    text = open(sys.argv[1], encoding='utf-8').read()
    root = ET.fromstring(text)
    rest = text.replace('xmlns="http://www.w3.org/2000/svg"', '').replace(
        '"http://www.w3.org/1999/xhtml"', '')	# a name, not an address
    assert not re.search(r'https?:|href|@import|url\(', rest), 'leads elsewhere'
    assert root.findall(NS + 'script') and root.findall(NS + 'style')
    total = 0
    want = collections.Counter()
    for line in open(sys.argv[2], encoding='utf-8'):
        stack, n = line.rstrip('\n').rsplit(' ', 1)
        if re.search(r' \d+$', stack):
            stack = stack.rsplit(' ', 1)[0]
        total += int(n)
        path = ()
        for name in stack.split(';'):
            path += (name,)
            want[path] += int(n)
    down = root.get('data-down') == '1'
    width = float(root.get('width')) - 20
    frames, merged = [], []
    for g in root.findall(NS + 'g'):
        r = g.find(NS + 'rect')
        if g.get('class') == 'f s':
            merged.append((float(r.get('y')), float(r.get('x')),
                           float(r.get('width')), g.find(NS + 'title').text))
            continue
        label = g.find(NS + 'text')
        frames.append((float(r.get('y')), float(r.get('x')),
                       float(r.get('width')), g.get('data-name'),
                       g.find(NS + 'title').text,
                       '' if label is None else label.text))
    rows = sorted({f[0] for f in frames}, reverse=not down)
    assert frames[0][2] > width - 0.01 and frames[0][3] == 'all'
    below, got = [(frames[0][1], frames[0][2], ())], {}
    for y in rows[1:]:
        row, end = [], 0
        for _, x, w, name, title, label in sorted(f for f in frames
                                                  if f[0] == y):
            up = [b for b in below if b[0] - 0.002 <= x and
                  x + w <= b[0] + b[1] + 0.002]
            assert len(up) == 1, (name, x, w)
            assert x >= end - 0.002, ('over another', name)
            end = x + w
            path = up[0][2] + (name,)
            assert path not in got, path
            got[path] = w
            row.append((x, w, path))
            n = want[path]
            assert abs(w - width * n / total) < 0.002, (path, w, n)
            assert title.startswith('%s: %s ' % (name, format(n, ','))), title
            label = re.sub(r' ([+-][0-9.]+%|new)$', '', label)
            assert not label or name.startswith(label.rstrip('.')[:5]), label
        check_merged([m for m in merged if m[0] == y], below, row)
        below = row
    note = [t.text or '' for t in root.findall(NS + 'text')
            if t.get('id') == 'note'][0]
    least = float((re.findall(r'narrower than ([0-9.e-]+) of', note) +
                   ['0.1'])[0])
    for path, n in want.items():
        assert path in got or width * n / total < 1.1 * least, path
    lost = sum(path not in got and n > 0 for path, n in want.items())
    told = re.findall(r'^([0-9,]+) frames', note)
    assert lost == int((told + ['0'])[0].replace(',', '')), (lost, note)
    print(len(frames), len(rows))


main()
