/*
 * evdef - the definitions of an event stream: B, P, Q and Z lines
 *
 * B 1 >401000 3 4r1.0 3w1.1 2C401000
 *
 * becomes a struct ev_block with three instructions, two references and one
 * target. Blocks are freed only when the stream is closed. Their parts are
 * copied into an arena, or for a lean reader (ev_lean) packed (evpack.c), and
 * unpacked while a line refers to them.
 */
#include "evdef.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "mem.h"
#include "prog.h"

#define ARENA	(256 << 10)
#define CHUNK	EVDEF_CHUNK
#define CHUNKSIZE	((size_t)128 << 10)	/* a power of two */
#define HEADS	(((size_t)EVDEF_MAXID + 1) * sizeof(uint32_t))

int
ev_hex(const char **s, uint64_t *n)
{
	const char *p = *s;
	uint64_t x = 0;

	for (;; p++) {
		unsigned d = (unsigned char)*p;

		if (d - '0' < 10)
			x = x << 4 | (d - '0');
		else if (d - 'a' < 6)
			x = x << 4 | (d - 'a' + 10);
		else
			break;
	}
	if (p == *s || p - *s > 16)
		return -1;
	*s = p;
	*n = x;
	return 0;
}

/* ---- memory ---- */

void
evdef_open(struct evdef *d)
{
	memset(d, 0, sizeof *d);
	d->chunk = xcalloc((EVDEF_MAXID + 1) / CHUNK, sizeof *d->chunk);
	d->head = mmap(NULL, HEADS, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (d->head == MAP_FAILED)
		die("table of ids: mmap:");
	d->headpages.size = HEADS;
}

void
evdef_close(struct evdef *d)
{
	char *next;

	for (; d->arenas != NULL; d->arenas = next) {
		memcpy(&next, d->arenas, sizeof next);
		free(d->arenas);
	}
	for (unsigned i = 0; i < (EVDEF_MAXID + 1) / CHUNK; i++) {
		if (d->chunk[i] != NULL)
			free(d->chunk[i]->told);
		free(d->chunk[i]);
	}
	free(d->chunk);
	munmap(d->head, HEADS);
	free(d->insn);
	free(d->ref);
	free(d->target);
	free(d->packed);
	free(d->code);
}

/* Will the stream probably fill what it is given? */
static bool
is_long(const struct evdef *d)
{
	return d->ndef > CHUNK;
}

static void *
arena_alloc(struct evdef *d, size_t n)
{
	void *p;

	n = (n + 7) & ~(size_t)7;
	if (n > d->narena) {
		d->narena = n > ARENA ? n : ARENA;
		d->arena = xmalloc(d->narena + sizeof d->arenas);
		memcpy(d->arena, &d->arenas, sizeof d->arenas);
		d->arenas = d->arena;
		d->arena += sizeof d->arenas;
		if (is_long(d))
			xtouch_all(d->arena, d->narena);
	}
	p = d->arena;
	d->arena += n;
	d->narena -= n;
	return p;
}

const struct ev_def *
evdef_get(const struct evdef *d, uint32_t number)
{
	if (number - 1 >= d->ndef)
		return NULL;
	return &d->chunk[number / CHUNK]->def[number % CHUNK];
}

const struct ev_def *
evdef_find(const struct evdef *d, uint64_t id)
{
	return id > EVDEF_MAXID ? NULL :
	    evdef_get(d, ev_id(d->head[id]));
}

static struct evdef_chunk *
new_chunk(void)
{
	struct evdef_chunk *c = aligned_alloc(CHUNKSIZE, CHUNKSIZE);

	_Static_assert(sizeof *c <= CHUNKSIZE, "a chunk does not fit");
	if (c == NULL)
		die("definitions:");
	c->told = NULL;
	return c;
}

uint64_t *
ev_told(const struct ev_def *d)
{
	struct evdef_chunk *c = (struct evdef_chunk *)((uintptr_t)d &
	    ~(uintptr_t)(CHUNKSIZE - 1));

	if (c->told == NULL)
		c->told = xcalloc(CHUNK, sizeof *c->told);
	return &c->told[d - c->def];
}

/* Enter a definition; returns its number. */
static uint32_t
enter(struct evdef *d, struct ev_def def)
{
	uint32_t number = ++d->ndef;
	struct evdef_chunk **c = &d->chunk[number / CHUNK];

	if (*c == NULL) {
		*c = new_chunk();
		if (is_long(d))
			xtouch_all(*c, sizeof **c);
	}
	(*c)->def[number % CHUNK] = def;
	/* the thread that reads ahead may look at it */
	__atomic_store_n(&d->head[def.id], ev_head(def.ngroups, number),
	    __ATOMIC_RELAXED);
	return number;
}

/* ---- parts of a line ---- */

static int
bad(struct evdef *d, const char *at, const char *why)
{
	d->at = at;
	d->why = why;
	return -1;
}

static int
number(struct evdef *d, const char **s, uint64_t max, uint64_t *n,
    const char *why)
{
	const char *at = *s;

	if (ev_hex(s, n) < 0 || *n > max)
		return bad(d, at, why);
	return 0;
}

/* Read an id that is not defined yet. */
static int
new_id(struct evdef *d, const char **s, uint32_t *id)
{
	const char *at = *s;
	uint64_t n;

	if (number(d, s, EVDEF_MAXID, &n, "not an id") < 0)
		return -1;
	if (n == 0 || *s - at > 6)
		return bad(d, at, "not an id");
	xtouch(d->head, &d->headpages, (n + 1) * sizeof *d->head);
	if (evdef_find(d, n) != NULL)
		return bad(d, at, "id is defined twice");
	*id = (uint32_t)n;
	return 0;
}

/* Read a group's number: that of a known group, or of the next new one. */
static int
group(struct evdef *d, const char **s, uint8_t *g)
{
	const char *at = *s;
	uint64_t n;

	if (number(d, s, 254, &n, "not a group") < 0)
		return -1;
	if (n > d->ngroups)
		return bad(d, at, "group is not numbered by first use");
	if (n == d->ngroups)
		d->ngroups++;
	*g = (uint8_t)n;
	return 0;
}

/*
 * ref = ( "r" | "w" | "m" ) size [ "!" ] [ "@" addr | "." group [ dist ] ]
 *	[ "*" group ]
 */
static int
reference(struct evdef *d, const char **s)
{
	struct ev_ref *r;
	uint64_t n;
	uint8_t g;
	char sign;

	d->ref = xgrow(d->ref, &d->capref, d->nref + 1, sizeof *d->ref);
	r = &d->ref[d->nref];
	memset(r, 0, sizeof *r);
	r->kind = (uint8_t)*(*s)++;
	if (r->kind == 'm' && d->writes)
		r->kind = 'w';
	if (number(d, s, UINT16_MAX, &n, "a reference without its size") < 0)
		return -1;
	if (n == 0)
		return bad(d, *s - 1, "a reference of no bytes");
	r->size = (uint16_t)n;
	r->locked = **s == '!';
	*s += r->locked;
	if (**s == '@') {
		++*s;
		r->where = EV_FIXED;
		if (number(d, s, UINT64_MAX, &r->at, "not an address") < 0)
			return -1;
	} else if (**s == '.') {
		++*s;
		r->where = EV_GROUP;
		if (group(d, s, &r->group) < 0)
			return -1;
		sign = **s;
		if (sign == '+' || sign == '-') {
			++*s;
			if (number(d, s, UINT64_MAX, &n, "not a distance") < 0)
				return -1;
			r->at = sign == '-' ? -n : n;
		}
	}
	if (**s == '*') {
		++*s;
		if (group(d, s, &g) < 0)
			return -1;
		r->count = (uint8_t)(g + 1);
	}
	d->nref++;
	return 0;
}

static int
flow(struct evdef *d, const char **s, struct ev_insn *i)
{
	i->flow = (uint8_t)*(*s)++;
	if (strchr("CJL", i->flow) == NULL)
		return 0;
	d->target = xgrow(d->target, &d->captarget, d->ntarget + 1,
	    sizeof *d->target);
	i->target = (uint16_t)d->ntarget;
	return number(d, s, UINT64_MAX, &d->target[d->ntarget++],
	    "a branch without its target");
}

/* "=" and the bytes of the instruction being read */
static int
code(struct evdef *d, const char **s, unsigned len)
{
	const char *at = *s;
	struct evdef_code *c;

	d->code = xgrow0(d->code, &d->capcode, d->ninsn + 1, sizeof *d->code);
	/* those before it, back to the last one that has bytes, have none */
	for (; d->ncode <= d->ninsn; d->ncode++)
		d->code[d->ncode].known = false;
	c = &d->code[d->ninsn];
	c->known = true;
	++*s;
	for (unsigned k = 0; k < 2 * len; k++, ++*s) {
		unsigned n = (unsigned char)**s;

		n = n - '0' < 10 ? n - '0' : n - 'a' < 6 ? n - 'a' + 10 : 16;
		if (n == 16)
			return bad(d, at, "not the bytes of an instruction");
		c->byte[k / 2] = (uint8_t)(c->byte[k / 2] << 4 | n);
	}
	return 0;
}

/* Read one instruction at *addr, and move *addr behind it. */
static int
instruction(struct evdef *d, const char **s, uint64_t *addr)
{
	struct ev_insn *i;
	const char *at = *s;
	unsigned len = (unsigned char)*at;

	if (len - '1' < 9)
		len -= '0';
	else if (len - 'a' < 6)
		len -= 'a' - 10;
	else
		return bad(d, at, "not an instruction");
	d->insn = xgrow(d->insn, &d->capinsn, d->ninsn + 1, sizeof *d->insn);
	i = &d->insn[d->ninsn];
	memset(i, 0, sizeof *i);
	i->addr = *addr;
	i->len = (uint8_t)len;
	i->ref = (uint16_t)d->nref;
	if (*++*s == '=' && code(d, s, len) < 0)
		return -1;
	while (**s == 'r' || **s == 'w' || **s == 'm')
		if (reference(d, s) < 0)
			return -1;
	if (d->nref - i->ref > 255)
		return bad(d, at, "more than 255 references");
	i->nref = (uint8_t)(d->nref - i->ref);
	if (**s >= 'A' && strchr("CJLIXRS", **s) != NULL && flow(d, s, i) < 0)
		return -1;
	if (**s != ' ' && **s != '\0')
		return bad(d, *s, "not a reference or flow");
	i->ngroups = (uint8_t)d->ngroups;
	*addr += len;
	d->ninsn++;
	return 0;
}

/*
 * May an instruction at addr follow the last one? moved: its address was given
 * by an item `>`.
 */
static int
goes_on(struct evdef *d, const char *at, uint64_t addr, bool moved)
{
	const struct ev_insn *i = &d->insn[d->ninsn - 1];
	uint64_t behind = i->addr + i->len;

	switch (i->flow) {
	case 'S':
		return bad(d, at, "an instruction behind a system call");
	case 'C':
		if (addr == behind || addr == d->target[i->target])
			return 0;
		return bad(d, at, "neither the branch's target nor behind it");
	case 'J':
	case 'L':
		if (moved && addr == d->target[i->target])
			return 0;
		return bad(d, at, "not at the branch's target");
	case 'I':
	case 'X':
	case 'R':
		if (!moved)
			return bad(d, at, "no address behind a branch");
	}
	return 0;
}

/* item = ">" addr | instruction */
static int
items(struct evdef *d, const char *s)
{
	uint64_t addr = 0;
	bool moved = false;

	d->ninsn = d->nref = d->ntarget = d->ngroups = d->ncode = 0;
	d->unpacked = NULL;
	if (*s != '>')
		return bad(d, s, "no address before the first instruction");
	for (;;) {
		const char *at = s;

		if (*s == '>') {
			if (moved)
				return bad(d, at, "two addresses");
			moved = true;
			s++;
			if (number(d, &s, UINT64_MAX, &addr,
			    "not an address") < 0)
				return -1;
		} else {
			if (d->ninsn > 0 && goes_on(d, at, addr, moved) < 0)
				return -1;
			if (instruction(d, &s, &addr) < 0)
				return -1;
			moved = false;
		}
		if (*s == '\0')
			break;
		if (*s++ != ' ')
			return bad(d, s - 1, "not an item");
	}
	if (moved)
		return bad(d, s, "no instruction behind the address");
	return 0;
}

/* ---- blocks ---- */

/* Leave out what ev_lean_calls does not want of the block being read. */
static void
leave_out(struct evdef *d)
{
	uint32_t n = 0;
	unsigned ngroups = 0;

	for (struct ev_insn *i = d->insn; i < d->insn + d->ninsn; i++) {
		const struct ev_ref *from = d->ref + i->ref;

		if (i->ngroups == ngroups && i->flow != 'L' &&
		    i->flow != 'X' && i->flow != 'R')
			i->nref = 0;
		for (unsigned k = 0; k < i->nref; k++)
			d->ref[n + k] = from[k];
		i->ref = (uint16_t)n;
		n += i->nref;
		ngroups = i->ngroups;
		/* packed, this is the shortest one */
		if (i->flow != 0 && strchr("CJL", i->flow) != NULL)
			d->target[i->target] = i->addr + i->len;
	}
	d->nref = n;
}

/* Allocate the block being read, with room for npacked bytes, no parts yet. */
static struct ev_block *
new_block(struct evdef *d, size_t npacked)
{
	struct ev_block *b = arena_alloc(d, sizeof *b +
	    (npacked > EVDEF_PARTS ? npacked - EVDEF_PARTS : 0));

	memset(b, 0, sizeof *b);
	b->ninsn = (uint16_t)d->ninsn;
	b->nref = (uint16_t)d->nref;
	b->ngroups = (uint8_t)d->ngroups;
	return b;
}

/* Let a packed block's parts be those in d, until the next line. */
static void
show(struct evdef *d, struct ev_block *b)
{
	memcpy(d->hidden, evdef_packed(b), EVDEF_PARTS);
	b->shown = true;
	b->insn = d->insn;
	b->ref = d->ref;
	b->target = d->target;
	d->shown = b;
	d->unpacked = b;
}

static void
hide(struct evdef *d)
{
	if (d->shown != NULL) {
		memcpy(evdef_packed(d->shown), d->hidden, EVDEF_PARTS);
		d->shown->shown = false;
	}
	d->shown = NULL;
}

static struct ev_block *
new_packed(struct evdef *d)
{
	size_t n = evdef_pack(d);
	struct ev_block *b = new_block(d, n);

	memcpy(evdef_packed(b), d->packed, n);
	show(d, b);
	return b;
}

static void *
copy(struct evdef *d, const void *from, size_t n)
{
	void *p = arena_alloc(d, n);

	if (n != 0)
		memcpy(p, from, n);
	return p;
}

void
evdef_keep(struct evdef *d, struct ev_block *b)
{
	if (b->kept)
		return;
	if (d->lean && d->shown != b) {
		hide(d);
		evdef_unpack(d, b);
	}
	d->shown = NULL;
	b->kept = b->shown = true;
	b->insn = copy(d, d->insn, b->ninsn * sizeof *b->insn);
	b->ref = copy(d, d->ref, b->nref * sizeof *b->ref);
	b->target = copy(d, d->target, d->ntarget * sizeof *b->target);
}

/* ---- lines ---- */

static int
block_line(struct evdef *d, const char *s, uint32_t *number)
{
	struct ev_block *b;
	struct ev_def def = { .letter = 'B' };

	if (new_id(d, &s, &def.id) < 0)
		return -1;
	if (*s++ != ' ')
		return bad(d, s - 1, "no items");
	if (items(d, s) < 0)
		return -1;
	if (d->calls)
		leave_out(d);
	if (d->lean) {
		b = new_packed(d);
	} else {
		b = new_block(d, 0);
		b->value = arena_alloc(d, d->ngroups * sizeof *b->value);
		memset(b->value, 0, d->ngroups * sizeof *b->value);
		evdef_keep(d, b);
	}
	def.block = b;
	def.n = b->ninsn;
	def.ngroups = b->ngroups;
	*number = b->id = enter(d, def);
	return 0;
}

unsigned
evdef_groups(const struct ev_def *d, uint64_t used[4])
{
	const struct ev_insn *i = &d->block->insn[d->n - 1];
	const struct ev_ref *r = d->block->ref + i->ref, *end = r + i->nref;
	const struct ev_ref *first;
	unsigned n = 0;

	memset(used, 0, 4 * sizeof *used);
	if (d->k == 0)
		return 0;
	first = r += d->k - 1U;
	do {
		if (r->where == EV_GROUP)
			used[r->group / 64] |= (uint64_t)1 << r->group % 64;
		if (r->count != 0)
			used[(r->count - 1) / 64] |=
			    (uint64_t)1 << (r->count - 1) % 64;
	} while (++r < end && r->count != 0 && r->count == first->count);
	for (unsigned k = 0; k < 4; k++)
		n += (unsigned)__builtin_popcountll(used[k]);
	return n;
}

/* Of Q id block n k: the rest from k on, which may be " s". */
static int
part_ref(struct evdef *d, const char **text, struct ev_def *def)
{
	const struct ev_insn *i = &def->block->insn[def->n - 1];
	const struct ev_ref *r = NULL;
	const char *s = *text;
	uint64_t k, used[4];

	if (*s++ != ' ' || ev_hex(&s, &k) < 0 || k > i->nref)
		return bad(d, *text, "not a reference's number");
	def->k = (uint16_t)k;
	def->ngroups = (uint8_t)evdef_groups(def, used);
	if (k > 0) {
		r = &def->block->ref[i->ref + k - 1];
		if (k > 1 && r->count != 0 && r[-1].count == r->count &&
		    strcmp(s, " s") != 0)
			return bad(d, *text, "not the first that takes turns");
		def->group = (uint8_t)(r->where == EV_GROUP ? r->group :
		    r->count - 1);
	}
	if (s[0] == ' ' && s[1] == 's') {
		if (k > 0 && r->where == EV_BARE)
			return bad(d, s, "not a reference that stays");
		def->stays = true;
		def->ngroups = 1;
		s += 2;
	}
	*text = s;
	return 0;
}

/* P id block n, Q id block n k */
static int
part_line(struct evdef *d, const char *s, char letter, uint32_t *number)
{
	struct ev_def def = { .letter = (uint8_t)letter };
	const struct ev_def *of;
	const char *at;
	uint64_t n;

	if (new_id(d, &s, &def.id) < 0)
		return -1;
	at = s;
	if (*s++ != ' ' || ev_hex(&s, &n) < 0 ||
	    (of = evdef_find(d, n)) == NULL || of->letter != 'B')
		return bad(d, at, "not a block's id");
	def.block = of->block;
	at = s;
	if (*s++ != ' ' || ev_hex(&s, &n) < 0 || n == 0 ||
	    n > of->n - (letter == 'P'))
		return bad(d, at, "not an instruction's number");
	if (!of->block->kept) {
		evdef_unpack(d, of->block);
		show(d, of->block);
	}
	def.n = (uint32_t)n;
	def.ngroups = of->block->insn[n - 1].ngroups;
	if (letter == 'Q' && part_ref(d, &s, &def) < 0)
		return -1;
	if (*s != '\0')
		return bad(d, s, "text behind the line's end");
	/* ev_apply looks for the groups in the block's references */
	if (letter == 'Q' && def.ngroups > 1)
		evdef_keep(d, def.block);
	*number = enter(d, def);
	return 0;
}

/* Z id "i" | "d": a block without instructions holds its value. */
static int
leave_line(struct evdef *d, const char *s, uint32_t *number)
{
	struct ev_def def = { .letter = 'Z', .ngroups = 1 };

	if (new_id(d, &s, &def.id) < 0)
		return -1;
	if (s[0] != ' ' || (s[1] != 'i' && s[1] != 'd') || s[2] != '\0')
		return bad(d, s, "neither i nor d");
	def.k = (uint8_t)s[1];
	def.block = arena_alloc(d, sizeof *def.block);
	memset(def.block, 0, sizeof *def.block);
	def.block->ngroups = 1;
	def.block->value = arena_alloc(d, sizeof *def.block->value);
	*def.block->value = 0;
	*number = def.block->id = enter(d, def);
	return 0;
}

uint32_t
evdef_line(struct evdef *d, const char *line)
{
	uint32_t number;
	int r;

	hide(d);
	d->ncode = 0;
	if (line[1] != ' ')
		r = bad(d, line, "no blank behind the letter");
	else if (line[0] == 'B')
		r = block_line(d, line + 2, &number);
	else if (line[0] == 'Z')
		r = leave_line(d, line + 2, &number);
	else
		r = part_line(d, line + 2, line[0], &number);
	return r < 0 ? 0 : number;
}
