/*
 * subst - s/pattern/replacement/flags as in Perl, over PCRE2
 *
 * Any delimiter will do, also brackets; flags are g i m s x.  The replacement
 * may use $1, ${1}, \1, $&, ${name}, \U \L \E.  Semicolons separate several
 * substitutions.
 */
#define PCRE2_CODE_UNIT_WIDTH 8
#include "diff.h"

#include <ctype.h>
#include <pcre2.h>
#include <stdlib.h>
#include <string.h>

#include "mem.h"
#include "prog.h"

struct name_subst {
	struct name_subst *next;
	pcre2_code *code;
	char *with;
	uint32_t options;
};

static char
closing(char c)
{
	switch (c) {
	case '(':
		return ')';
	case '[':
		return ']';
	case '{':
		return '}';
	case '<':
		return '>';
	}
	return c;
}

/*
 * Copy the text between delimiters.  s is behind the opening one; *end is set
 * behind the closing one, or to NULL if that is missing.  A backslash before a
 * delimiter is dropped.
 */
static char *
delimited(const char *s, char open, const char **end)
{
	char close = closing(open), *text = xmalloc(strlen(s) + 1), *p = text;
	int depth = 1;

	for (; *s; s++) {
		if (s[0] == '\\' && s[1]) {
			if (s[1] != open && s[1] != close)
				*p++ = *s;
			*p++ = *++s;
			continue;
		}
		if (*s == close && --depth == 0)
			break;
		if (*s == open && open != close)
			depth++;
		*p++ = *s;
	}
	*p = '\0';
	*end = *s ? s + 1 : NULL;
	return text;
}

/* Translate Perl's replacement into PCRE2's extended syntax. */
static char *
replacement(const char *s)
{
	char *text = xmalloc(3 * strlen(s) + 1), *p = text;

	for (; *s; s++) {
		if (s[0] == '\\' && isdigit((unsigned char)s[1]) &&
		    s[1] != '0') {
			p = stpcpy(p, "${");
			*p++ = *++s;
			*p++ = '}';
		} else if (s[0] == '\\' && s[1]) {
			*p++ = *s++;
			*p++ = *s;
		} else if (s[0] == '$' && s[1] == '&') {
			p = stpcpy(p, "${0}");
			s++;
		} else if (s[0] == '$' && !isalnum((unsigned char)s[1]) &&
		    s[1] != '{' && s[1] != '_') {
			p = stpcpy(p, "$$");
		} else {
			*p++ = *s;
		}
	}
	*p = '\0';
	return text;
}

static uint32_t
flags(const char *what, const char *all, const char **s, uint32_t *compile)
{
	uint32_t options = 0;

	*compile = 0;
	for (; isalpha((unsigned char)**s); (*s)++) {
		switch (**s) {
		case 'g':
			options |= PCRE2_SUBSTITUTE_GLOBAL;
			break;
		case 'i':
			*compile |= PCRE2_CASELESS;
			break;
		case 'm':
			*compile |= PCRE2_MULTILINE;
			break;
		case 's':
			*compile |= PCRE2_DOTALL;
			break;
		case 'x':
			*compile |= PCRE2_EXTENDED;
			break;
		default:
			die("%s: '%s': flag %c is none of g i m s x", what, all,
			    **s);
		}
	}
	return options;
}

static struct name_subst *
parse_one(const char *what, const char *all, const char **s)
{
	struct name_subst *sub = xcalloc(1, sizeof *sub);
	char *pattern, *with;
	const char *p = *s;
	PCRE2_UCHAR msg[128];
	PCRE2_SIZE at;
	uint32_t compile;
	char open;
	int err;

	if (*p != 's' || !p[1] || isalnum((unsigned char)p[1]) || p[1] == ' ')
		die("%s: '%s' is not s/old/new/", what, all);
	open = p[1];
	pattern = delimited(p + 2, open, &p);
	if (p && closing(open) != open) {
		p += strspn(p, " \t");
		open = *p++;
	}
	with = p && open ? delimited(p, open, &p) : NULL;
	if (!with || !p)
		die("%s: '%s' is not s/old/new/", what, all);
	sub->options = flags(what, all, &p, &compile);
	sub->options |= PCRE2_SUBSTITUTE_EXTENDED |
	    PCRE2_SUBSTITUTE_UNSET_EMPTY | PCRE2_SUBSTITUTE_UNKNOWN_UNSET |
	    PCRE2_SUBSTITUTE_OVERFLOW_LENGTH;
	sub->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED,
	    compile, &err, &at, NULL);
	if (!sub->code) {
		pcre2_get_error_message(err, msg, sizeof msg);
		die("%s: '%s': %s", what, pattern, (char *)msg);
	}
	sub->with = replacement(with);
	free(pattern);
	free(with);
	*s = p;
	return sub;
}

struct name_subst *
subst_parse(const char *what, const char *s)
{
	struct name_subst *first = NULL, **last = &first;
	const char *all = s;

	for (s += strspn(s, " \t;"); *s; s += strspn(s, " \t;")) {
		*last = parse_one(what, all, &s);
		last = &(*last)->next;
		if (*s && !strchr(" \t;", *s))
			die("%s: '%s': junk '%s'", what, all, s);
	}
	if (!first)
		die("%s: no substitution", what);
	/* report a bad replacement before any file is read */
	subst_apply(first, "");
	return first;
}

static char *
substitute(const struct name_subst *sub, char *name)
{
	PCRE2_SIZE len = strlen(name) + 64;
	PCRE2_UCHAR msg[128];
	char *to;
	int n;

	for (;;) {
		to = xmalloc(len);
		n = pcre2_substitute(sub->code, (PCRE2_SPTR)name, strlen(name),
		    0, sub->options, NULL, NULL, (PCRE2_SPTR)sub->with,
		    PCRE2_ZERO_TERMINATED, (PCRE2_UCHAR *)to, &len);
		if (n != PCRE2_ERROR_NOMEMORY)
			break;
		free(to);
	}
	if (n < 0) {
		pcre2_get_error_message(n, msg, sizeof msg);
		die("replacement '%s': %s", sub->with, (char *)msg);
	}
	free(name);
	return to;
}

const char *
subst_apply(const struct name_subst *sub, const char *name)
{
	char *s = xstrdup(name);

	for (; sub; sub = sub->next)
		s = substitute(sub, s);
	return s;
}
