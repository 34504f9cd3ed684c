/*
 * diff - two cost files -> what the new one costs more and less
 */
#include "diff.h"

#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "out.h"
#include "prog.h"

static const char synopsis[] = "[option ...] old new";
static const char help[] =
"usage: diff [option ...] old new\n"
"Show what the profile new costs more and less than old.\n"
"  --show=A,B          show these events\n"
"  --sort=A,B          sort by the changes of these\n"
"  --by=WHAT,...       function, line, call\n"
"  --threshold=T       leave out changes below T % of the old total [0.1]\n"
"  --limit=EVENT[:FUNCTION]=N[%]\n"
"                      status 1 only if EVENT grew by more than that, in all,\n"
"                      or in a function; FUNCTION may have * and ?\n"
"  --mod-filename=S    change source names by Perl's s/old/new/ first\n"
"  --mod-funcname=S    change function names\n"
"  --mod-objname=S     change names of object files\n"
"  --strict            other caches, another predictor or processor: status 2\n"
"  -p, --profile       write the difference as a profile\n"
"  -j, --json          write it as JSON\n"
"      --json=FILE     write that to FILE, beside the text\n"
"  -q, --quiet         write nothing, the status tells\n"
"  -o, --output=FILE   write there\n"
"  -h, --help          --version\n";

enum { SHOW = 256, SORT, BY, THRESHOLD, LIMIT, FILENAME, FUNCNAME, OBJNAME,
    STRICT, VERSION };

static const struct option longopts[] = {
	{ "show", required_argument, NULL, SHOW },
	{ "sort", required_argument, NULL, SORT },
	{ "by", required_argument, NULL, BY },
	{ "threshold", required_argument, NULL, THRESHOLD },
	{ "limit", required_argument, NULL, LIMIT },
	{ "mod-filename", required_argument, NULL, FILENAME },
	{ "mod-funcname", required_argument, NULL, FUNCNAME },
	{ "mod-objname", required_argument, NULL, OBJNAME },
	{ "strict", no_argument, NULL, STRICT },
	{ "profile", no_argument, NULL, 'p' },
	{ "json", optional_argument, NULL, 'j' },
	{ "quiet", no_argument, NULL, 'q' },
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "version", no_argument, NULL, VERSION },
	{ NULL, 0, NULL, 0 }
};

static const char *show, *sort, *dest, *json_dest;
static enum { TEXT, PROFILE, JSON, QUIET } output;

static size_t
parse_events(const char *what, const char *s, size_t *ev)
{
	size_t n = 0, len;
	int at;

	for (; s; s = s[len] ? s + len + 1 : NULL) {
		len = strcspn(s, ",");
		at = find_event(s, len);
		if (at < 0)
			die("%s: event %.*s is not in the profiles", what,
			    (int)len, s);
		if (n == COST_EVMAX)
			die("%s: too many events", what);
		ev[n++] = at;
	}
	return n;
}

static unsigned
parse_by(const char *s)
{
	static const char *const words[] = { "function", "line", "call" };
	unsigned by = 0, i;
	size_t len;

	for (; s; s = s[len] ? s + len + 1 : NULL) {
		len = strcspn(s, ",");
		for (i = 0; i < 3; i++)
			if (strlen(words[i]) == len &&
			    !memcmp(words[i], s, len))
				break;
		if (i == 3)
			die("--by: '%.*s' is none of function, line, call",
			    (int)len, s);
		by |= 1u << i;
	}
	return by;
}

static void
substitution(enum name_kind what, const char *opt, const char *s)
{
	if (mods[what])
		die("%s is given twice; use one with semicolons", opt);
	mods[what] = subst_parse(opt, s);
}

static void	/* table */
options(int argc, char **argv)
{
	int c;

	while ((c = getopt_long(argc, argv, "hjo:pq", longopts, NULL)) != -1) {
		switch (c) {
		case SHOW:
			show = optarg;
			break;
		case SORT:
			sort = optarg;
			break;
		case BY:
			diff.by = parse_by(optarg);
			break;
		case THRESHOLD:
			diff.threshold = percent_arg("--threshold", optarg);
			break;
		case LIMIT:
			limit_add(optarg);
			break;
		case FILENAME:
			substitution(MOD_FILE, "--mod-filename", optarg);
			break;
		case FUNCNAME:
			substitution(MOD_FUNC, "--mod-funcname", optarg);
			break;
		case OBJNAME:
			substitution(MOD_OBJ, "--mod-objname", optarg);
			break;
		case STRICT:
			diff.strict = true;
			break;
		case 'p':
			output = PROFILE;
			break;
		case 'j':
			if (optarg)
				json_dest = optarg;
			else
				output = JSON;
			break;
		case 'q':
			output = QUIET;
			break;
		case 'o':
			dest = optarg;
			break;
		case 'h':
			prog_help(help);
		case VERSION:
			prog_version();
		default:
			prog_usage(synopsis);
		}
	}
	if (argc - optind != 2)
		prog_usage(synopsis);
	diff.old.name = argv[optind];
	diff.new.name = argv[optind + 1];
	if (!strcmp(diff.old.name, "-") && !strcmp(diff.new.name, "-"))
		die("only one of the files can be standard input");
}

static void
write_beside(void)
{
	out = out_open(json_dest);
	write_json();
	out_close(out);
}

static void
add_derived(int64_t *total)
{
	memmove(total, costderived_counts(&diff.events, total),
	    diff.nev * sizeof *total);
}

int
main(int argc, char **argv)
{
	int status;
	size_t i;

	prog_init(argv[0]);
	options(argc, argv);
	diff.nm = costnames_new();
	load(&diff.old, &diff.new);
	load(&diff.new, &diff.old);
	add_derived(diff.old.total);
	add_derived(diff.new.total);
	diff.nshow = diff.nsort = diff.nev;
	for (i = 0; i < diff.nev; i++)
		diff.show[i] = diff.sort[i] = i;
	if (show)
		diff.nshow = parse_events("--show", show, diff.show);
	if (sort)
		diff.nsort = parse_events("--sort", sort, diff.sort);
	diff.keep = output == PROFILE;
	limits_parse();
	status = judge();
	if (json_dest)
		write_beside();
	if (output == QUIET)
		return status;
	out = out_open(dest);
	if (output == PROFILE)
		write_profile();
	else if (output == JSON)
		write_json();
	else
		write_text();
	out_close(out);
	return status;
}
