#!/usr/bin/env python3
"""costs.py COSTS: costs by address as t/models/memsim.py writes them.

A line `address column=n ...' for each address, in order, without counts that
are 0, then `totals ...'.
"""
import sys


def main():
    names, rows, at = [], {}, 0
    with open(sys.argv[1]) as f:
        for line in f:
            word = line.split()
            if line.startswith('events:'):
                names = word[1:]
            elif line.startswith('totals:'):
                totals = word[1:]
            elif word and word[0][0] in '0+-*':
                if word[0][0] == '0':
                    at = int(word[0], 16)
                elif word[0] != '*':
                    at += int(word[0], 0)
                row = rows.setdefault(at, {})
                for name, n in zip(names, word[1:]):
                    if int(n):
                        row[name] = row.get(name, 0) + int(n)
    for addr in sorted(rows):
        if rows[addr]:
            print('%x' % addr, *('%s=%d' % kv
                                 for kv in sorted(rows[addr].items())))
    print('totals', *('%s=%d' % (k, int(n)) for k, n in sorted(
        zip(names, totals)) if int(n)))


if __name__ == '__main__':
    main()
