/*
 * fd.h - busy pipes, reads and writes made again, temporary files
 */
#ifndef FD_H
#define FD_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Enlarge a busy pipe to the largest size allowed, so that reader and writer
 * wake each other rarely and run side by side. To be called with the size n of
 * each read or write, in bytes; *done is false at first. Nothing is done to a
 * descriptor that is no pipe.
 */
#define PIPE_USUAL	65536
void pipe_widen(int fd, size_t n, bool *done);

/*
 * Is a read or write that has failed to be made again? errno says how it
 * failed. Whoever shares a descriptor with us may have made it one that does
 * not block: fd_again waits for the events of poll(2) then.
 */
bool fd_again(int fd, short events);

/*
 * Open a file without a name, in temp_dir; its descriptor, closed by exec. Dies
 * if it cannot.
 */
int temp_file(void);
/* The folder for temporary files: TMPDIR, or /tmp if that is unset or empty. */
const char *temp_dir(void);

#endif
