#!/usr/bin/env python3
"""simpoint.py - what simpoint must print, the slow and plain way

A second implementation for the tests, one loop after the other, no bound, no
shortcut, dense everywhere; t/long/0652-simpoint-model.t compares every byte.  It
knows the options' names without dash, as "name=value" arguments, and writes to
the files named.  Python's floats are IEEE doubles and its sums are in order.
"""
import math
import re
import struct
import sys


def over(x, y):
    """x / y as the processor has it."""
    if y != 0 or math.isnan(x):
        return x / y if y != 0 else math.nan
    return math.nan if x == 0 else math.copysign(math.inf, x) * \
        math.copysign(1.0, y)


def log(x):
    if x == 0:
        return -math.inf
    return math.nan if x < 0 else math.log(x)


def single(x):
    return struct.unpack('f', struct.pack('f', x))[0]


class Random:
    """L'Ecuyer 1988 with a table of 32 after Bays and Durham."""
    M1, M2 = 2147483563, 2147483399

    def __init__(self, seed):
        self.s1 = self.s2 = abs(seed) or 1
        values = []
        for _ in range(40):
            self.s1 = 40014 * self.s1 % self.M1
            values.append(self.s1)
        self.table = values[8:][::-1]
        self.y = self.table[0]

    def uniform(self):
        self.s1 = 40014 * self.s1 % self.M1
        self.s2 = 40692 * self.s2 % self.M2
        i = self.y // 67108862
        self.y = self.table[i] - self.s2
        self.table[i] = self.s1
        if self.y < 1:
            self.y += self.M1 - 1
        return min(single(self.y * (1.0 / self.M1)), single(1 - 1.2e-7))

    def integer(self):
        return int(single(self.uniform() * 2147483648.0))


def number(x, form):
    """What is no number comes of a division, and has a sign there."""
    return '-nan' if math.isnan(x) else form % x


def g20(x):
    return number(x, '%.20g')


def g(x):
    return number(x, '%g')


def write_rows(name, rows, weights):
    with open(name, 'w') as f:
        f.write('%d:w\n' % len(rows))
        for row, w in zip(rows, weights):
            f.write('%s %d: ' % (g20(w), len(row)))
            f.write(''.join(g20(x) + ' ' for x in row) + '\n')


def read_rows(name):
    lines = open(name).read().split('\n')
    n = int(lines[0].split(':')[0])
    rows, weights = [], []
    for line in lines[1:n + 1]:
        head, tail = line.split(':')
        head = head.split()
        weights.append(float(head[0]) if len(head) > 1 else 1 / n)
        rows.append([float(x) for x in tail.split()])
    return rows, weights


PAIR = re.compile(rb'''[ \t-\r]*+ [^ \t-\r] [ \t-\r]*+ ([+-]?[0-9]++)
    [ \t-\r]*+ [^ \t-\r] [ \t-\r]*+
    ([+-]?(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++|(?![eE])))
    ''', re.X)


def read_pairs(line):
    """What SimPoint reads of a line: up to what is no pair."""
    pairs, at = [], 0
    while True:
        m = PAIR.match(line, at)
        if m is None or abs(int(m[1])) >= 2 ** 31 or \
                math.isinf(float(m[2])):
            return pairs
        if int(m[1]) < 1:
            sys.exit('dimension < 1')
        pairs.append((int(m[1]), float(m[2])))
        at = m.end()


def read_vectors(name, empty):
    """Lists of (block, value); without `empty', the first empty one ends."""
    vectors = []
    with open(name, 'rb') as f:
        for line in f.read().split(b'\n')[:-1]:
            if not line.startswith(b'T'):
                continue
            pairs = read_pairs(line[1:].split(b'\0')[0])
            if not pairs and not empty:
                break
            vectors.append(pairs)
    return vectors


def square(a, b):
    s = 0.0
    for x, y in zip(a, b):
        s += (x - y) * (x - y)
    return s


