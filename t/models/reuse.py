#!/usr/bin/env python3
"""reuse [--refs=data|code|both] [--line=N] [--per-thread] [--interval=N] FILE

A slow reuse(1), written from its page: a list of lines, the newest first, is
searched at each use. Prints its lines insns, refs, lines, cold, thread,
interval, and `at DISTANCE REFS' for each distance.
"""
import collections
import re
import sys

MASK = (1 << 64) - 1
opts = {'refs': 'data', 'line': '64', 'interval': '0', 'per-thread': None}
for arg in sys.argv[1:-1]:
    key, _, value = arg[2:].partition('=')
    opts[key] = value or 'yes'
LINE = int(opts['line'])
INTERVAL = int(opts['interval'])


class History:
    def __init__(self, tid):
        self.tid = tid
        self.stack = []
        self.at = collections.Counter()
        self.cold = self.refs = self.insns = 0
        self.rows = []
        self.begin(0)

    def begin(self, at):
        self.row = [at, 0, 0, 0]
        self.touched = set()

    def use(self, addr, size):
        first, last = addr // LINE, (addr + size - 1) // LINE
        worst = -1
        for k in range(last - first + 1):
            line = (first + k) % ((MASK + 1) // LINE)
            if line not in self.touched:
                self.row[3] += not any(line in t for t in self.stack_of())
            self.touched.add(line)
            if line in self.stack:
                distance = self.stack.index(line)
                del self.stack[distance]
            else:
                distance = MASK
            self.stack.insert(0, line)
            worst = max(worst, distance)
        self.refs += 1
        self.row[2] += 1
        if worst == MASK:
            self.cold += 1
        else:
            self.at[worst] += 1

    def stack_of(self):
        return [self.stack]

    def done(self, insns):
        self.insns += insns
        self.row[1] += insns
        if INTERVAL and self.row[1] >= INTERVAL:
            self.close()

    def close(self):
        if self.row[1]:
            pages = {p for t in self.touched
                     for p in range(t * LINE // 4096,
                                    (t * LINE + LINE - 1) // 4096 + 1)}
            self.rows.append(self.row[:3] + [len(self.touched), len(pages),
                                             self.row[3]])
        self.begin(self.insns)


def read_block(items):
    """[(address, length, [(kind, size, at, group, count)])], groups so far"""
    insns, addr, groups = [], 0, 0
    for item in items:
        if item[0] == '>':
            addr = int(item[1:], 16)
            continue
        refs = []
        for kind, size, at, group, dist, count in re.findall(
                r'([rwm])([0-9a-f]+)(?:@([0-9a-f]+)|\.([0-9a-f]+)'
                r'([-+][0-9a-f]+)?)(?:\*([0-9a-f]+))?', item):
            refs.append((int(size, 16),
                         int(at, 16) if at else int(dist or '0', 16),
                         int(group, 16) if group else None,
                         int(count, 16) if count else None))
            for g in group, count:
                groups = max(groups, int(g, 16) + 1 if g else 0)
        insns.append((addr, int(item[0], 16), refs, groups))
        addr += int(item[0], 16)
    return insns


def execute(h, insns, value):
    for addr, length, refs, _ in insns:
        if opts['refs'] != 'data':
            h.use(addr, length)
        k = 0
        while opts['refs'] != 'code' and k < len(refs):
            end = k + 1
            while refs[k][3] is not None and end < len(refs) and \
                    refs[end][3] == refs[k][3]:
                end += 1
            n = 1 if refs[k][3] is None else value[refs[k][3]]
            if n >> 63:
                n -= MASK + 1
            for turn in range(abs(n)):
                for size, at, group, _ in refs[k:end]:
                    if group is not None and value[group] == 0:
                        continue
                    base = at + (value[group] if group is not None else 0)
                    h.use((base + turn * (size if n > 0 else -size)) & MASK,
                          size)
            k = end
    h.done(len(insns))


def main():
    ids, values, histories, tid = {}, {}, {}, None
    one = opts['per-thread'] is None
    for line in open(sys.argv[-1]):
        line = line.rstrip('\n')
        word = line.split(' ')
        if word[0] == 'T':
            if tid is None and not one:     # it names the thread before, too
                for h in histories.values():
                    h.tid = word[1]
                histories = {word[1]: h for h in histories.values()}
            tid = word[1]
        if word[0] == 'B':
            ids[word[1]] = (word[1], read_block(word[2:]))
            values[word[1]] = [0] * 255
        elif word[0] == 'P':
            block, insns = ids[word[2]]
            ids[word[1]] = (block, insns[:int(word[3], 16)])
        elif line[0] not in 'ABCDEFGHIJKLMNOPQRSTUVWXYZ':
            exe, _, more = line.partition('*')
            fields = re.findall(r'[-+.][0-9a-f]*', exe)
            block, insns = ids[re.match(r'[0-9a-f]+', exe).group()]
            value = values[block]
            for _ in range(int(more or '0', 16) + 1):
                for g, f in enumerate(fields):
                    if f != '.':
                        value[g] = (value[g] + int(f, 16)) & MASK
                h = histories.setdefault(0 if one else tid,
                                         History(0 if one else tid))
                execute(h, insns, value)
    for h in histories.values():
        h.close()
        if not one:
            print('thread', h.tid)
        print('insns', h.insns)
        print('refs', h.refs)
        print('lines', len(h.stack))
        print('cold', h.cold)
        for d in sorted(h.at):
            print('at', d, h.at[d])
        for row in h.rows if INTERVAL else []:
            print('interval', *row)


main()
