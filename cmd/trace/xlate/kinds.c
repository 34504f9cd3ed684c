/*
 * kinds - the table of kinds of events
 *
 * A row says what a kind reports and what its fragments do for that.  Each
 * fragment has one kind: that of -e, or one of the three behind the table.
 */
#include <string.h>

#include "xlate/parts.h"

static const struct kind kinds[] = {
	{ .name = "all", .refs = REFS_ALL, .tells = true, .records = true,
	    .paths = true,
	    .refer = record_refer, .element = record_element,
	    .rep_before = rep_before, .rep_after = rep_after,
	    .tell = record_tell },
	{ .name = "blocks", .refs = REFS_STACK, .tells = true, .records = true,
	    .paths = true,
	    .refer = record_refer, .rep_before = rep_before,
	    .rep_after = rep_after, .tell = record_tell },
	{ .name = "branches", .tells = true, .counters = true, .paths = true,
	    .late = true,
	    .learns = true, .rep_before = rep_before, .rep_after = rep_after,
	    .tell = count_tell_learnt, .behind = learn_behind },
	{ .name = "cache", .help = "cache=sets,line,ways", .refs = REFS_ALL,
	    .tells = true, .alone = true, .counters = true, .late = true,
	    .refer = filter_refer, .element = filter_element,
	    .rep_before = filter_rep_before, .rep_after = filter_rep_after,
	    .tell = count_tell_homed, .cold = filter_cold },
	{ .name = "counts", .tells = true, .counters = true, .paths = true,
	    .intervals = true, .rep_before = rep_before,
	    .rep_after = rep_after, .tell = count_tell },
	{ .name = "none", .note = count_outside }
};
#define NKIND (sizeof kinds / sizeof kinds[0])

const struct kind kind_skip = { .tell = count_skip };
const struct kind kind_outside = { .outside = true, .tell = count_outside };
const struct kind kind_between = { .outside = true, .tell = count_skip };

const struct kind *
kind_find(const char *name)
{
	size_t i, n;

	for (i = 0; i < NKIND; i++) {
		n = strlen(kinds[i].name);
		if (strncmp(name, kinds[i].name, n) == 0 &&
		    (name[n] == '\0' ||
		    (name[n] == '=' && kinds[i].help != NULL)))
			return &kinds[i];
	}
	return NULL;
}

const char *
kind_names(void)
{
	static char names[128];
	size_t i;

	names[0] = '\0';
	for (i = 0; i < NKIND; i++) {
		strcat(names, i == 0 ? "" : ", ");
		strcat(names, kinds[i].name);
	}
	return names;
}
