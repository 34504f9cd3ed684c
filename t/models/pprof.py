#!/usr/bin/python3
"""pprof.py FILE - a pprof profile, read without pprof

Prints its folded stacks of the default event, and to FILE.lines, if that is
named behind, what each line of each function costs itself. With --program it
prints the file of the first mapping, which pprof takes for the program. Checks
what pprof checks: ids that are there and unique, as many values as types,
string 0. And that samples which have callers in common are neighbours: a view
that takes samples for points in time shows such a caller once.
"""
import collections
import gzip
import sys


def fields(data):
    i = 0

    def varint():
        nonlocal i
        n = shift = 0
        while True:
            b = data[i]
            i += 1
            n |= (b & 127) << shift
            shift += 7
            if b < 128:
                return n
    while i < len(data):
        key = varint()
        if key & 7 == 0:
            yield key >> 3, varint()
        elif key & 7 == 2:
            n = varint()
            yield key >> 3, data[i:i + n]
            i += n
        else:
            sys.exit('wire type %d' % (key & 7))


def packed(v):
    if isinstance(v, int):
        return [v]
    out, n, shift = [], 0, 0
    for b in v:
        n |= (b & 127) << shift
        shift += 7
        if b < 128:
            out.append(n - (1 << 64) if n >> 63 else n)
            n = shift = 0
    return out


def message(data):
    d = collections.defaultdict(list)
    for k, v in fields(data):
        d[k].append(v)
    return d


def only(d, k, default=0):
    return d[k][0] if d[k] else default


class Order:
    """Prefixes of stacks: one that ended must not begin again."""

    def __init__(self):
        self.last, self.ended = (), set()

    def add(self, path):
        path = tuple(path)
        same = 0
        while same < min(len(path), len(self.last)) and \
                path[same] == self.last[same]:
            same += 1
        for n in range(same + 1, len(self.last) + 1):
            self.ended.add(self.last[:n])
        for n in range(same + 1, len(path) + 1):
            assert path[:n] not in self.ended, ('chopped', path[:n])
        self.last = path


def main():
    p = message(gzip.open(sys.argv[1]).read())
    strings = [s.decode() for s in p[6]]
    assert strings[0] == ''
    types = [strings[only(message(t), 1)] for t in p[1]]
    default = strings[only(p, 14)]
    assert default == types[-1], 'the default is the last'
    function, location, mapping = {}, {}, {}
    for m in map(message, p[3]):
        assert only(m, 1) not in mapping and only(m, 1) > 0
        mapping[only(m, 1)] = m
    if sys.argv[2:] == ['--program']:
        print(strings[only(message(p[3][0]), 5)])
        return
    for f in map(message, p[5]):
        assert only(f, 1) not in function and only(f, 1) > 0
        function[only(f, 1)] = (strings[only(f, 2)], strings[only(f, 4)])
    for l in map(message, p[4]):
        assert only(l, 1) not in location and only(l, 1) > 0
        assert only(l, 2) in mapping
        lines = [message(x) for x in l[4]]
        assert lines
        location[only(l, 1)] = [(function[only(x, 1)], only(x, 2))
                                for x in lines]
    stacks, lines = collections.Counter(), collections.Counter()
    order = Order()
    for s in map(message, p[2]):
        ids = [i for v in s[1] for i in packed(v)]
        values = [i for v in s[2] for i in packed(v)]
        assert len(values) == len(types) and ids
        frames = [f for i in ids for f in location[i]]
        order.add(f[0] for f in reversed(frames))
        names = [f[0][0].replace(';', ':') for f in reversed(frames)]
        stacks[';'.join(names)] += values[-1]
        lines[frames[0][0] + (frames[0][1],)] += values[-1]
    for s in sorted(stacks):
        if stacks[s]:
            print(s, stacks[s])
    if len(sys.argv) > 2:
        with open(sys.argv[2], 'w') as f:
            for k in sorted(lines):
                f.write('%s %s:%d %d\n' % (k[0], k[1], k[2], lines[k]))


main()
