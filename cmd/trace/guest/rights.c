/*
 * rights - what a program may do, and does not while it is traced
 *
 * The kernel gives no rights of a set-id file, or of a file's capabilities, to
 * a program whose tracer may not have them.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "guest/guest.h"
#include "prog.h"

static int
read_string(uint64_t at, char *buf, size_t n)
{
	size_t i;

	for (i = 0; i < n; i++) {
		if (pread(guest.mem, buf + i, 1, (off_t)(at + i)) != 1)
			return -1;
		if (buf[i] == '\0')
			return 0;
	}
	return -1;
}

/* A number in the process's status; -1: it has none. */
static int
number_in_status(const char *field)
{
	char text[16];

	return task_field(guest.pid, field, text, sizeof text) ?
	    atoi(text) : -1;
}

bool
guest_is_traced(void)
{
	return number_in_status("TracerPid") != 0;
}

/* What the file would give rights to the program by; NULL: it gives none. */
static const char *
giver(const char *file)
{
	struct statvfs fs;
	struct stat st;
	const char *by;

	if (stat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return NULL;
	if (((st.st_mode & S_ISUID) && st.st_uid != geteuid()) ||
	    ((st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
	    st.st_gid != getegid()))
		by = "a set-id program";
	else if (geteuid() != 0 &&
	    getxattr(file, "security.capability", NULL, 0) > 0)
		by = "a program with capabilities";
	else
		return NULL;
	return (statvfs(file, &fs) == 0 && (fs.f_flag & ST_NOSUID)) ||
	    number_in_status("NoNewPrivs") == 1 ? NULL : by;
}

void
rights_tell(const char *name)
{
	char exe[32];
	const char *by;

	snprintf(exe, sizeof exe, "/proc/%d/exe", (int)guest.pid);
	by = geteuid() == 0 ? NULL : giver(exe);
	if (by != NULL)
		warn("%s: %s: it runs without these rights, because it is "
		    "traced", name, by);
}

const char *
rights_of(uint64_t path, uint64_t dirfd)
{
	char name[4096], full[4200];

	if (read_string(path, name, sizeof name) < 0)
		return NULL;
	if (name[0] == '/')
		snprintf(full, sizeof full, "/proc/%d/root%s", (int)guest.pid,
		    name);
	else if (dirfd != 0 && (int)(dirfd - 1) >= 0)
		snprintf(full, sizeof full, "/proc/%d/fd/%d%s%s",
		    (int)guest.pid, (int)(dirfd - 1),
		    name[0] != '\0' ? "/" : "", name);
	else
		snprintf(full, sizeof full, "/proc/%d/cwd/%s", (int)guest.pid,
		    name);
	return giver(full);
}
