#!/usr/bin/env python3
"""memsim.py MACHINE [key=value...] STREAM: what memsim should count.

A slow second memsim, written from memsim-machine(5) alone: everything is a
list or a dictionary, and each rule is a few lines. MACHINE is what
`memsim --describe' prints. Writes a line `address column=n ...' for each
address that has been executed, in order, then `totals ...'. The laws are looked
at after every execution with laws=1: an exclusive cache has no line of those
that ask it, an inclusive one has all, and a line that is modified or exclusive
has one holder. warm=N: as --warm.
"""
import sys

MASK = (1 << 64) - 1
PAGES = {'4k': 12, '2M': 21, '1G': 30}


def number(s):
    unit = 'kMG'.find(s[-1]) + 1
    return int(s[:-1]) << 10 * unit if unit else int(s)


# ---- replacement: way() is what leaves, use(way) and come(way)

class Lru:
    def __init__(self, ways, **_):
        self.order = []

    def use(self, way):
        if way in self.order:
            self.order.remove(way)
        self.order.append(way)

    come = use

    def way(self):
        return self.order[0]


class Fifo(Lru):
    def use(self, way):
        pass

    come = Lru.use


class Random:
    def __init__(self, ways, whole, **_):
        self.ways, self.whole = ways, whole

    def use(self, way):
        pass

    come = use

    def way(self):
        x = self.whole.x
        x ^= x << 13 & MASK
        x ^= x >> 7
        x ^= x << 17 & MASK
        self.whole.x = x
        return (x >> 11) % self.ways


class Tree:
    def __init__(self, ways, **_):
        self.ways, self.bit = ways, {}

    def use(self, way):
        low, high = 0, self.ways
        while high - low > 1:
            mid = (low + high) // 2
            self.bit[low, high] = 1 if way < mid else 0
            low, high = (low, mid) if way < mid else (mid, high)

    come = use

    def way(self):
        low, high = 0, self.ways
        while high - low > 1:
            mid = (low + high) // 2
            low, high = (mid, high) if self.bit.get((low, high)) \
                else (low, mid)
        return low


class Bits:
    def __init__(self, ways, **_):
        self.bit = [0] * ways

    def use(self, way):
        self.bit[way] = 1
        if all(self.bit):
            self.bit = [0] * len(self.bit)
            self.bit[way] = 1

    come = use

    def way(self):
        return self.bit.index(0) if 0 in self.bit else 0


class Rrip:
    def __init__(self, ways, whole, number, policy, **_):
        self.value, self.whole = [3] * ways, whole
        self.number, self.policy = number, policy

    def use(self, way):
        self.value[way] = 0

    def bimodal(self):
        w = self.whole
        if self.policy != 'drrip':
            return self.policy == 'brrip'
        if self.number % 64 == 0:
            w.duel = min(1023, w.duel + 1)
            return False
        if self.number % 64 == 63 or \
                w.nsets < 64 and self.number == w.nsets - 1:
            w.duel = max(0, w.duel - 1)
            return True
        return w.duel > 511

    def come(self, way):
        if not self.bimodal():
            self.value[way] = 2
            return
        self.whole.bimodal += 1
        self.value[way] = 2 if self.whole.bimodal % 32 == 0 else 3

    def way(self):
        while 3 not in self.value:
            self.value = [v + 1 for v in self.value]
        return self.value.index(3)


POLICY = {'lru': Lru, 'fifo': Fifo, 'random': Random, 'tree-plru': Tree,
          'bit-plru': Bits, 'srrip': Rrip, 'brrip': Rrip, 'drrip': Rrip}


class Line:
    def __init__(self, key, dirty=False, new=False):
        self.key, self.dirty, self.new = key, dirty, new


class Table:
    """Sets of ways of lines: a cache's or a TLB's."""

    def __init__(self, ways, nsets, policy, seed):
        self.ways, self.nsets, self.policy = ways, nsets, policy
        self.x, self.duel, self.bimodal = seed, 511, 0
        self.sets = {}

    def set_of(self, n):
        n %= self.nsets
        if n not in self.sets:
            self.sets[n] = ([None] * self.ways, POLICY[self.policy](
                self.ways, whole=self, number=n, policy=self.policy))
        return self.sets[n]

    def find(self, n, key):
        for line in self.set_of(n)[0]:
            if line and line.key == key:
                return line
        return None

    def use(self, n, line):
        lines, policy = self.set_of(n)
        policy.use(lines.index(line))

    def remove(self, n, line):
        lines, _ = self.set_of(n)
        lines[lines.index(line)] = None

    def leaving(self, n):
        lines, policy = self.set_of(n)
        if None in lines:
            return lines.index(None), None
        way = policy.way()
        return way, lines[way]

    def put(self, n, way, line):
        lines, policy = self.set_of(n)
        lines[way] = line
        policy.come(way)


