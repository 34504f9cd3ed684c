/*
 * callgraph - who calls whom, and what that costs
 *
 *	trace ls | callgraph | fmt-callgrind >callgrind.out
 *
 * reads events(5) and writes costs(5) by function and address: what was
 * executed there, and for each call how often it was made and what it cost
 * until it returned, with everything that it called.
 *
 *	H quern-events 2		events: Ir
 *	H kind blocks			fn=(1) main
 *	B 1 >1000 5w8.0-8L2000		0x1000 1
 *	1+7ffe1000			cfn=(2) work
 *	B 2 >2000 3 1r8.0R		calls=1 0x2000
 *	2+7ffe0ff8			0x1000 2
 *	B 3 >1005 2S			+5 1
 *	3				fn=(2)
 *	Y 231				0x2000 1
 *	E exit 0 3			0x2003 1
 *
 * Streams of kind calls give ticks instead of instructions.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "callgraph.h"
#include "codename.h"
#include "in.h"
#include "mem.h"
#include "objmap.h"
#include "out.h"
#include "outcome.h"
#include "prog.h"

static struct simhead stream;	/* its H lines */
static struct codenames *codes;	/* made at run time */
static const char *pid;
static bool ready;	/* all H lines are read */
/* what costs of calls have, in a stream with contexts */
static bool calls_each, calls_write;
static char ended[8];	/* how the program ended */
static int endstatus;

/* Write a part, or forget the counts, when such a function runs. */
static void
trigger(enum walk_trigger which, const struct func *f)
{
	if (which == WALK_ZERO)
		dump_zero();
	else
		dump_part(which == WALK_DUMP_BEFORE ? "--dump-before" :
		    "--dump-after", f->name);
}

/* ---- lines ---- */

static void
head(const struct ev *e)
{
	simhead_line(&stream, e);
	systime_head(e);
	if (strcmp(e->text, "pid") == 0)
		pid = xstrdup(e->value);
	if (strcmp(e->text, "rep") == 0)
		calls_each = strcmp(e->value, "each") == 0;
	if (strcmp(e->text, "modify") == 0)
		calls_write = strcmp(e->value, "write") == 0;
	if (strcmp(e->text, "outcomes") == 0 &&
	    outcome_head(walk.told, e->value) < 0)
		ev_bad(walk.events,
		    "H outcomes: too many events, or malformed");
}

/* Does the stream tell counts and contexts, not the order of executions? */
static bool
has_contexts(void)
{
	return ev_kind(walk.events) & (EV_COUNTS | EV_CACHE);
}

/* Refuse an option that needs what is not in a stream of this kind. */
static void
refuse(const char *kind, const char *option)
{
	ev_bad(walk.events, "a stream of kind %s does not tell what %s needs, "
	    "the order of executions: needs trace -e blocks", kind, option);
}

/* Refuse options that the costs of calls were not counted with. */
static void
check_costs(void)
{
	if (walk.rep != calls_each)
		ev_bad(walk.events, "calls cost %s of a repeated instruction: "
		    "--rep=%s needs trace --rep=%s", calls_each ?
		    "each round" : "one round", walk.rep ? "each" : "once",
		    walk.rep ? "each" : "once");
	else if (walk.data_refs && opt.writes != calls_write)
		ev_bad(walk.events, "calls %s what they modify: --modify=%s "
		    "needs trace --modify=%s", calls_write ? "write" : "read",
		    opt.writes ? "write" : "read",
		    opt.writes ? "write" : "read");
}

/* Refuse what is not in such a stream. */
static void
check_contexts(void)
{
	const char *kind = ev_kind(walk.events) == EV_CACHE ? "cache" :
	    "counts";

	if (!ev_contexts(walk.events))
		ev_bad(walk.events, "a stream of kind %s without calling "
		    "contexts: needs trace -e %s --contexts", kind, kind);
	else if (opt.ordered != NULL)
		refuse(kind, opt.ordered);
	else if (walk.threads && ev_kind(walk.events) == EV_CACHE)
		ev_bad(walk.events, "a stream of kind cache does not tell how "
		    "often each thread executed a block: --separate-threads "
		    "needs kind all, blocks or counts");
	else
		check_costs();
}

/* Keep no more of blocks than is looked at. */
static void
be_lean(void)
{
	/* what depends on values is looked at again and again */
	bool lean = !walk.data_refs && !walk.rep && !opt.whole_blocks;

	if (lean && !walk.bus && !has_contexts())
		ev_lean_calls(walk.events);
	else if (lean || has_contexts())
		ev_lean(walk.events);
}

