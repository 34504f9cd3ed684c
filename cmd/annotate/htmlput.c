/*
 * htmlput - links and text of the page
 */
#include "html.h"

#include <string.h>

#include "out.h"

bool *is_shown;

void
put_html(const char *s)
{
	for (; *s; s++)
		out_xml(out, (unsigned char)*s < 0x20 && *s != '\t' ? '?' : *s);
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
