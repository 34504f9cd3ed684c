#!/usr/bin/env python3
"""machines.py SEED [many]: a random description for memsim.

many: with cores. machines.py threads SEED: the stream on standard input, run by
three threads that hand over now and then, some times by a system call.
"""
import random
import sys

POLICIES = ['lru', 'fifo', 'random', 'tree-plru', 'bit-plru', 'srrip',
            'brrip', 'drrip']
PREFETCHERS = ['next', 'next:3', 'stride', 'stride:2:8', 'streamer',
               'streamer:4:3']


def prefetch(rnd):
    if rnd.random() < 0.5:
        return ''
    one = {}
    for p in rnd.sample(PREFETCHERS, rnd.choice([1, 1, 2, 3])):
        one[p.split(':')[0]] = p
    return ' prefetch=' + '+'.join(one.values())


def cache(rnd, name, level, line):
    policy = rnd.choice(POLICIES)
    ways = rnd.choice([1, 2, 4, 8, 16] if policy == 'tree-plru' else
                      [1, 2, 3, 4, 6, 8, 12])
    sets = rnd.choice([1, 2, 3, 7, 8, 16, 64, 70]) * (1, 2, 4, 4)[level]
    if rnd.random() < 0.1:
        ways = 256 if policy == 'tree-plru' else 200
        sets = rnd.choice([1, 2])
    return 'cache %s ways=%d sets=%d line=%d policy=%s seed=%d' % (
        name, ways, sets, line, policy, rnd.randrange(1, 99))


def caches(rnd, many):
    split = rnd.choice([0, 1, 1, 1, 2])
    line = rnd.choice([16, 32, 64, 64])
    alike = many or rnd.random() < 0.6
    through = shared = False
    for level in range(rnd.randrange(1, 5)):
        if not alike:
            line = rnd.choice([n for n in (16, 32, 64, 128)
                               if n >= line or rnd.random() < 0.3])
        content = rnd.choice(['any', 'inclusive', 'exclusive']) if level \
            else 'any'
        if content != 'any' and not alike or \
                content == 'exclusive' and (through or level < split):
            content = 'any'
        through = False
        if many and level and (shared or rnd.random() < 0.6):
            shared = True
        for side in 'ID' if level < split else ['']:
            if side == 'I' and rnd.random() < 0.1:
                continue
            text = cache(rnd, 'L%d%s' % (level + 1, side), level, line)
            text += ' content=' + content
            if content != 'exclusive' and rnd.random() < 0.25:
                text += ' write=through'
                through = True
            if content != 'inclusive' and rnd.random() < 0.25:
                text += ' allocate=no'
            print(text + (' shared=yes' if shared else '') + prefetch(rnd))


def tlb(rnd, name, pages):
    entries = rnd.choice([4, 16, 12, 64, 150])
    ways = rnd.choice(['full', '2', '1' if entries % 4 else '4'])
    policy = rnd.choice(POLICIES)
    if policy == 'tree-plru':
        entries = 16
    print('tlb %s entries=%d ways=%s pages=%s policy=%s' % (
        name, entries, ways, pages, policy))


TLBS = [[], [('T1', '4k,2M')],
        [('T1I', '4k'), ('T1D', '4k'), ('T1Dh', '2M,1G'), ('T2', '4k,2M')],
        [('T1I', '4k,2M'), ('T1D', '4k,2M,1G'), ('T2D', '4k,2M')],
        [('T1I', '4k'), ('T1D', '4k'), ('T2', '4k')]]


def machine(rnd, many):
    caches(rnd, many)
    kind = rnd.randrange(5)
    for name, pages in TLBS[kind]:
        tlb(rnd, name, pages)
    if kind in (1, 2, 3):
        print(rnd.choice(['huge 2M 50%', 'huge 2M all', 'huge 2M 0-ffffffff',
                          'huge 1G 7f0000000000-7fffffffffff']))
        if rnd.random() < 0.5:
            print('huge 1G 30%')
    if many:
        print('cores', rnd.choice(['each', '2', '3', '4']))
        print('quantum', rnd.choice([1, 10, 100, 1000]))


def threads(rnd):
    for line in sys.stdin:
        sys.stdout.write(line)
        if line[0] in '0123456789abcdef' and rnd.random() < 0.1:
            if rnd.random() < 0.1:
                print('Y 202')
            print('T', rnd.choice([700, 701, 702]))


def main():
    if sys.argv[1] == 'threads':
        threads(random.Random(int(sys.argv[2])))
    else:
        machine(random.Random(int(sys.argv[1])), len(sys.argv) > 2)


if __name__ == '__main__':
    main()