/* Behind the H lines. */
static void
begin(struct out *o)
{
	static const char *const misses[] = { "D1mr", "D1mw", "DLmr", "DLmw" };

	ready = true;
	if (ev_kind(walk.events) == EV_CALLS) {
		/* there is little to tell of each: all contexts */
		walk.contexts |= walk.callers == 0;
		dump_open(o, &stream, pid);
		if (opt.executed != NULL)
			refuse("calls", opt.executed);
		return;
	}
	for (unsigned i = 0; i < outcome_columns(walk.told); i++)
		for (unsigned k = 0; k < 4; k++)
			walk.data_refs |= strcmp(outcome_name(walk.told, i),
			    misses[k]) == 0;
	if (walk.bus && outcome_head(walk.told, "Ge") < 0)
		die("H outcomes: no room for Ge");
	if (!has_contexts())
		systime_begin();
	if (walk.data_refs)
		walk.firsttold = 3;
	walk.ncol = walk.firsttold + outcome_columns(walk.told);
	be_lean();
	dump_open(o, &stream, pid);
	if (!has_contexts()) {
		plan_begin();
		if (!every_asked() && outcome_columns(walk.told) > 0)
			ev_outcomes(walk.events);
		return;
	}
	check_contexts();
	ready = ev_error(walk.events) == NULL;
	contexts_begin();
}

static void
outcome(const struct ev *e)
{
	walk_told(thread_get(ev_thread(walk.events)), e);
}

static void
unmapped(const struct ev *e)
{
	if (ev_kind(walk.events) != EV_CALLS)
		func_replaced(e->num[0], e->num[1]);
	/* an exec: nobody returns any more */
	if (e->num[0] == 0 && e->num[1] == UINT64_MAX &&
	    ev_kind(walk.events) != EV_CALLS)
		stack_close_all();
}

/* G n = id ...: the segments of these blocks are functions with that name. */
static void
code_name(const struct ev *e)
{
	struct walk_seg *p;

	codenames_take(codes, e);
	if (*e->line == 'L')
		dump_lines();
	for (size_t i = 0; i < e->nids; i++) {
		struct codename *code = codename_get(codes, e->num[0]);

		if (has_contexts()) {
			lines_named(e->ids[i], code);
			continue;
		}
		p = &plan[e->ids[i]];
		for (uint32_t k = 0; k < p->nseg; k++)
			func_named(plan_seg(p, k)->at->fn, code);
	}
}

static void
system_call(const struct ev *e)
{
	struct walk_thread *t = thread_get(ev_thread(walk.events));

	systime_call(t, e);
	if (e->nnum != 1)
		return;
	if (e->num[0] == EV_SIGRETURN)
		stack_sigreturn(t);
	else if (e->num[0] == EV_EXIT)
		stack_close(t);
}

static void
remark(const char *text)
{
	if (text != NULL)
		dump_remark(text);
}

static void
dump(const char *text)
{
	char *s = xmalloc(strlen(text) + 32);

	sprintf(s, "Client Request%s%s", *text != '\0' ? ": " : "", text);
	if (has_contexts())
		contexts_part();
	dump_part(s, NULL);
	free(s);
}

/* A J line. With --calls none is passed on. */
static void	/* table */
mark(const struct ev *e)
{
	unsigned thread = ev_thread(walk.events);
	bool moves = opt.whole_blocks && e->num[0] != EV_INTERRUPTED &&
	    e->num[0] != EV_WINDOW;
	struct walk_thread *t;

	/* with --requests=block, the last block comes after the mark */
	if (moves)
		walk_last_block(thread_get(thread), -1);
	switch (e->num[0]) {
	case EV_INTERRUPTED:
		remark(simhead_end(e));
		break;
	case EV_ON:
		stack_follow(true);
		break;
	case EV_COLD:
	case EV_OFF:
		if (!has_contexts())
			stack_close_all();
		stack_follow(!walk.off || e->num[0] == EV_COLD);
		break;
	case EV_WINDOW:
		if (!has_contexts())
			stack_close(thread_get(thread));
		break;
	case EV_TOGGLE:
		t = thread_get(thread);
		stack_collect(t, !t->collect);
		break;
	case EV_DUMP:
		if (!opt.calls)
			dump(e->text);
		break;
	case EV_ZERO:
		if (has_contexts())
			contexts_part();
		if (!opt.calls)
			dump_zero();
		break;
	}
	if (moves)
		walk_last_block(thread_get(thread), 1);
}

