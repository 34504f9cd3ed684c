/*
 * shown.h - untrusted text made safe for a terminal
 *
 * Names come from object files, arguments and other people's profiles, and a
 * terminal obeys control characters in them. Therefore control characters (C0,
 * DEL and C1) and bytes that are not UTF-8 are shown as \ooo, the rest as is.
 */
#ifndef SHOWN_H
#define SHOWN_H

#include <stddef.h>

struct out;

/* How many bytes of s, from its beginning, can be shown as they are. */
size_t shown_len(const char *s, size_t n);
/* The most bytes that one byte becomes. */
enum { SHOWN_MOST = 4 };

/*
 * Write the safe text to to[room] with a NUL, cut where it does not fit, and
 * return its length.
 */
size_t shown_copy(char *to, size_t room, const char *s, size_t n);
/* Write one byte as \ooo. */
void shown_byte(char to[SHOWN_MOST], char);

/* showntext.c: s itself if it is safe, else a safe copy that is never freed */
const char *shown(const char *s);
/* Write n bytes of s as safe text. */
void out_shown(struct out *, const char *s, size_t n);

#endif
