/*
 * mkxray - make an XRay log from a description on standard input
 *
 *	head VERSION TYPE FLAGS HZ SIZE EXTRA
 *	ext [BYTES]		extents; without BYTES: up to the next ext or end
 *	newbuf TID  wall SEC USEC  pid PID  cpu CPU TSC  wrap TSC  eob  arg VALUE
 *	enter|exit|tail|enterarg ID DELTA	fn ACTION ID DELTA
 *	custom TIME [TEXT]	layout of the header's version; \ooo in TEXT
 *	typed TYPE TIME [TEXT]
 *	fill			junk up to the buffer's size (version 1)
 *	hex BYTES		as they are
 *	rec CPU ACTION ID TSC TID PID		basic logs
 *	recarg ID TID PID VALUE
 *
 * Nothing of lib is used, as lib is what the logs are to test.  Reserved bytes
 * hold 0xee, as runtimes leave junk there; with -z zeros.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint8_t log_bytes[1 << 26];
static size_t n, ext_at, buf_at;
static int junk = 0xee;
static unsigned version;
static unsigned long long size;

static void
put(unsigned bytes, unsigned long long v)
{
	for (; bytes > 0; bytes--, v >>= 8)
		log_bytes[n++] = (uint8_t)v;
}

static void
fill_to(size_t end)
{
	while (n < end)
		log_bytes[n++] = (uint8_t)junk;
}

static void
close_ext(void)
{
	size_t end = n;

	if (ext_at == 0)
		return;
	n = ext_at + 1;
	put(8, end - ext_at - 16);
	n = end;
	ext_at = 0;
}

static unsigned long long
num(char **args)
{
	char *end;
	unsigned long long v;

	while (**args == ' ')
		(*args)++;
	v = strtoull(*args, &end, 0);
	if (end == *args) {
		fprintf(stderr, "mkxray: number missing: %s\n", *args);
		exit(2);
	}
	*args = end;
	return v;
}

static size_t
text(char *s, uint8_t *to)
{
	size_t len = 0;

	if (*s == ' ')
		s++;
	while (*s)
		if (*s == '\\') {
			to[len++] = (uint8_t)((s[1] - '0') << 6 |
			    (s[2] - '0') << 3 | (s[3] - '0'));
			s += 4;
		} else {
			to[len++] = (uint8_t)*s++;
		}
	return len;
}

static void
event(int typed, char *args)
{
	static uint8_t t[1 << 20];
	size_t at = n, len;
	unsigned type = typed ? (unsigned)num(&args) : 0;
	unsigned long long time = num(&args);
	unsigned cpu = version == 4 && !typed ? (unsigned)num(&args) : 0;

	len = text(args, t);
	put(1, typed ? 0x11 : 0x0b);
	put(4, len);
	put(version == 5 ? 4 : 8, time);
	if (typed)
		put(2, type);
	else if (version == 4)
		put(2, cpu);
	fill_to(at + 16);
	memcpy(log_bytes + n, t, len);
	n += len;
}

static void
function(unsigned action, char *args)
{
	unsigned long long id = num(&args);

	put(4, id << 4 | action << 1);
	put(4, num(&args));
}

static void
basic(int arg, char *args)
{
	size_t at = n;
	unsigned long long v;

	put(2, (unsigned)arg);
	if (arg) {
		fill_to(at + 4);
		put(4, num(&args));
		put(4, num(&args));
		put(4, num(&args));
		put(8, num(&args));
	} else {
		put(1, num(&args));
		put(1, num(&args));
		put(4, num(&args));
		v = num(&args);
		put(8, v);
		put(4, num(&args));
		put(4, num(&args));
	}
	fill_to(at + 32);
}

static void
bytes(const char *s)
{
	unsigned v;
	int used;

	while (sscanf(s, " %2x%n", &v, &used) == 1) {
		put(1, v);
		s += used;
	}
}

/* a metadata record: its first byte, then numbers of these widths */
static void
meta(unsigned kind, const char *widths, char *args)
{
	size_t at = n;

	put(1, kind);
	for (; *widths; widths++)
		put((unsigned)(*widths - '0'), num(&args));
	fill_to(at + 16);
}

static const struct {
	const char *name;
	unsigned kind;
	const char *widths;
} metas[] = {
	{ "newbuf", 0x01, "4" }, { "eob", 0x03, "" }, { "cpu", 0x05, "28" },
	{ "wrap", 0x07, "8" }, { "wall", 0x09, "84" }, { "arg", 0x0d, "8" },
	{ "pid", 0x13, "4" }
};
static const char *const functions[] = { "enter", "exit", "tail", "enterarg" };

static void
other(const char *word, char *args)
{
	unsigned action;

	if (strcmp(word, "head") == 0) {
		version = (unsigned)num(&args);
		put(2, version);
		put(2, num(&args));
		put(4, num(&args));
		put(8, num(&args));
		put(8, size = num(&args));
		put(8, num(&args));
	} else if (strcmp(word, "ext") == 0) {
		close_ext();
		if (*args == '\0')
			ext_at = n;
		meta(0x0f, "8", *args ? args : (char *)"0");
	} else if (strcmp(word, "fn") == 0) {
		action = (unsigned)num(&args);
		function(action, args);
	} else if (strcmp(word, "custom") == 0 || strcmp(word, "typed") == 0) {
		event(*word == 't', args);
	} else if (strcmp(word, "fill") == 0) {
		fill_to(buf_at + size);
	} else if (strcmp(word, "hex") == 0) {
		bytes(args);
	} else if (strcmp(word, "rec") == 0 || strcmp(word, "recarg") == 0) {
		basic(word[3] != '\0', args);
	} else {
		fprintf(stderr, "mkxray: %s?\n", word);
		exit(2);
	}
}

static void
line(char *word)
{
	char *args = word + strcspn(word, " ");
	unsigned i;

	if (*args)
		*args++ = '\0';
	if (strcmp(word, "newbuf") == 0)
		buf_at = n;
	for (i = 0; i < sizeof metas / sizeof *metas; i++)
		if (strcmp(word, metas[i].name) == 0) {
			meta(metas[i].kind, metas[i].widths, args);
			return;
		}
	for (i = 0; i < 4; i++)
		if (strcmp(word, functions[i]) == 0) {
			function(i, args);
			return;
		}
	other(word, args);
}

int
main(int argc, char **argv)
{
	static char s[1 << 20];

	(void)argv;
	if (argc > 1)
		junk = 0;
	while (fgets(s, sizeof s, stdin)) {
		s[strcspn(s, "\n")] = '\0';
		if (*s && *s != '#')
			line(s);
	}
	close_ext();
	return fwrite(log_bytes, 1, n, stdout) == n && fflush(stdout) == 0 ? 0 : 1;
}