# ---- caches

class Cache(Table):
    def __init__(self, m, name, core, d):
        super().__init__(int(d['ways']), int(d['size']) // int(d['ways']) //
                         int(d['line']), d['policy'], int(d.get('seed', 1)))
        self.m, self.name, self.core = m, name, core
        self.level = int(name[1])
        self.size = int(d['line'])
        self.content = d['content']
        self.through = d['write'] == 'through'
        self.allocate = d['allocate'] == 'yes'
        self.next, self.askers = None, []
        self.prefetchers = {}
        for one in filter(None, d.get('prefetch', '').split('+')):
            kind, degree, *entries = one.split(':')
            self.prefetchers[kind] = (int(degree),
                                      int(entries[0]) if entries else 0)
        self.strides, self.streams, self.clock = {}, {}, 0

    def get(self, n):
        return self.find(n, n)

    def nearer(self):
        for c in self.askers:
            yield c
            yield from c.nearer()

    def drop(self, n, line):
        self.remove(n, line)
        self.m.left(self, n)

    def write_back(self, addr, size):
        """Bytes of one line of a nearer cache."""
        at = addr
        while at < addr + size:
            n = at // self.size
            upto = min(addr + size, (n + 1) * self.size)
            line = self.get(n)
            if line and not self.through:
                line.dirty = True
            elif self.next:
                self.next.write_back(at, upto - at)
            at = upto

    def leave(self, line):
        n = line.key
        if self.content == 'inclusive':
            for c in self.nearer():
                for k in range(n * self.size // c.size,
                               (n + 1) * self.size // c.size):
                    copy = c.get(k)
                    if copy:
                        line.dirty |= copy.dirty
                        c.drop(k, copy)
        to = self.next
        if to and to.content == 'exclusive':
            self.m.moving.append((self.core, n))
            self.drop(n, line)
            beside = any(c is not self and c.get(n) for c in to.askers)
            if line.dirty:
                self.m.count(self.name + 'wb')
            if not beside:
                behind = to.next
                if behind and behind.content == 'exclusive':
                    other = behind.get(n)
                    if other:
                        line.dirty |= other.dirty
                        behind.drop(n, other)
                to.bring(n, line.dirty)
            elif line.dirty and to.next:
                to.next.write_back(n * self.size, self.size)
            self.m.moved(self, n)
            return
        self.drop(n, line)
        if line.dirty:
            self.m.count(self.name + 'wb')
            if to:
                to.write_back(n * self.size, self.size)

    def bring(self, n, dirty, new=False):
        way, old = self.leaving(n)
        if old:
            self.leave(old)
        self.put(n, way, Line(n, dirty, new))
        self.m.came(self, n)

    # asked for bytes; take: who asks will bring the line in
    def ask(self, addr, size, write, take, prefetch, first=False):
        done = []                   # earlier parts, asked of the next or not
        missed = dirty = False
        end = addr + size
        while addr < end:
            n = (addr & MASK) // self.size
            upto = min(end, (addr // self.size + 1) * self.size)
            part = (addr & MASK, upto - addr)
            if first:
                self.m.before(self, n, write, *part)
            d, missed = self.part(n, part, write, take, prefetch, done,
                                  missed)
            dirty |= d
            if first:
                self.m.after(self, n, write, *part)
            addr = upto
        return dirty

    def ask_next(self, part, write, take, prefetch):
        if self.next:
            return self.next.ask(*part, write, take, prefetch)
        return False

    def ask_too(self, part, prefetch):
        if self.next and self.next.content != 'exclusive':
            self.next.ask(*part, False, False, prefetch)

    def part(self, n, part, write, take, prefetch, done, missed):
        line = self.get(n)
        if not prefetch:
            used = line is not None and line.new
            if line:
                line.new = False
            self.m.looked_up(self, n, line is None, used)
        if line:
            return self.hit(n, line, part, write, take, prefetch, done,
                            missed)
        for old in done:
            self.ask_too(old, prefetch)
        del done[:]
        if self.content == 'exclusive' or write and not self.allocate:
            return self.ask_next(part, write, take and
                                 self.content == 'exclusive', prefetch), True
        here = write and not self.through
        self.m.moving.append((self.core, n))
        dirty = self.ask_next(part, write and not here, True, prefetch)
        self.bring(n, dirty or here)
        self.m.moved(self, n)
        return False, True

    def hit(self, n, line, part, write, take, prefetch, done, missed):
        if self.content == 'exclusive' and take:
            self.drop(n, line)
            return line.dirty, missed
        self.use(n, line)
        if write and self.through:
            self.ask_next(part, True, False, prefetch)
        else:
            line.dirty |= write
            if missed:
                self.ask_too(part, prefetch)
            else:
                done.append(part)
        return False, missed

    # ---- prefetchers

    def train(self, n, missed, used, again):
        a = self.m.access
        if 'next' in self.prefetchers and (missed or used):
            for i in range(1, self.prefetchers['next'][0] + 1):
                self.want(n * self.size, n + i)
        if 'stride' in self.prefetchers and not again and a.kind != 'i':
            self.train_stride(a, *self.prefetchers['stride'])
        if 'streamer' in self.prefetchers:
            self.train_streamer(n, *self.prefetchers['streamer'])

    def want(self, origin, n):
        n &= MASK // self.size
        if n * self.size // 4096 == origin // 4096:
            self.m.wanted.append((self, n))

    def train_stride(self, a, degree, entries):
        e = self.strides.get(a.pc % entries)
        if e is None or e['pc'] != a.pc:
            self.strides[a.pc % entries] = {
                'pc': a.pc, 'last': a.addr, 'stride': 0, 'sure': 0}
            return
        by = (a.addr - e['last']) & MASK
        e['last'] = a.addr
        if by == e['stride']:
            e['sure'] = min(3, e['sure'] + 1)
        else:
            e['sure'] = max(0, e['sure'] - 1)
            if e['sure'] == 0:
                e['stride'] = by
        if e['sure'] >= 2 and e['stride']:
            for i in range(1, degree + 1):
                self.want(a.addr, (a.addr + i * e['stride'] & MASK) //
                          self.size)

    def train_streamer(self, n, degree, entries):
        region = n * self.size // 4096
        self.clock += 1
        e = self.streams.get(region)
        if e is None:
            if len(self.streams) == entries:
                old = min(self.streams, key=lambda k: self.streams[k]['used'])
                del self.streams[old]
            self.streams[region] = {'last': n, 'by': 0, 'sure': 0,
                                    'used': self.clock}
            return
        e['used'] = self.clock
        if n == e['last']:
            return
        by = 1 if n > e['last'] else -1
        e['sure'] = min(3, e['sure'] + 1) if by == e['by'] else 1
        e['by'], e['last'] = by, n
        if e['sure'] >= 2:
            for i in range(1, degree + 1):
                self.want(n * self.size, n + by * i)

    def prefetch(self, n):
        if self.get(n) or self.content == 'exclusive' and \
                any(c.get(n) for c in self.askers):
            return
        self.m.count(self.name + 'pf')
        self.m.before(self, n, False, 0, 0)
        self.m.moving.append((self.core, n))
        dirty = self.ask_next((n * self.size, self.size), False, True, True)
        self.bring(n, dirty, True)
        self.m.moved(self, n)
        self.m.after(self, n, False, 0, 0)


class Access:
    def __init__(self, kind, pc, addr, size):
        self.kind, self.pc, self.addr, self.size = kind, pc, addr, size
        self.asked, self.missed = set(), set()


class Core:
    def __init__(self):
        self.first = {'I': None, 'D': None}
        self.own = []
        self.tlb = {}


class Machine:
    def __init__(self, text):
        self.caches, self.tlbs, self.huge = [], [], []
        self.cores, self.quantum = 1, 100
        for line in text.splitlines():
            what, *rest = line.split()
            if what in ('cache', 'tlb'):
                d = dict(w.split('=') for w in rest[1:])
                (self.caches if what == 'cache' else self.tlbs).append(
                    (rest[0], d))
            elif what == 'huge':
                self.huge.append((PAGES[rest[0]], rest[1]))
            elif what == 'quantum':
                self.quantum = int(rest[0])
            elif rest[0] == 'each':
                self.cores = 0
            else:
                self.cores = int(rest[0])
        self.shared, self.core, self.wanted = {}, [], []
        self.every, self.holds, self.state = [], {}, {}
        self.moving = []            # lines on their way, which are held
        self.totals, self.rows = {}, {}
        self.counting = True
        self.cpu = self.core_number(0)

    # ---- cores

    def core_number(self, k):
        while len(self.core) <= k:
            self.core.append(self.new_core(len(self.core)))
        return self.core[k]

    def new_core(self, number_):
        core = Core()
        for name, d in reversed(self.caches):
            sides = name[2:] or 'ID'
            c = self.shared.get(name)
            if c is None:
                own = d['shared'] == 'no'
                c = Cache(self, name, number_ if own else None, d)
                self.every.append(c)
                c.next = core.first[sides[-1]]
                if c.next:
                    c.next.askers.append(c)
                if own:
                    core.own.insert(0, c)
                else:
                    self.shared[name] = c
            for side in sides:
                core.first[side] = c
        for name, d in self.tlbs:
            t = Table(int(d['ways']), int(d['entries']) // int(d['ways']),
                      d['policy'], int(d.get('seed', 1)))
            sides = name[2] if name[2:3] in ('I', 'D') else 'ID'
            for side in sides:
                for size in d['pages'].split(','):
                    core.tlb[int(name[1]), side, PAGES[size]] = t
        return core

    # ---- counts

    def count(self, event, n=1):
        if not self.counting:
            return
        self.totals[event] = self.totals.get(event, 0) + n
        row = self.rows.setdefault(self.pc, {})
        row[event] = row.get(event, 0) + n

    # ---- accesses

    def looked_up(self, c, n, missed, used):
        a = self.access
        again = c in a.asked
        a.asked.add(c)
        if missed:
            a.missed.add(c)
        if used:
            self.count(c.name + 'pu')
        c.train(n, missed, used, again)

    def touch(self, kind, pc, addr, size):
        self.pc = pc
        self.access = a = Access(kind, pc, addr, size)
        side = 'I' if kind == 'i' else 'D'
        self.count({'i': 'Ir', 'r': 'Dr', 'm': 'Dr', 'w': 'Dw'}[kind])
        first = self.cpu.first[side]
        if first:
            first.ask(addr, size, kind in 'wm', True, False, True)
        what = {'i': 'Imr', 'r': 'Dmr', 'm': 'Dmr', 'w': 'Dmw'}[kind]
        for c in a.missed:
            self.count('L%d%s' % (c.level, what))
        wanted, self.wanted = self.wanted, []
        for c, n in wanted:
            c.prefetch(n)
        assert not self.wanted
        self.translate(side, addr, size)

    # ---- pages

    def page_size(self, addr):
        for shift, where in self.huge:
            page = addr >> shift
            if where.endswith('%'):
                h = (page * 0x9e3779b97f4a7c15 & MASK) >> 32
                if h * 100 >> 32 < int(where[:-1]):
                    return shift
            else:
                start, end = (int(x, 16) for x in where.split('-'))
                if page << shift >= start and \
                        ((page + 1) << shift) - 1 <= end:
                    return shift
        return 12

    def translate(self, side, addr, size):
        end, missed = addr + size, set()
        while addr < end:
            shift = self.page_size(addr & MASK)
            page = (addr & MASK) >> shift
            tables = [(level, self.cpu.tlb[level, side, shift])
                      for level in range(1, 5)
                      if (level, side, shift) in self.cpu.tlb]
            absent = []
            for level, t in tables:
                entry = t.find(page, (page, shift))
                if entry:
                    t.use(page, entry)
                    break
                absent.append(t)
                missed.add(level)
            else:
                if tables:
                    self.count(side + 'wk')
            for t in absent:
                way, _ = t.leaving(page)
                t.put(page, way, Line((page, shift)))
            addr = (addr >> shift) + 1 << shift
        for level in missed:
            self.count('T%d%sm' % (level, side))

    # ---- coherence: holds[core, line] is the bytes touched

    def came(self, c, n):
        if self.cores != 1 and c.core is not None:
            self.holds.setdefault((c.core, n), set())

    def left(self, c, n):
        if self.cores != 1 and c.core is not None and \
                (c.core, n) not in self.moving and \
                not any(x.get(n) for x in self.core[c.core].own):
            self.holds.pop((c.core, n), None)

    def moved(self, c, n):
        self.moving.remove((c.core, n))
        self.left(c, n)

    def holders(self, n):
        return sorted(c for c, line in self.holds if line == n)

    def clean(self, who, n, drop):
        core = self.core[who]
        outer = core.first['D']
        while outer and outer.core is not None:
            outer = outer.next
        for c in core.own:
            line = c.get(n)
            if line and line.dirty:
                self.count(c.name + 'wb')
                line.dirty = False
                if outer:
                    outer.write_back(n * c.size, c.size)
            if line and drop:
                c.drop(n, line)

    def before(self, c, n, write, addr, size):
        if self.cores == 1 or c.core is None:
            return
        if write:
            stored = set(range(addr % c.size, addr % c.size + size))
            for who in self.holders(n):
                if who == c.core:
                    continue
                self.count('Inv')
                if not self.holds[who, n] & stored:
                    self.count('Fsh')
                self.clean(who, n, True)
        elif (c.core, n) not in self.holds:
            holders = self.holders(n)
            if self.state.get(n) in ('M', 'E') and holders:
                self.clean(holders[0], n, False)
                self.state[n] = 'S'

    def after(self, c, n, write, addr, size):
        if self.cores == 1 or c.core is None or \
                (c.core, n) not in self.holds:
            return
        if write:
            self.state[n] = 'M'
        elif self.holders(n) == [c.core]:
            if self.state.get(n) != 'M':
                self.state[n] = 'E'
        else:
            self.state[n] = 'S'
        if size:
            whole = self.access.kind == 'i'
            self.holds[c.core, n] |= set(range(c.size)) if whole else \
                set(range(addr % c.size, addr % c.size + size))

    # ---- laws

    def laws(self):
        for c in self.every:
            lines = {x.key for s in c.sets.values() for x in s[0] if x}
            if c.content == 'exclusive':
                for b in c.askers:
                    for s in b.sets.values():
                        for x in s[0]:
                            assert not x or x.key not in lines, 'exclusive'
            if c.content == 'inclusive':
                for b in c.nearer():
                    for s in b.sets.values():
                        for x in s[0]:
                            assert not x or x.key * b.size // c.size in \
                                lines, 'inclusive'
        for n in {line for _, line in self.holds}:
            holders = self.holders(n)
            assert len(holders) == 1 or self.state[n] == 'S', 'owner'


# ---- streams

class Block:
    def __init__(self, words):
        self.insns, self.ngroups = [], 0
        addr = 0
        for w in words:
            if w[0] == '>':
                addr = int(w[1:], 16)
                continue
            length, refs, k = int(w[0], 16), [], 1
            while k < len(w) and w[k] in 'rwm':
                k = self.reference(w, k, refs)
            self.insns.append((addr, length, refs, self.ngroups))
            addr += length
        self.value = [0] * self.ngroups

    def group(self, g):
        self.ngroups = max(self.ngroups, g + 1)
        return g

    def reference(self, w, k, refs):
        def hexes(k):
            end = k
            while end < len(w) and w[end] in '0123456789abcdef':
                end += 1
            return int(w[k:end], 16), end
        kind = w[k]
        size, k = hexes(k + 1)
        if w[k:k + 1] == '!':           # locked
            k += 1
        fixed = group = count = None
        far = 0
        if w[k:k + 1] == '@':
            fixed, k = hexes(k + 1)
        elif w[k:k + 1] == '.':
            group, k = hexes(k + 1)
            self.group(group)
            if w[k:k + 1] in ('+', '-') and k < len(w):
                sign = w[k]
                far, k = hexes(k + 1)
                far = far if sign == '+' else -far
        if w[k:k + 1] == '*':
            count, k = hexes(k + 1)
            self.group(count)
        refs.append((kind, size, fixed, group, far, count))
        return k

    def events(self, n, value):
        """(kind, pc, addr, size) of the first n instructions."""
        for pc, length, refs, _ in self.insns[:n]:
            yield 'i', pc, pc, length
            k = 0
            while k < len(refs):
                same = k + 1
                count = refs[k][5]
                while count is not None and same < len(refs) and \
                        refs[same][5] == count:
                    same += 1
                rounds = 1
                if count is not None:
                    rounds = value[count]
                    if rounds >> 63:
                        rounds -= 1 << 64
                for i in range(abs(rounds)):
                    step = i if rounds > 0 else -i
                    for kind, size, fixed, group, far, _ in refs[k:same]:
                        if group is not None and value[group] == 0:
                            continue
                        base = fixed if group is None else value[group] + far
                        yield kind, pc, (base + step * size) & MASK, size
                k = same


def fields(s):
    out, k = [], 0
    while k < len(s):
        if s[k] == '.':
            out.append(0)
            k += 1
            continue
        end = k + 1
        while end < len(s) and s[end] in '0123456789abcdef':
            end += 1
        n = int(s[k + 1:end], 16)
        out.append(n if s[k] == '+' else -n)
        k = end
    return out


PIECE = 1 << 20                     # lines at most


class Run:
    """Executions of a stream, in the order in which the cores run them."""

    def __init__(self, m, laws, warm):
        self.m, self.check, self.warm = m, laws, warm
        self.queue, self.queued, self.told = {}, 0, 0
        self.thread, self.threads, self.ids = None, {}, {}

    def execute(self, thread, block, n, value):
        m = self.m
        k = thread if m.cores == 0 else thread % m.cores
        m.cpu = m.core_number(k % 64)
        for event in block.events(n, value):
            m.touch(*event)
        if self.check:
            m.laws()

    def flush(self):
        while self.queue:
            for thread in sorted(self.queue):
                ran = 0
                while ran < self.m.quantum and self.queue[thread]:
                    block, n, value = self.queue[thread].pop(0)
                    self.execute(thread, block, n, value)
                    ran += n
                if not self.queue[thread]:
                    del self.queue[thread]
        self.queued = 0

    def execution(self, line):
        line, _, more = line.partition('*')
        end = 0
        while end < len(line) and line[end] in '0123456789abcdef':
            end += 1
        block, n = self.ids[line[:end]]
        diff = fields(line[end:])
        counted = False
        for _ in range(int(more, 16) + 1 if more else 1):
            for g, d in enumerate(diff):
                block.value[g] = (block.value[g] + d) & MASK
            if self.warm and self.told >= self.warm and not self.m.counting:
                self.flush()
                self.m.counting = True
                counted = False
            self.told += n
            thread = self.thread or 0
            if self.m.cores == 1:
                self.execute(thread, block, n, block.value)
                continue
            self.queue.setdefault(thread, []).append(
                (block, n, list(block.value)))
            if not counted:
                self.queued += 1
                counted = True
        if self.queued == PIECE:
            self.flush()

    def line(self, line):
        word = line.split(' ')
        if line[0] == 'B':
            b = Block(word[2:])
            self.ids[word[1]] = (b, len(b.insns))
        elif line[0] == 'P':
            self.ids[word[1]] = (self.ids[word[2]][0], int(word[3], 16))
        elif line[0] == 'T':
            key = tuple(word[1:])
            if self.thread is None and not self.threads:
                self.threads[key] = 0
            elif key not in self.threads:
                self.threads[key] = len(self.threads)
            self.thread = self.threads[key]
        elif line[0] in 'YK':
            self.flush()
            if line == 'Y 60':
                self.ended()
        elif line[0] in '0123456789abcdef':
            self.execution(line)

    def ended(self):
        """The thread is over; its number may come back as another."""
        for key, n in list(self.threads.items()):
            if n == self.thread:
                del self.threads[key]
                self.threads['over', n] = n


def main():
    opt = dict(a.split('=') for a in sys.argv[2:-1])
    with open(sys.argv[1]) as f:
        m = Machine(f.read())
    warm = int(opt.get('warm', 0))
    m.counting = warm == 0
    run = Run(m, opt.get('laws') == '1', warm)
    with open(sys.argv[-1]) as f:
        for line in f:
            run.line(line.rstrip('\n'))
    run.flush()
    for pc in sorted(m.rows):
        print('%x' % pc, *('%s=%d' % kv for kv in sorted(m.rows[pc].items())))
    print('totals', *('%s=%d' % kv for kv in sorted(m.totals.items())))


if __name__ == '__main__':
    main()
