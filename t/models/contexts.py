"""One run of random calls, told in order or by contexts: events(5)

	contexts.py SEED KIND MAP THREADS

writes a run of about 2000 calls: as KIND all, with outcomes, or blocks, in
order; as counts or cache, with contexts.  MAP is the end of an M line, of a
program with functions of 256 bytes at 401000, 401100 ...: main, f, g, handler.

A function runs its first block, then calls others, is interrupted by the
handler, or works, and returns.
"""
import random
import re
import sys

seed, kind, where, nthread = sys.argv[1:]
rnd = random.Random(int(seed))
ordered = kind in ("all", "blocks")
misses = kind in ("all", "cache")
MAIN, F, G, HANDLER = range(4)
out = []
executions = 0


def line(fmt, *args):
    out.append(fmt % args if args else fmt)


def start(fn):
    return 0x401000 + 256 * fn


# ---- contexts: a tree, folded at two levels of recursion

class State:
    def __init__(self, up, fn, level):
        self.up, self.fn, self.level = up, fn, level
        self.like = self            # whose context it has


states = []                         # number - 1
state_of = {}
arcs = []
arc_of = {}


def new_state(key, s):
    states.append(s)
    state_of[key] = s
    if ordered:
        return
    if s.like is not s:
        line("S %x %x", number(s), number(s.like))
    else:
        line("S %x %x %x %x", number(s), number(s.up), s.level, start(s.fn))


def number(s):
    return states.index(s) + 1 if s else 0


def find_state(up, fn, depth):
    level = min(depth, 2)
    above = up if depth > 2 else None
    while above and (above.fn, above.level) != (fn, level):
        above = above.up
    if not above:
        key = (up, fn, level)
        if key not in state_of:
            new_state(key, State(up, fn, level))
        return state_of[key]
    if (number(up) + fn) % 3 == 0:
        return above
    # one that differs in what is active
    key = ("like", above, up)
    if key not in state_of:
        s = State(above.up, fn, level)
        s.like = above
        new_state(key, s)
    return state_of[key]


def find_arc(come, site, target, to):
    key = (come, site, to)
    if key not in arc_of:
        arcs.append(key)
        arc_of[key] = len(arcs)
        if not ordered:
            line("A %x %x %x %x %x", len(arcs), number(come), site, target,
                 number(to))
    return arc_of[key]


# ---- executions

class Thread:
    def __init__(self, num):
        self.num = num
        self.sp = 0x7ffe0000 - 0x10000 * num
        self.left = 2000 // int(nthread)
        self.cost = [0, 0, 0]       # Ir, Dr, Dw
        self.frames = []            # arc, cost at its entry
        self.told = []              # arcs of frames told last
        self.depth = [0] * 4
        self.state = None
        self.count = {}             # by id
        self.calls = {}             # by arc: calls, Ir, Dr, Dw


ids = {}
last = {}                           # by id and group


def new_id(key, fmt, *args):
    if key not in ids:
        ids[key] = len(ids) + 1
        line(fmt, ids[key], *args)
    return ids[key]


def field(what, value):
    d = value - last.get(what, 0)
    last[what] = value
    return "%s%x" % ("-" if d < 0 else "+", abs(d))


def run(text, ninsn, reads, writes, *values):
    """Run a block; t.state says whose it is."""
    global executions
    s = t.state
    if kind == "counts":            # no groups; blocks: those of the stack
        text = re.sub(r"([rwm]\d)\.0(-8)?", r"\1", text)
    if kind == "blocks" and re.search(r"[rm]4\.0", text):
        text, values = re.sub(r"([rm]4)\.0", r"\1", text), ()
    known = len(ids)
    key = text if ordered else (text, s.fn, s.level)
    i = new_id(key, "B %x " + text)
    if len(ids) > known and not ordered:
        line("F %x %x", i, number(s))
    for k, n in enumerate((ninsn, reads, writes)):
        t.cost[k] += n
    if ordered:
        line("%x%s", i, "".join(field((i, g), v)
                                for g, v in enumerate(values)))
        executions += 1
    else:
        t.count[i] = t.count.get(i, 0) + 1
    return i


