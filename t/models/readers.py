#!/usr/bin/python3
"""readers.py FILE - a Callgrind file as its strictest readers take it

Prints each event's total. Checked is what at least one of callgrind_annotate,
KCachegrind, gprof2dot and speedscope needs:

- the first line, one part, events before costs, positions: line
- single blanks, none at either end of a line, no tabs, no carriage returns
- each cost line has all columns, and they are numbers without sign
- fl= before each fn=; cob= and cfi= before each cfn=
- a number is given a name once, and not used before
- calls= is followed by its cost line; no jumps
- totals: and summary: are the sum of the lines that are not of calls
"""
import re
import sys


def main():
    text = open(sys.argv[1], newline='').read()
    bad = []
    if not text.startswith('# callgrind format\n') or not text.endswith('\n'):
        bad.append('first or last line')
    names, said = {}, set()
    events, calls, sums, given = [], False, [], {}
    for n, line in enumerate(text.split('\n')[:-1], 1):
        def complain(what):
            bad.append('%d: %s: %s' % (n, what, line))
        if line != line.strip() and not re.match(r'(cmd|desc): ', line) or \
                '\t' in line or '\r' in line:
            complain('blanks')
        m = re.match(r'([a-z]+): ?(.*)$', line)
        if m and m.group(1) in ('summary', 'totals'):
            given[m.group(1)] = [int(x) for x in m.group(2).split(' ')]
        elif m:
            key = m.group(1)
            if key in said and key not in ('desc', 'event'):
                complain('twice')
            said.add(key)
            if key == 'events':
                events = m.group(2).split(' ')
                sums = [0] * len(events)
            if key == 'positions' and m.group(2) != 'line':
                complain('positions')
        elif '=' in line:
            word, rest = line.split('=', 1)
            if calls:
                complain('calls= without a cost line')
            if word == 'calls':
                if not re.match(r'\d+ \d+$', rest):
                    complain('calls')
                if 'cfn' not in said:
                    complain('calls without cfn')
                calls = True
                said -= {'cob', 'cfi', 'cfn'}
                continue
            if word not in ('ob', 'fl', 'fi', 'fe', 'fn', 'cob', 'cfi', 'cfn'):
                complain('unknown word')
            m = re.match(r'\((\d+)\)(?: (.+))?$', rest)
            space = word[-2:] if word[-2:] in ('ob', 'fn') else 'fl'
            if m is None:
                complain('no number')
            elif m.group(2) is None and (space, m.group(1)) not in names:
                complain('undefined')
            elif m.group(2) is not None:
                if (space, m.group(1)) in names:
                    complain('defined twice')
                names[space, m.group(1)] = m.group(2)
            if word == 'fn' and 'fl=' not in said or \
                    word == 'cfn' and not {'cob', 'cfi'} <= said:
                complain('no file or object before it')
            said.add(word if word[0] == 'c' else word + '=')
            if word == 'fn':
                said.discard('fl=')
        elif line and line[0] != '#':
            if not re.match(r'\d+( \d+){%d}$' % len(events), line):
                complain('cost line')
            elif not calls:
                for i, x in enumerate(line.split(' ')[1:]):
                    sums[i] += int(x)
            calls = False
    if 'totals' not in given or given['totals'] != sums or \
            given.get('summary') != sums:
        bad.append('totals: %s, not %s' % (given, sums))
    print(' '.join('%s %d' % p for p in zip(events, sums)))
    for b in bad[:20]:
        print(b)
    sys.exit(bool(bad))


main()
