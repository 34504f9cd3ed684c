#!/usr/bin/env python3
"""repeats SEED LINES MOST [HEAD...]: a random stream of repeated executions.

Each line is repeated up to MOST times, most of them less. Functions are at
401000, 401100 ... 401700, mapped from the file ./prog. HEAD are more H lines.
With only -x, the stream on standard input with all repeats written out.
"""
import random
import sys

MASK = (1 << 64) - 1
FUNCTIONS = [0x401000 + 0x100 * k for k in range(8)]
STRIDES = [0, 0, 0, 0, 8, 8, 64, 64, -8, -64, 1, 24, 4096, -4096, 0x10000,
           0x40000000, -0x123450]


class Block:
    """A block under way: its text, its groups, what they are for."""

    def __init__(self, addr):
        self.entry = self.addr = addr
        self.items = ['>%x' % addr]
        self.groups = []            # 'a'ddress, 'c'ount, 's'tack
        self.value = []

    def group(self, what):
        self.groups.append(what)
        self.value.append(0)
        return len(self.groups) - 1

    def insn(self, length, text=''):
        self.items.append('%x%s' % (length, text))
        self.addr += length

    def goto(self, addr):
        self.items.append('>%x' % addr)
        self.addr = addr

    def stack(self):
        if 's' in self.groups:
            return self.groups.index('s')
        return self.group('s')


def reference(rnd, b):
    kind, size = rnd.choice('rrwwm'), rnd.choice([1, 4, 8, 8, 16, 48])
    if rnd.random() < 0.2:
        return '%c%x@%x' % (kind, size, 0x600000 + rnd.randrange(0x4000))
    old = [g for g, what in enumerate(b.groups) if what == 'a']
    g = rnd.choice(old) if old and rnd.random() < 0.4 else b.group('a')
    return '%c%x.%x%s' % (kind, size, g,
                          rnd.choice(['', '', '+8', '-40', '+1000']))


def repeated(rnd, b):
    size = rnd.choice([1, 2, 4, 8])
    g, c = b.group('a'), b.group('c')
    text = '%c%x.%x*%x' % (rnd.choice('rw'), size, g, c)
    if rnd.random() < 0.5:
        text += '%c%x.%x*%x' % (rnd.choice('rw'), size, b.group('a'), c)
    return text


def inner(rnd, b):
    """What is no plain instruction."""
    what = rnd.randrange(7)
    behind = b.addr + 5
    if what == 0:
        b.insn(2, 'C%x' % (b.addr + 0x40))
    elif what == 1:
        there = b.addr + rnd.choice([0x10, 0x20])
        b.insn(2, 'C%x' % there)
        b.goto(there)
    elif what == 2:
        there = rnd.choice(FUNCTIONS)
        b.insn(5, 'w8.%x-8L%x' % (b.stack(), there))
        b.goto(there)
        b.insn(3, reference(rnd, b))
        b.insn(1, 'r8.%x-8R' % b.stack())
        b.goto(behind)
    elif what == 3:
        there = rnd.choice(FUNCTIONS) + rnd.choice([0, 0, 0x30])
        b.insn(2, 'I')
        b.goto(there)
    elif what == 4:
        b.insn(2, 'J%x' % (b.addr + 0x18))
        b.goto(b.addr + 0x16)
    else:
        b.insn(3, repeated(rnd, b))


def block(rnd):
    """Returns the block, and where it goes on if it does not go round."""
    b = Block(rnd.choice(FUNCTIONS) + rnd.choice([0, 0x10, 0x20, 0x30]))
    for _ in range(rnd.randrange(1, 5)):
        if rnd.random() < 0.3:
            inner(rnd, b)
        else:
            b.insn(rnd.randrange(1, 8), ''.join(
                reference(rnd, b) for _ in range(rnd.choice([0, 0, 1, 1, 2]))))
    if b.items[-1][0] == '>' or 'C' in b.items[-1]:
        b.insn(3)
    what = rnd.randrange(8)
    if what < 3:
        b.insn(2, 'C%x' % b.entry)
        return b, b.addr
    if what == 3:
        b.insn(2, 'J%x' % b.entry)
    elif what == 4:
        b.insn(5, 'w8.%xL%x' % (b.stack(), b.entry))
    elif what == 5:
        b.insn(1, 'r8.%xR' % b.stack())
    elif what == 6:
        b.insn(2, 'I')
    return b, None


def fields(diffs):
    return ''.join('.' if d == 0 else '+%x' % d if d > 0 else '-%x' % -d
                   for d in diffs)


def set_values(rnd, b):
    """Differences that take the groups to new values."""
    diffs = []
    for g, what in enumerate(b.groups):
        if what == 'c':
            to = rnd.choice([0, 1, 5, 70, 300, -1, -90, 3, 30000, -20000])
        elif what == 's':
            to = 0x7ffe00000000 + rnd.randrange(0x100) * 16
        else:
            to = rnd.choice([0, 0x600000, 0x610000, 0x7f0000000000]) + \
                rnd.randrange(0x2000)
            if rnd.random() < 0.1:
                to = 0
        to &= MASK
        diff = to - b.value[g]
        b.value[g] = to
        diffs.append(diff)
    return diffs


def strides(rnd, b, rounds):
    diffs = []
    calm = rnd.random() < 0.4
    for g, what in enumerate(b.groups):
        d = 0 if calm else rnd.choice(STRIDES)
        if what == 'c':
            d = rnd.choice([0] * 15 + [1])
        if what == 's':
            d = 0 if calm else rnd.choice([0, 16, -16, 0x40000000])
        b.value[g] = (b.value[g] + d * (rounds + 1)) & MASK
        diffs.append(d)
    return diffs


def main():
    if sys.argv[1] == '-x':
        for line in sys.stdin:
            again, _, n = line.partition('*')
            if line[0] in '0123456789abcdef' and n:
                sys.stdout.write((again + '\n') * (int(n, 16) + 1))
            else:
                sys.stdout.write(line)
        return
    rnd = random.Random(int(sys.argv[1]))
    out = ['H quern-events 1', 'H cmd ./prog']
    out += ['H ' + line for line in sys.argv[4:]]
    out.append('M 1 401000 402000 1000 prog')
    total = last = 0
    for _ in range(int(sys.argv[2])):
        b, behind = block(rnd)
        last += 1
        if rnd.random() < 0.1:
            out.append('T %d' % rnd.choice([7, 7, 8]))
        out.append('B %x %s' % (last, ' '.join(b.items)))
        if b.groups:
            out.append('%x%s' % (last, fields(set_values(rnd, b))))
            total += 1
        n = int(int(sys.argv[3]) ** rnd.choice([1, 1, rnd.random()]))
        if any(what == 'c' and v + 1000 & MASK > 2000
               for what, v in zip(b.groups, b.value)):
            n = min(n, 10)
        out.append('%x%s*%x' % (last, fields(strides(rnd, b, n)), n))
        total += n + 1
        last += 1
        if behind is not None:
            out += ['B %x >%x 3' % (last, behind), '%x' % last]
            total += 1
    out.append('E exit 0 %d' % total)
    print('\n'.join(out))


main()
