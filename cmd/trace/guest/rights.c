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

/* A number that the process's status tells, as in `TracerPid:	12`; or -1. */
static int
told_in_status(const char *word)
{
	char name[32], line[128];
	size_t n = strlen(word);
	int number = -1;
	FILE *f;

	snprintf(name, sizeof name, "/proc/%d/status", (int)guest.pid);
	f = fopen(name, "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, word, n) == 0) {
			number = atoi(line + n);
			break;
		}
	if (f != NULL)
		fclose(f);
	return number;
}

bool
guest_is_traced(void)
{
	return told_in_status("TracerPid:") != 0;
}

/* Would the file give the program rights, by its mode or by capabilities? */
static bool
gives_rights(const char *file)
{
	struct statvfs fs;
	struct stat st;
	bool caps, uid, gid;

	if (stat(file, &st) < 0 || !S_ISREG(st.st_mode))
		return false;
	uid = (st.st_mode & S_ISUID) && st.st_uid != geteuid();
	gid = (st.st_mode & S_ISGID) && (st.st_mode & S_IXGRP) &&
	    st.st_gid != getegid();
	caps = geteuid() != 0 &&
	    getxattr(file, "security.capability", NULL, 0) > 0;
	return (uid || gid || caps) &&
	    !(statvfs(file, &fs) == 0 && (fs.f_flag & ST_NOSUID)) &&
	    told_in_status("NoNewPrivs:") != 1;
}

void
rights_tell(const char *name)
{
	char exe[32];

	snprintf(exe, sizeof exe, "/proc/%d/exe", (int)guest.pid);
	if (geteuid() != 0 && gives_rights(exe))
		warn("%s: set-id, or with capabilities: it runs without the "
		    "rights that these give, because it is traced", name);
}

bool
rights_of(uint64_t path, uint64_t dirfd)
{
	char name[4096], full[4200];

	if (read_string(path, name, sizeof name) < 0)
		return false;
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
	return gives_rights(full);
}