def miss(i, n, k, addr, event):
    """A reference of instruction n, or its fetch if k is 0."""
    global executions
    if kind == "cache":
        tell_frames()
        q = new_id((i, n, k), "Q %x %x %x %x s", i, n, k)
        line("%x%s", q, field(q, 16 * addr))
        executions += 1
    if misses:
        line("O %x %s", n, event)


def tell_frames():
    now = [f[0] for f in t.frames]
    same = 0
    while same < min(len(now), len(t.told)) and now[same] == t.told[same]:
        same += 1
    if len(t.told) > same:
        line("X %x", len(t.told) - same)
    for a in now[same:]:
        line("N %x 7ffe0000", a)
    t.told = now


# ---- calls

def enter(come, site, fn):
    t.depth[fn] += 1
    to = find_state(come.like if come else None, fn, t.depth[fn])
    a = find_arc(come.like if come else None, site, start(fn), to)
    t.frames.append((a, list(t.cost)))
    t.calls.setdefault(a, [0, 0, 0, 0])[0] += come is not None
    t.state = to


def leave(fn):
    a, cost = t.frames.pop()
    for k in range(3):
        t.calls[a][1 + k] += t.cost[k] - cost[k]
    t.depth[fn] -= 1


def body(fn, depth):
    at = start(fn)
    data = 0x10000 + 64 * rnd.randrange(50)
    i = run(">%x 4r4.0 3" % at, 2, 1, 0, data)
    if rnd.randrange(3) == 0:
        miss(i, 1, 1, data, "D1mr")
    if rnd.randrange(5) == 0:
        miss(i, 2, 0, at + 4, "I1mr")
    for _ in range(rnd.randrange(4)):
        if rnd.randrange(12) == 0 and depth < 12:
            interrupt(at + 0x80)
        elif t.left > 0 and depth < 13:
            t.left -= 1
            call(fn, rnd.randrange(3), depth)
        else:
            run(">%x 4m4.0 2" % (at + 0xc0), 2, 1, 0,
                0x20000 + 64 * rnd.randrange(9))


def call(fn, callee, depth):
    at = start(fn) + 0x10 + 16 * callee
    come = t.state
    run(">%x 3 5w8.0-8L%x" % (at, start(callee)), 2, 0, 1, t.sp)
    enter(come, at + 3, callee)
    t.sp -= 16
    body(callee, depth + 1)
    t.sp += 16
    run(">%x 1r8.0R" % (start(callee) + 0xf0), 1, 1, 0, t.sp - 8)
    leave(callee)
    t.state = come
    run(">%x 2" % (at + 8), 1, 0, 0)


def interrupt(at):
    come, cost, sp = t.state, list(t.cost), t.sp
    line("K 10 %x", at)
    t.sp -= 1024
    enter(None, 0, HANDLER)
    body(HANDLER, 10)
    run(">%x 2S" % (start(HANDLER) + 0xe0), 1, 0, 0)
    line("Y 15")
    leave(HANDLER)
    t.state, t.cost, t.sp = come, cost, sp
    run(">%x 2" % at, 1, 0, 0)


def tell_costs():
    global executions
    for i, n in sorted(t.count.items()):
        executions += n
        if kind == "cache":
            line("W %x %x", i, n)
        else:
            line("%x%s", i, "*%x" % (n - 1) if n > 1 else "")
    for a, n in sorted(t.calls.items()):
        line("V %x " % a + " ".join("%x" % c for c in
                                    n[:4 if kind == "cache" else 2]))
    if kind == "counts":
        line("I 1")


line("H quern-events 2")
line("H cmd ./prog")
line("H kind %s", kind + (" 64 64 8" if kind == "cache" else ""))
if not ordered:
    line("H contexts 1000000")
if misses:
    line("H outcomes D1mr I1mr")
line("M 1 %s", where)
threads = [Thread(n + 1) for n in range(int(nthread))]
for t in threads:
    line("T %d", t.num)
    enter(None, 0, MAIN)
    body(MAIN, 0)
    while t.left > 0:
        t.left -= 1
        call(MAIN, rnd.randrange(3), 0)
    leave(MAIN)
    t.state = None
if not ordered:
    for t in threads:
        line("T %d", t.num)
        tell_costs()
line("E exit 0 %d", executions)
print("\n".join(out))