static void	/* table */
line(int letter, const struct ev *e)
{
	const char *wrong;

	if (opt.calls && strchr("HMTU", letter) != NULL)
		tell_line(e);
	switch (letter) {
	case 'E':
		snprintf(ended, sizeof ended, "%s", e->text);
		endstatus = (int)e->num[0];
		remark(simhead_end(e));
		break;
	case 'H':
		head(e);
		break;
	case 'B':
	case 'P':
		wrong = plan_define(e->id);
		if (wrong != NULL)
			ev_bad(walk.events, "%s", wrong);
		else
			every_define(e->id);
		break;
	case 'U':
		unmapped(e);
		/* fallthrough */
	case 'M':
		if (objmap_line(walk.map, e->line, e->len) < 0)
			ev_bad(walk.events, "%c: malformed", letter);
		break;
	case 'O':
		outcome(e);
		break;
	case 'J':
		mark(e);
		break;
	case 'Y':
		system_call(e);
		break;
	case 'K':
		stack_signal(thread_get(ev_thread(walk.events)),
		    e->num[1]);
		break;
	}
}

/* Does the line add to what kinds counts and cache tell of contexts? */
static bool
is_contexts_line(int letter)
{
	switch (letter) {
	case 'E':
	case 'G':
	case 'H':
	case 'J':
	case 'L':
		return false;
	default:
		return has_contexts();
	}
}

/* 0: the stream was whole. */
static int
run(struct out *o)
{
	struct ev e;
	int c;

	while ((c = ev_next(walk.events, &e)) > 0) {
		if (!ready && c != 'H')
			begin(o);
		if (ev_error(walk.events) != NULL)
			break;
		if (is_contexts_line(c))
			contexts_line(c, &e);
		else if (c == EV_EXECS)
			every_batch(&e);
		else if (ev_kind(walk.events) == EV_CALLS && c != 'H' &&
		    c != 'M' && c != 'U')
			ticks_line(c, &e);
		else if (c == 'G' || c == 'L')
			code_name(&e);
		else
			line(c, &e);
	}
	return c;
}

/* Stacks are followed by their pointer, which then leads to another stack. */
static void
tell_switches(void)
{
	static char text[80];
	const char *name = func_switch();

	if (name == NULL)
		return;
	snprintf(text, sizeof text, "Callers: may be wrong, as %.30s switched "
	    "stacks", name);
	dump_remark(text);
	warn("%s switched stacks: callers may be wrong", name);
}

/* The stream is at its end; whole: nothing is missing. */
static void
end(bool whole)
{
	if (opt.calls) {
		stack_close_all();
		tell_end(whole ? ended : NULL, endstatus);
	} else if (ready) {
		if (ev_kind(walk.events) == EV_CALLS)
			ticks_end();
		else if (has_contexts())
			contexts_end();
		else
			stack_close_all();
		tell_switches();
		dump_end(whole);
		if (whole)
			options_warn_idle();
	}
}

int
main(int argc, char **argv)
{
	const char *file;
	struct out *o;
	int c;

	prog_init(argv[0]);
	file = options(argc, argv);
	o = out_open(opt.output);
	walk.events = ev_open(in_open(file));
	if (opt.writes)
		ev_modify_writes(walk.events);
	if (walk.rep)
		ev_accept(walk.events, EV_ALL | EV_BLOCKS | EV_COUNTS |
		    EV_CACHE | EV_ROUNDS,
		    "the rounds of instructions");
	else
		ev_accept(walk.events, EV_ALL | EV_BLOCKS | EV_COUNTS |
		    EV_CACHE | (opt.calls ? 0 : EV_CALLS),
		    "the order of executions");
	if (opt.calls) {
		tell_open(o);
		walk.each = true;
		walk.entered = tell_enter;
		walk.left = tell_leave;
		walk.handled = tell_handler;
	}
	walk.trigger = trigger;
	walk.map = objmap_new();
	func_map(walk.map);
	walk.told = outcome_new();
	codes = codenames_new();
	c = run(o);
	end(c == 0 && !in_lacked());
	out_close(o);
	return ev_close(walk.events);
}
