#!/usr/bin/python3
"""callgrind.py VALGRIND OURS - are two Callgrind files of one run the same?

Compared are the own cost of each function and, of each pair of caller and
callee, calls and inclusive cost. Nothing may differ but for a reason:

- Stubs in .plt.got, which Callgrind takes for functions (of no known object)
  that execute one instruction, are skipped: done here to its file.
- What Callgrind does not find because it lies outside of .text (.init, .fini),
  has other names.
- (below main) is one function of each object here.
- Some functions see another machine, or other addresses: REASONS. So does who
  calls them: an inclusive cost may differ only if the callee calls one of
  them, directly or not, and then by what those differ in all, at most.
"""
import collections
import functools
import os
import re
import subprocess
import sys

REASONS = [
    (r'_Exit$|_exit$', 'the last block of the run'),
    (r'cpu_features|get_common_indices|get_cet_status|get_extended_indices'
     r'|update_active|dl_init_cacheinfo|handle_(intel|amd)|intel_check_word'
     r'|get_common_cache_info|__get_cpu_features|__x86_cacheinfo',
     'what cpuid says'),
    (r'_dl_sysdep_parse_arguments|_dl_aux_init|_dl_non_dynamic_init'
     r'|__libc_init_secure', 'the auxiliary vector'),
    (r'_dlfo_|_dl_find_object|_dl_find_dso_for_object|_dl_addr'
     r'|_dl_map_object_from_fd|_dl_map_segments|_dl_unload_cache'
     r'|__minimal_malloc|_dl_protect_relro|sysmalloc|_dl_setup_stack'
     r'|_dl_important_hwcaps|_dl_discover_osversion|systrim|top_check',
     'where things are mapped'),
    (r'^__?(str|mem|wcs|wmem)[a-z]*(_|$)|^(str|mem)[a-z]*$|^index$',
     'alignment of strings on the stack'),
    (r'vdso|clock_gettime|gettimeofday|^time$', 'time'),
]


class Profile:
    def __init__(self, name):
        self.own = collections.Counter()
        self.calls = collections.Counter()
        self.incl = collections.Counter()
        self.ids = {}
        pend = positions = None
        ob = cob = cfn = ''
        for line in open(name, errors='replace'):
            line = line.rstrip('\n')
            if line.startswith('positions:'):
                positions = len(line.split()) - 1
            elif line.startswith('ob='):
                ob = self.name('ob', line[3:])
            elif line.startswith('fn='):
                here, cob = self.fn(ob, self.name('fn', line[3:])), None
            elif line.startswith('cob='):
                cob = self.name('ob', line[4:])
            elif line.startswith('cfn='):
                cfn = self.name('fn', line[4:])
            elif re.match('(fl|fi|fe|cfi|cfl|jfi)=', line):
                self.name('fl', line.split('=', 1)[1])
            elif line.startswith('jfn='):
                self.name('fn', line[4:])
            elif line.startswith('calls='):
                pend = int(line[6:].split()[0])
            elif line.startswith(('jump=', 'jcnd=')):
                pend = -1
            elif re.match(r'[0-9+*-]', line):
                field = line.split()
                n = int(field[positions]) if len(field) > positions else 0
                if pend is None:
                    self.own[here] += n
                elif pend >= 0:
                    to = self.fn(here[0] if cob is None else cob, cfn)
                    self.calls[here, to] += pend
                    self.incl[here, to] += n
                    cob = None
                pend = None

    def name(self, space, s):
        m = re.match(r'\((\d+)\)(?: (.*))?$', s)
        if not m:
            return s
        if m.group(2) is not None:
            self.ids[space, m.group(1)] = m.group(2)
        return self.ids[space, m.group(1)]

    @staticmethod
    def fn(ob, name):
        if name.startswith('(below main)'):
            name = '(below main)'
        return ob, name

    def fold_stubs(self):
        """Functions of no object: calls through them are direct."""
        callers, callees = collections.defaultdict(list), \
            collections.defaultdict(list)
        for a, b in self.calls:
            callers[b].append(a)
            callees[a].append(b)
        for f in [f for f in self.own if f[0] == '???']:
            n = sum(self.calls[a, f] for a in callers[f])
            if len(callees[f]) != 1 or self.own[f] != n:
                continue
            to = callees[f][0]
            for a in callers[f]:
                k = self.calls.pop((a, f))
                self.calls[a, to] += k
                self.incl[a, to] += self.incl.pop((a, f)) - k
                self.own[a] += k
            del self.own[f], self.calls[f, to], self.incl[f, to]


