/*
 * evline - the fields of an event stream's lines, events(5)
 *
 * For all lines but executions, definitions, H and E.  A table says which
 * fields follow each letter; another has the letters that mean something else
 * in kind calls.
 */
#include "evline.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "evdef.h"

/*
 * x hexadecimal, d decimal, s signed decimal, t text, a hexadecimal or a dot
 * for none, f hexadecimal or a difference, e an event's time, type and text, m
 * an event of memory, o an outcome's instruction and label, [ the line may end
 * here, = it may end with a `=' and a list, which becomes the text, - anything,
 * ignored.
 */
static const char *const spec['Z' + 1] = {
	['A'] = "xxxxx[x", ['C'] = "-", ['D'] = "m", ['F'] = "xx[x",
	['G'] = "x=xxt", ['I'] = "d", ['J'] = "t", ['K'] = "dx",
	['L'] = "xxxt", ['M'] = "xxxxt", ['N'] = "xf[x", ['O'] = "ot",
	['R'] = "xxxx", ['S'] = "xx[xx", ['T'] = "d[d", ['U'] = "xx",
	['V'] = "xxx[xx", ['W'] = "xx", ['X'] = "x", ['Y'] = "d[dd",
};
static const char *const calls['Z' + 1] = {
	['A'] = "x", ['D'] = "e", ['F'] = "ddddddt", ['G'] = "xat",
	['J'] = "x", ['L'] = "ss", ['N'] = "xx", ['R'] = "xxt", ['S'] = "xx",
	['V'] = "xx", ['X'] = "xx",
};

bool
evline_varies(char letter)
{
	return letter >= 'A' && letter <= 'Z' &&
	    calls[(unsigned char)letter] != NULL;
}

/* What follows a letter in this kind; NULL: there is no such letter. */
static const char *
fields(char letter, unsigned kind)
{
	if (letter < 'A' || letter > 'Z')
		return NULL;
	if (letter == 'X' && kind == EV_BRANCHES)
		return "xxx";
	return kind == EV_CALLS && evline_varies(letter) ?
	    calls[(unsigned char)letter] : spec[(unsigned char)letter];
}

char *
evline_text(char *to, const char *s, bool nul)
{
	while (*s != '\0') {
		unsigned c = (unsigned char)*s++;

		if (c == '\\') {
			if ((unsigned)s[0] - '0' > 3 ||
			    (unsigned)s[1] - '0' > 7 ||
			    (unsigned)s[2] - '0' > 7)
				return NULL;
			c = (unsigned)((s[0] & 3) << 6 | (s[1] & 7) << 3 |
			    (s[2] & 7));
			s += 3;
			if (c == 0 && !nul)
				return NULL;
		}
		*to++ = (char)c;
	}
	*to = '\0';
	return to;
}

int
evline_decimal(const char **s, uint64_t *n)
{
	const char *p = *s;
	uint64_t x = 0;

	for (; (unsigned)*p - '0' < 10; p++)
		if (__builtin_mul_overflow(x, 10, &x) ||
		    __builtin_add_overflow(x, (unsigned)*p - '0', &x))
			return -1;
	if (p == *s)
		return -1;
	*s = p;
	*n = x;
	return 0;
}

int
evline_field(const char **s, uint64_t *n)
{
	const char *p = *s;
	char sign = *p;

	p += sign == '.' || sign == '+' || sign == '-';
	*n = 0;
	if (sign != '.' && ev_hex(&p, n) < 0)
		return -1;
	if (sign == '-')
		*n = -*n;
	*s = p;
	return 0;
}

static int
number(char what, const char **s, uint64_t *n)
{
	bool minus = what == 's' && **s == '-';

	if (what == 'f')
		return evline_field(s, n);
	if (what == 'x' || what == 'a')
		return ev_hex(s, n);
	*s += minus;
	if (evline_decimal(s, n) < 0 || (what == 's' && *n >> 63))
		return -1;
	if (minus)
		*n = -*n;
	return 0;
}

static int
text(struct ev *e, char *to, const char *s, bool nul)
{
	char *end = evline_text(to, s, nul);

	if (end == NULL)
		return -1;
	e->text = to;
	e->textlen = (size_t)(end - to);
	return 0;
}

/* "tick text", "tick:type text", ". text" */
static int
event(struct ev *e, char *to, const char *s, char why[EV_WHY])
{
	const char *from = s;

	if (*s == '.') {
		s++;
	} else {
		if (ev_hex(&s, &e->num[e->nnum++]) == 0 && *s == ':') {
			s++;
			if (ev_hex(&s, &e->num[e->nnum++]) < 0)
				s = from;
		}
		if (s == from)
			return evwhy(why, "%c: not a number at `%.20s'",
			    *e->line, s);
	}
	if ((*s != '\0' && *s != ' ') ||
	    text(e, to, *s == ' ' ? s + 1 : s, true) < 0)
		return evwhy(why, "%c: malformed text", *e->line);
	return 0;
}

