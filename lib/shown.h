/*
 * shown.h - text of others, fit for a terminal
 *
 * Names come from object files, arguments and other people's profiles; a
 * terminal obeys the control characters in them. So these (C0, DEL and C1)
 * and bytes that are no UTF-8 are shown as \ooo, all else as it is.
 */
#ifndef SHOWN_H
#define SHOWN_H

#include <stddef.h>

struct out;

/* How many bytes of s, from its beginning, can be shown as they are. */
size_t shown_len(const char *s, size_t n);
/* Each byte becomes at most so many. */
enum { SHOWN_MOST = 4 };

/* The text in to[room], cut before what does not fit, with a NUL: its length. */
size_t shown_copy(char *to, size_t room, const char *s, size_t n);
/* How one byte that cannot be shown is. */
void shown_byte(char to[SHOWN_MOST], char);

/* showntext.c: s itself, or what it is shown as, which lives for ever */
const char *shown(const char *s);
void out_shown(struct out *, const char *s, size_t n);

#endif