def strange(f):
    return f[1].startswith('0x')


@functools.lru_cache(None)
def asking(path):
    """The functions of an object without names that ask cpuid, and what those
    call: addresses where they begin, by the object's frames."""
    def lines(*command):
        return subprocess.run(command + (path,), stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL,
                              text=True).stdout.splitlines()

    frames = [tuple(int(x, 16) for x in m.groups()) for m in
              (re.search(r'FDE .*pc=([0-9a-f]+)\.\.([0-9a-f]+)', line)
               for line in lines('readelf', '--debug-dump=frames')) if m]
    asked, calls = set(), []
    for line in lines('objdump', '-d', '--no-show-raw-insn'):
        m = re.match(r' *([0-9a-f]+):\s+(cpuid|call +([0-9a-f]+))', line)
        at = int(m[1], 16) if m else 0
        start = next((a for a, b in frames if a <= at < b), None) if m else None
        if m and m[3]:
            calls.append((start, int(m[3], 16)))
        elif m:
            asked.add(start)
    return asked | {to for start, to in calls if start in asked}


def asks_cpuid(f):
    return f[1].startswith('0x') and os.path.exists(f[0]) and \
        int(f[1].split("'")[0], 16) in asking(f[0])


def show(f):
    return f[1] + ' [' + os.path.basename(f[0]) + ']'


def main():
    want, got = Profile(sys.argv[1]), Profile(sys.argv[2])
    want.fold_stubs()
    bad = 0
    differ = {}
    for f in set(want.own) | set(got.own):
        d = got.own[f] - want.own[f]
        if d == 0:
            continue
        why = [r for p, r in REASONS if re.search(p, f[1].split("'")[0])]
        if strange(f) and (f[0] == '???' or f not in want.own) and abs(d) < 10:
            why = ['code outside of .text']
        if not why and asks_cpuid(f):
            why = ['what cpuid says']
        differ[f] = d
        if why:
            print('# %s: %d, not %d: %s' % (show(f), got.own[f], want.own[f],
                                            why[0]))
        else:
            print('own cost of %s: %d, not %d' % (show(f), got.own[f],
                                                  want.own[f]))
            bad += 1
    edges = collections.defaultdict(set)
    for a, b in list(want.calls) + list(got.calls):
        edges[b].add(a)
    reach = set(differ)		# and whoever leads there
    todo = list(reach)
    while todo:
        for a in edges[todo.pop()]:
            if a not in reach:
                reach.add(a)
                todo.append(a)
    most = sum(abs(d) for d in differ.values())
    pairs = set(want.calls) | set(got.calls)
    for a, b in sorted(pairs):
        if any(f[0] == '???' or (strange(f) and f not in want.own)
               for f in (a, b)):
            continue
        k, n = want.calls[a, b], got.calls[a, b]
        if k != n and b not in differ and a not in differ:
            print('calls %s > %s: %d, not %d' % (show(a), show(b), n, k))
            bad += 1
        if a[1] == b[1] == '(below main)':
            continue
        k, n = want.incl[a, b], got.incl[a, b]
        levels = 1 + 100 * ("'" in b[1])
        if k != n and (b not in reach or abs(k - n) > most * levels):
            print('inclusive %s > %s: %d, not %d' % (show(a), show(b), n, k))
            bad += 1
    print('# %d functions, %d pairs of caller and callee, %d functions differ'
          % (len(got.own), len(pairs), len(differ)))
    if len(got.own) < 20 or len(differ) * 8 > len(got.own) + 80:
        print('too few are the same')
        bad += 1
    sys.exit(bad != 0)


main()