/* "n + x x x [x]", "n * x x x x [x]", "n = x [x]", "n - x [x]", "n @ x" */
static int
memory(struct ev *e, const char *s, char why[EV_WHY])
{
	static const struct {
		char op;
		unsigned least, most;	/* numbers */
	} form[] = { { '+', 4, 5 }, { '*', 5, 6 }, { '=', 2, 3 },
		{ '-', 2, 3 }, { '@', 2, 2 } };
	const unsigned nforms = sizeof form / sizeof form[0];
	unsigned i;

	if (ev_hex(&s, &e->num[e->nnum++]) < 0 || *s++ != ' ')
		goto bad;
	e->text = s;
	e->textlen = 1;
	for (i = 0; i < nforms && form[i].op != *s; i++)
		;
	if (i == nforms)
		goto bad;
	for (s++; *s == ' ' && e->nnum < form[i].most; )
		if (ev_hex((s++, &s), &e->num[e->nnum++]) < 0)
			goto bad;
	if (*s == '\0' && e->nnum >= form[i].least)
		return 0;
bad:
	return evwhy(why, "%c: malformed at `%.20s'", *e->line, s);
}

/* "n", "n=label", "=label": 0 is what is missing. The line may end here. */
static int
instruction(struct ev *e, const char **s)
{
	e->num[0] = e->num[1] = 0;
	e->nnum = 2;
	if (**s != '=' && ev_hex(s, &e->num[0]) < 0)
		return -1;
	e->text = "";
	e->textlen = 0;
	if (**s != '=')
		return 0;
	++*s;
	return ev_hex(s, &e->num[1]);
}

/* Read a field that is a number or, of an O line, an instruction. */
static int
one_field(struct ev *e, char what, const char **s, char why[EV_WHY])
{
	if (what == 'o') {
		if (instruction(e, s) < 0)
			return evwhy(why, "O: not an instruction at `%.20s'",
			    *s);
	} else if (what == 'a' && **s == '.') {
		++*s;
	} else if (number(what, s, &e->num[e->nnum++]) < 0) {
		return evwhy(why, "%c: not a number at `%.20s'", *e->line, *s);
	}
	return 0;
}

int
evline_fields(struct ev *e, unsigned kind, char *to, char why[EV_WHY])
{
	const char *s = e->line + 1, *what = fields(*e->line, kind);

	e->nnum = 0;
	why[0] = '\0';
	if (what == NULL)
		return -1;
	for (; *what != '\0' && *what != '-'; what++) {
		if (*what == '[') {
			if (*s == '\0')
				return 0;
			what++;
		}
		if (*s++ != ' ')
			return evwhy(why, "%c: a field is missing", *e->line);
		if (*what == 'e')
			return event(e, to, s, why);
		if (*what == 'm')
			return memory(e, s, why);
		if (*what == '=') {
			if (*s == '=')
				return text(e, to, s + 1, false);
			what++;
		}
		if (*what == 't')
			return text(e, to, s, false) == 0 ? 0 :
			    evwhy(why, "%c: malformed \\ooo", *e->line);
		if (one_field(e, *what, &s, why) < 0)
			return -1;
		if (*what == 'o' && *s == '\0' && e->num[0] != 0 &&
		    e->num[1] != 0)
			return 0;	/* a label that is defined */
	}
	if (*what == '-' || *s == '\0')
		return 0;
	return evwhy(why, "%c: `%.20s' behind the last field", *e->line, s);
}

int
evline_mark(struct ev *e)
{
	static const char *const word[] = { "on", "cold", "off", "toggle",
	    "dump", "zero", "window", "interrupted" };
	size_t len = strcspn(e->text, " ");
	const char *s = e->text + len + (e->text[len] == ' ');

	e->nnum = 1;
	for (unsigned i = 0; i < sizeof word / sizeof word[0]; i++) {
		if (strlen(word[i]) != len || strncmp(word[i], e->text, len))
			continue;
		e->num[0] = i;
		e->text = s;
		e->textlen -= len + (e->text[len] == ' ');
		if (i != EV_INTERRUPTED)
			return *s == '\0' || i == EV_DUMP ? 0 : -1;
		e->nnum = 2;
		return evline_decimal(&s, &e->num[1]) < 0 || *s != '\0' ?
		    -1 : 0;
	}
	return -1;
}

int
ev_outcome(const char **list, char name[32], uint64_t *n)
{
	const char *s = *list;
	size_t len = strcspn(s, " *");

	if (*s == '\0')
		return 0;
	if (len == 0 || len > 31)
		return -1;
	memcpy(name, s, len);
	name[len] = '\0';
	s += len;
	*n = 1;
	if (*s == '*') {
		s++;
		if (ev_hex(&s, n) < 0)
			return -1;
	}
	if (*s == ' ')
		s++;
	else if (*s != '\0')
		return -1;
	*list = s;
	return 1;
}
