/*
 * dump - --debug=dump[=PC]: a fragment beside the code it was made of
 *
 *	fragment 4b70: kind all, zone 0, 2 instructions, 1 exits, ...
 *	group 0, 4(P): rsp of 4b73	a record's values, by group
 *	4b73  call 5770			the program's instruction
 *	          = body, 1 done	the map entry from there on
 *	      2d  mov [r8+0x04], rsp	what was made of it
 *	exit 0: direct 5770, behind 2, id 1 of 1 values, stub at 47
 *
 * P is r8 and T is r11: what they hold of the program is at home always.
 */
#include <stdio.h>
#include <string.h>

#include "cache/parts.h"
#include "xlate/xlate.h"

static const char *const regnames[] = { "rax", "rcx", "rdx", "rbx", "rsp",
	"rbp", "rsi", "rdi", "r8", "r9", "r10", "r11", "r12", "r13", "r14",
	"r15" };
static const char *const mapnames[] = {
	[MAP_BODY] = "body", [MAP_EXIT] = "exit taken",
	[MAP_COUNTED] = "counted", [MAP_LEFT_TMP] = "left, target in tmp1",
	[MAP_LEFT] = "left", [MAP_IBL] = "entry, rcx + pc",
	[MAP_IBL0] = "entry, rcx", [MAP_BACK] = "returned to rcx",
	[MAP_BACK_LESS] = "returned to rcx + pc",
	[MAP_RETURN] = "returning to rcx", [MAP_CALL] = "call counted",
	[MAP_CALLED] = "called", [MAP_LAND] = "returning to tmp1",
	[MAP_LAND_IR] = "returning to tmp1, cost added",
	[MAP_STEPPED] = "counted, costs in part",
	[MAP_ROUNDS] = "rounds being counted"
};
static const char *const exitnames[] = {
	[EXIT_DIRECT] = "direct", [EXIT_INDIRECT] = "indirect",
	[EXIT_SYSCALL] = "system call", [EXIT_EMULATE] = "emulated",
	[EXIT_STALE] = "code changed", [EXIT_REFUSE] = "cannot be run",
	[EXIT_SAMPLE] = "sample",
	[EXIT_WINDOW] = "window", [EXIT_FAULT] = "no code"
};

static const char *
name_of(const char *const *names, size_t n, unsigned i)
{
	return i < n && names[i] != NULL ? names[i] : "?";
}

#define NAME(names, i) name_of(names, sizeof names / sizeof names[0], i)

static void
dump_map(const struct mapent *m)
{
	const char *name = NAME(mapnames, m->kind);
	unsigned r;

	if (opt->kind->learns && m->kind == MAP_LEARN)
		name = "branch not learnt";
	if (opt->kind->learns && m->kind == MAP_LEARN_EXIT)
		name = "branch not learnt, exit taken";

	if (m->kind == MAP_BACK && m->counted == MAP_LOOKS) {
		fputs("          = look-ups\n", stderr);
		return;
	}
	fprintf(stderr, "          = %s, %u done", name, m->n);
	if (m->kind == MAP_EXIT || m->kind == MAP_LEFT)
		fprintf(stderr, ", exit %u", m->exit);
	for (r = 0; r < 16; r++)
		if (m->homed >> r & 1)
			fprintf(stderr, "%s%s", m->homed & (BIT(r) - 1) ?
			    " " : ", at home: ", regnames[r]);
	if (m->flags)
		fprintf(stderr, ", flags in rax");
	if (m->rep != 0)
		fprintf(stderr, m->rep == REP_CHECK ? ", code is compared" :
		    ", inside a repeated instruction");
	fputc('\n', stderr);
}

static void
dump_guest(const struct insn *in)
{
	char text[128];

	decode_text(in->bytes, in->len, in->pc, text, sizeof text);
	fprintf(stderr, "%-12llx  %s\n", (unsigned long long)in->pc, text);
}

/* The fragment's code with its map entries, each instruction of the program
 * before the first byte that was made for it. */
static void
dump_code(const struct xlate *x)
{
	unsigned len = emit_off(&x->c) - 8 * x->nliteral, at, n, k = 0;
	unsigned i, told = 0;
	char text[128];

	for (at = 0; at < len; at += n) {
		for (; k < x->nmap && x->map[k].off <= at; k++) {
			if (x->map[k].kind == MAP_BODY &&
			    x->map[k].n == told && told < x->b->n)
				dump_guest(&x->b->in[told++]);
			dump_map(&x->map[k]);
		}
		n = decode_length(x->c.start + at, len - at);
		decode_text(x->c.start + at, len - at, x->c.addr + at, text,
		    sizeof text);
		fprintf(stderr, "    %4x  %s\n", at, text);
	}
	for (i = 0; i < x->nliteral; i++)
		fprintf(stderr, "    %4x  .quad %#llx\n", len + 8 * i,
		    (unsigned long long)x->literal[i].value);
}

static void
dump_groups(const struct xlate *x)
{
	const struct refgroup *g;
	const struct insn *in;
	unsigned i, j;

	for (i = 0; i < x->b->n; i++) {
		in = &x->b->in[i];
		for (j = 0; in->special != SP_GATHER && j < in->nref; j++) {
			g = &x->g->ref[i][j];
			if (g->group == NOGROUP || !g->first)
				continue;
			fprintf(stderr, "group %u, %u(P): %s of %llx\n",
			    g->group, record_size(g->group), g->plain &&
			    in->ref[j].base < 16 ?
			    regnames[in->ref[j].base] : "the address",
			    (unsigned long long)in->pc);
		}
	}
}

static void
dump_exits(const struct xlate *x)
{
	const struct xexit *e;
	unsigned i;

	for (i = 0; i < x->nexit; i++) {
		e = &x->exit[i];
		fprintf(stderr, "exit %u: %s", i, NAME(exitnames, e->kind));
		if (e->target != 0)
			fprintf(stderr, " %llx", (unsigned long long)e->target);
		fprintf(stderr, ", behind %u", e->n);
		if (x->def != NULL && e->n != 0)
			fprintf(stderr, ", id %x of %u values", x->id[e->n],
			    x->g->used[e->n]);
		if (x->kind->counters && e->n != 0)
			fprintf(stderr, ", counter %u", x->cnt[e->n]);
		if (e->stub != 0)
			fprintf(stderr, ", stub at %x", e->stub);
		fputc('\n', stderr);
	}
}

void
dump_fragment(const struct xlate *x, unsigned zone)
{
	const char *kind = x->kind->name;

	if (opt->dump_pc != 0 && opt->dump_pc != x->b->pc)
		return;
	if (kind == NULL)
		kind = x->kind->outside ? "(outside)" : "(skipped)";
	fprintf(stderr, "fragment %llx: kind %s, zone %u, %u instructions, "
	    "%u exits, %u bytes at %llx\n", (unsigned long long)x->b->pc,
	    kind, zone, x->b->n, x->nexit, emit_off(&x->c),
	    (unsigned long long)x->c.addr);
	dump_groups(x);
	dump_code(x);
	dump_exits(x);
}