def nearest(x, centres):
    """The first centre, unless another one is nearer."""
    best, least = 0, square(x, centres[0])
    for c, centre in enumerate(centres):
        s = square(x, centre)
        if s < least:
            best, least = c, s
    return best, least


def reached(x, centres):
    """The same, of those at any distance."""
    best, least = 0, sys.float_info.max
    for c, centre in enumerate(centres):
        s = square(x, centre)
        if s < least:
            best, least = c, s
    return best


def shares(labels, weights, k):
    p = [0.0] * k
    for c, w in zip(labels, weights):
        p[c] += w
    return p


def means(xs, ws, labels, k):
    sums = [[0.0] * len(xs[0]) for _ in range(k)]
    for x, w, c in zip(xs, ws, labels):
        for d in range(len(x)):
            sums[c][d] += x[d] * w
    p = shares(labels, ws, k)
    for c in range(k):
        if p[c] > 0:
            sums[c] = [s / p[c] for s in sums[c]]
    return sums, p


class Model:
    def __init__(self, options):
        self.o = {'iters': '100', 'dim': '15', 'numInitSeeds': '5',
                  'initkm': 'samp', 'bicThreshold': '0.9',
                  'fixedLength': 'on', 'seedkm': '493575226',
                  'seedproj': '2042712918', 'seedsample': '385089224',
                  'coveragePct': '1'}
        self.o.update(options)
        self.load()
        self.sample()
        self.choose_k()
        self.save()

    # ---- vectors and weights

    def load(self):
        o = self.o
        if 'loadFVFile' in o:
            self.x, sums = self.frequencies(o['loadFVFile'])
            self.w = self.parts(sums)
            if 'joinFVFile' in o:
                more = self.frequencies(o['joinFVFile'])[0]
                t = float(o.get('joinShare', 0.5))
                self.x = [[x * (1 - t) for x in a] + [x * t for x in b]
                          for a, b in zip(self.x, more)]
        else:
            self.x, self.w = read_rows(o['loadVectorsTxtFmt'])
            self.w = self.parts(self.w)
        n = len(self.x)
        if o['fixedLength'] == 'on':
            self.w = [1 / n] * n
        if 'loadVectorWeights' in o:
            words = open(o['loadVectorWeights']).read().split()
            self.w = self.parts([float(v) for v in words])

    @staticmethod
    def parts(values):
        s = 0.0
        for v in values:
            s += v
        return [over(v, s) for v in values]

    def frequencies(self, name):
        lists = read_vectors(name, name == self.o.get('joinFVFile'))
        sums = []
        for pairs in lists:
            s = 0.0
            for _, v in pairs:
                s += v
            sums.append(s)
        top = max(b for pairs in lists for b, _ in pairs)
        if self.o['dim'] == 'noProject':
            return self.dense(lists, sums, top), sums
        return self.project(lists, sums, top), sums

    def dense(self, lists, sums, top):
        rows = []
        for pairs, s in zip(lists, sums):
            row = [0.0] * top
            for b, v in pairs:
                row[b - 1] = over(v, s)
            rows.append(row)
        return rows

    def project(self, lists, sums, top):
        dim = int(self.o['dim'])
        r = Random(int(self.o['seedproj']))
        if 'loadProjMatrixTxtFmt' in self.o:
            self.proj = read_rows(self.o['loadProjMatrixTxtFmt'])[0]
        else:
            self.proj = [[2.0 * r.uniform() - 1.0 for _ in range(dim)]
                         for _ in range(top)]
        rows = []
        for pairs, s in zip(lists, sums):
            row = [0.0] * dim
            for b, v in pairs:
                q = over(v, s)
                for d in range(dim):
                    row[d] += q * self.proj[b - 1][d]
            rows.append(row)
        return rows

    def sample(self):
        self.sx, self.sw = self.x, self.w
        n, want = len(self.x), int(self.o.get('sampleSize', -1))
        if want <= 0 or want >= n:
            return
        line = sorted(((w, i) for i, w in enumerate(self.w)), reverse=True)
        ends, s = [], 0.0
        for w, _ in line:
            s += w
            ends.append(s)
        ends[-1] = 1.0
        r, chosen = Random(int(self.o['seedsample'])), set()
        while len(chosen) < want:
            u = r.uniform()
            j = next(j for j in range(n) if ends[j] >= u)
            chosen.add(line[j][1])
        order = sorted(chosen)
        self.sx = [self.x[i] for i in order]
        self.sw = self.parts([self.w[i] for i in order])

    # ---- one trial

    def first(self, k, seed):
        r, n, xs = Random(seed), len(self.x), self.x
        if self.o['initkm'] == 'samp':
            return [list(xs[r.integer() % n]) for _ in range(k)]
        centres = [list(xs[r.integer() % n])]
        while len(centres) < k:
            now = [square(x, centres[-1]) for x in xs]
            least = now if len(centres) == 1 else \
                [d if d < b else b for d, b in zip(now, least)]
            far = 0
            for i in range(n):
                if least[i] > least[far]:
                    far = i
            centres.append(list(xs[far]))
        return centres

    def kmeans(self, centres, p):
        k, limit = len(centres), self.o['iters']
        done = 0
        while limit == 'off' or done < int(limit):
            labels = [reached(x, centres) for x in self.sx]
            after, q = means(self.sx, self.sw, labels, k)
            if all(x == y for a, b in zip(after, centres)
                   for x, y in zip(a, b)):
                p = q
                break
            done += 1
            if limit != 'off' and done == int(limit):
                break
            centres, p = after, q
        return centres, p, done

    def trial(self, k, seed, given=None):
        n, dim = len(self.x), len(self.x[0])
        init = given or self.first(k, seed)
        labels = [nearest(x, init)[0] for x in self.x]
        initp = self.parts(shares(labels, self.w, k))
        centres, p, iters = self.kmeans(init, initp)
        found = [nearest(x, centres) for x in self.x]
        total = 0.0
        for w in self.w:
            total += w
        mean, s = over(total, n), 0.0
        for (c, d2), w in zip(found, self.w):
            s += w * d2
        distortion = over(s, mean)
        v = distortion / (dim * n)
        bic = -dim * (log(2 * 3.14159265358979 * v) + 1) / 2 - log(total)
        for (c, d2), w in zip(found, self.w):
            if p[c] > 0:
                bic += over(log(p[c]) * w, total)
        bic = bic * n - ((k - 1) + k * dim + 1) / 2 * math.log(n)
        self.log.append('%d %d %s %s' % (k, iters, g(bic), g(distortion)))
        return {'k': k, 'init': init, 'initp': initp, 'fin': centres, 'p': p,
                'found': found, 'bic': bic, 'iters': iters,
                'distortion': distortion}

    def run(self, k):
        trials = int(self.o['numInitSeeds'])
        base = int(self.o['seedkm']) + len(self.runs) * trials
        best = None
        for j in range(trials):
            t = self.trial(k, base + 2 * j)
            if best is None or t['bic'] > best['bic']:
                best = t
        self.runs.append(best)

    # ---- the choice of k

    def enough(self):
        scores = [t['bic'] for t in self.runs]
        lo = hi = 0
        for r, x in enumerate(scores):
            if x < scores[lo]:
                lo = r
            if x > scores[hi]:
                hi = r
        share = float(self.o['bicThreshold'])
        return scores[lo] + share * (scores[hi] - scores[lo]), lo, hi

    def search(self, top):
        lo, hi, last = 1, top, (1 + top) // 2
        for k in (1, top, last):
            self.run(k)
        while True:
            enough, worst, best = self.enough()
            if best > worst and self.runs[-1]['bic'] < enough:
                lo, k = last, (last + hi) // 2
            else:
                hi, k = last, (last + lo) // 2
            if hi - lo <= 1:
                break
            self.run(k)
            last = k

    def listed(self, text):
        for part in text.split(','):
            n = [int(v) for v in part.split(':')]
            step = n[1] if len(n) == 3 else 1
            a, b = n[0], n[-1]
            ks = range(a, b + 1, step) if a <= b else range(a, b - 1, -step)
            for k in ks:
                self.run(k)

    def choose_k(self):
        self.runs, self.log = [], []
        o = self.o
        if 'loadInitCtrs' in o:
            given = read_rows(o['loadInitCtrs'])[0]
            self.runs.append(self.trial(len(given), 0, given))
        elif 'loadInitLabels' in o:
            words = open(o['loadInitLabels']).read().split()
            names = list(dict.fromkeys(words))
            labels = [names.index(v) for v in words]
            given = means(self.x, self.w, labels, len(names))[0]
            self.runs.append(self.trial(len(given), 0, given))
        elif o.get('k', 'search') != 'search':
            self.listed(o['k'])
        else:
            self.search(int(o['maxK']))
        enough = self.enough()[0]
        good = [t for t in self.runs if t['bic'] >= enough]
        if len(self.runs) == 1:
            good = self.runs
        self.best = min(good, key=lambda t: t['k'], default=None)

    # ---- files

    def points(self, t, clusters, middle, suffix):
        s = 0.0
        for c in clusters:
            s += t['p'][c]
        dist = [(c, math.sqrt(d2)) for c, d2 in t['found']]
        if 'saveSimpoints' in self.o:
            with open(self.o['saveSimpoints'] + middle + suffix, 'w') as f:
                for c in clusters:
                    rep, least = -1, None
                    for i, (b, d) in enumerate(dist):
                        if b == c and (least is None or d < least):
                            rep, least = i, d
                    f.write('%d %d\n' % (rep, c))
        if 'saveSimpointWeights' in self.o:
            name = self.o['saveSimpointWeights'] + middle + suffix
            with open(name, 'w') as f:
                for c in clusters:
                    f.write('%s %d\n' % (g(over(t['p'][c], s)), c))

    @staticmethod
    def heaviest(p, cover):
        order = sorted((c for c in range(len(p)) if p[c] > 0),
                       key=lambda c: (p[c], c), reverse=True)
        s, some = 0.0, []
        for c in order:
            if s >= cover:
                break
            some.append(c)
            s += p[c]
        return sorted(some)

    def save_run(self, t, suffix):
        o, p = self.o, t['p']
        self.points(t, self.heaviest(p, 1), '', suffix)
        cover = float(o['coveragePct'])
        if cover < 1:
            self.points(t, self.heaviest(p, cover), '.lpt%g' % cover, suffix)
        if 'saveLabels' in o:
            with open(o['saveLabels'] + suffix, 'w') as f:
                for c, d2 in t['found']:
                    f.write('%d %s\n' % (c, g(math.sqrt(d2))))
        if 'saveInitCtrs' in o:
            write_rows(o['saveInitCtrs'] + suffix, t['init'], t['initp'])
        if 'saveFinalCtrs' in o:
            write_rows(o['saveFinalCtrs'] + suffix, t['fin'], p)

    def save(self):
        o = self.o
        if 'saveAll' in o:
            for r, t in enumerate(self.runs):
                self.save_run(t, '.run_%d_k_%d' % (r + 1, t['k']))
        elif self.best is not None:
            self.save_run(self.best, '')
        if 'saveVectorsTxtFmt' in o:
            write_rows(o['saveVectorsTxtFmt'], self.x, self.w)
        if 'saveProjMatrixTxtFmt' in o:
            n = len(self.proj)
            write_rows(o['saveProjMatrixTxtFmt'], self.proj, [1 / n] * n)
        if 'saveVectorWeights' in o:
            with open(o['saveVectorWeights'], 'w') as f:
                for w in self.w:
                    f.write(g20(w) + '\n')
        if 'log' in o:
            with open(o['log'], 'w') as f:
                f.write('\n'.join(self.log) + '\n')


Model(dict(a.split('=', 1) if '=' in a else (a, '') for a in sys.argv[1:]))
