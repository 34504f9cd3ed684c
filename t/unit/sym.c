/*
 * sym - drive lib/sym.h
 *
 *	sym [-bdimw] [-p debugpath] object <addresses
 *
 * For each hexadecimal address a line: addr, function, file:line, separated
 * by tabs. -d demangles, -b names (below main), -i shows inlined calls, each
 * in fields of its own. -m instead tells the variable at each address, and the
 * member that a byte there is of. -w also says why something is missing.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "in.h"
#include "out.h"
#include "prog.h"
#include "sym.h"

static void
answer(struct out *o, struct sym *s, uint64_t addr, int inlines)
{
	struct sym_at at;
	struct sym_frame f[20];
	size_t n, i;

	out_printf(o, "0x%" PRIx64, addr);
	if (inlines) {
		n = sym_inline(s, addr, f, sizeof f / sizeof *f);
		for (i = 0; i < n; i++)
			out_printf(o, "\t%s\t%s:%u", f[i].fn, f[i].file,
			    f[i].line);
		out_ch(o, '\n');
		return;
	}
	sym_find(s, addr, &at);
	if (at.start > addr || (at.end <= addr && at.end != 0))
		die("%" PRIx64 ": function from %" PRIx64 " to %" PRIx64,
		    addr, at.start, at.end);
	out_printf(o, "\t%s\t%s:%u\n", at.fn, at.file, at.line);
}

static void
variable(struct out *o, struct sym *s, uint64_t addr)
{
	struct sym_data at;
	char member[256] = "";

	sym_variable(s, addr, false, &at);
	sym_member(s, &at, addr - at.start, 1, false, member, sizeof member);
	out_printf(o, "0x%" PRIx64 "\t%s%s\n", addr,
	    at.name == NULL ? SYM_UNKNOWN : at.name, member);
}

int
main(int argc, char **argv)
{
	struct in *in = in_open(NULL);
	struct out *o = out_open(NULL);
	struct sym *s;
	unsigned flags = 0;
	int c, inlines = 0, members = 0, why = 0;
	char *line;

	prog_init(argv[0]);
	while ((c = getopt(argc, argv, "bdimp:w")) != -1)
		switch (c) {
		case 'b':
			flags |= SYM_BELOW_MAIN;
			break;
		case 'd':
			flags |= SYM_DEMANGLE;
			break;
		case 'i':
			inlines = 1;
			break;
		case 'm':
			members = 1;
			break;
		case 'p':
			sym_debug_path(optarg);
			break;
		case 'w':
			why = 1;
			break;
		default:
			prog_usage("[-bdimw] [-p path] object");
		}
	if (optind + 1 != argc)
		prog_usage("[-bdimw] [-p path] object");
	s = sym_open(argv[optind], flags);
	if (why)
		out_printf(o, "symbols: %s\nlines: %s\n",
		    sym_error(s) ? sym_error(s) : "yes",
		    sym_line_error(s) ? sym_line_error(s) : "yes");
	while ((line = in_line(in, NULL)) != NULL)
		if (members)
			variable(o, s, strtoull(line, NULL, 16));
		else
			answer(o, s, strtoull(line, NULL, 16), inlines);
	sym_close(s);
	out_close(o);
	return 0;
}
