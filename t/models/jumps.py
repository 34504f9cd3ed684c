#!/usr/bin/python3
"""jumps.py VALGRIND OURS OBJECT - are the jumps inside of functions the same?

Both are Callgrind files with addresses and jumps. Compared is each jump of the
functions of one object: from where to where, how often it was executed and, a
conditional one, followed. Functions without a name are left out: they lie in
sections where Callgrind does not look for calls.
"""
import collections
import os
import re
import sys


class Jumps:
    def __init__(self, name):
        self.ids = {}
        self.count = collections.Counter()
        ob = fn = jump = ''
        addr = 0
        for line in open(name, errors='replace'):
            line = line.rstrip('\n')
            key, _, value = line.partition('=')
            if key in ('ob', 'cob'):
                value = self.name('ob', value)
                ob = value if key == 'ob' else ob
            elif key in ('fn', 'cfn', 'jfn'):
                value = self.name('fn', value)
                if key == 'fn':
                    fn, addr = value, 0
            elif key in ('jump', 'jcnd'):
                counts, to = value.split()[:2]
                jump = key, counts, self.address(to, addr)
            elif re.match('[0-9+*-]', line):
                addr = self.address(line.split()[0], addr)
                if jump:
                    self.add(os.path.basename(ob), fn, addr, jump)
                jump = None

    def name(self, space, s):
        m = re.match(r'(\(\d+\))(?: (.*))?$', s)
        if m and m.group(2):
            self.ids[space, m.group(1)] = m.group(2)
        return self.ids[space, m.group(1)] if m else s

    @staticmethod
    def address(s, last):
        return last if s == '*' else last + int(s, 0) if s[0] in '+-' else \
            int(s, 0)

    def add(self, ob, fn, addr, jump):
        followed, _, executed = jump[1].rpartition('/')
        at = ob, fn, addr, jump[0], jump[2]
        self.count[at + ('executed',)] += int(executed)
        self.count[at + ('followed',)] += int(followed or executed)


def main():
    want, got = (Jumps(name).count for name in sys.argv[1:3])
    n = bad = 0
    for k in sorted(set(want) | set(got)):
        if k[0] != sys.argv[3] or k[1].startswith('0x'):
            continue
        n += 1
        if want[k] != got[k]:
            bad += 1
            print('%s: %x: %s to %x: %d %s, not %d' % (k[1], k[2], k[3], k[4],
                  got[k], k[5], want[k]))
    if n < 20:
        sys.exit('%d jumps are too few' % n)
    print('# %d jumps' % (n / 2))
    sys.exit(bad != 0)


main()
