/*
 * signals.h - what a signal that would end the program does first
 */
#ifndef SIGNALS_H
#define SIGNALS_H

/*
 * Call this function, which must be async-signal-safe, before a signal ends
 * the process: SIGHUP, SIGINT and others, unless they were ignored.
 */
void signals_before_end(void (*)(void));
/*
 * A pipe is being read: the first SIGINT or SIGTERM passes without effect. The
 * terminal sends it to the pipe's writer, too, which decides whether to end.
 * A second one ends the program at once, and so does one behind the end of the
 * last such pipe.
 */
void signals_reading(void);
void signals_read(void);	/* that pipe is at its end, or closed */

#endif
