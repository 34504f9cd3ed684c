/*
 * htmlput - links and text of the page
 */
#include "html.h"

#include <string.h>

#include "out.h"
#include "shown.h"

bool *is_shown;

/* Text with the characters of HTML escaped, and unsafe bytes as \ooo. */
static void
put_safe(const char *s, size_t n)
{
	char octal[SHOWN_MOST];
	size_t len;

	while (n > 0) {
		len = shown_len(s, n);
		n -= len;
		for (; len > 0; len--)
			out_xml(out, *s++);
		if (n == 0)
			return;
		shown_byte(octal, *s++);
		out_write(out, octal, SHOWN_MOST);
		n--;
	}
}

void
put_html(const char *s)
{
	put_safe(s, strlen(s));
}

void
put_code(const char *s)
{
	size_t n = strlen(s), len;

	if (n > 0 && s[n - 1] == '\r')
		n--;
	for (;;) {
		len = strcspn(s, "\t");
		if (len >= n)
			break;
		put_safe(s, len);
		out_ch(out, '\t');
		s += len + 1;
		n -= len + 1;
	}
	put_safe(s, n);
}

const char *
last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

void
put_fn(size_t at)
{
	if (is_shown[at])
		out_printf(out, "<a href=#f%zu>", at);
	put_html(node_fn(at));
	if (is_shown[at])
		out_str(out, "</a>");
}

void
put_link(size_t at)
{
	put_fn(at);
	if (!*node_file(at) || !strcmp(node_file(at), "???"))
		return;
	out_str(out, " <small>");
	put_html(last_part(node_file(at)));
	out_str(out, "</small>");
}
