/*
 * numbers - the numbers by which the program knows its threads and children
 *
 * A program in a PID namespace of its own, as unshare(1) and containers make
 * them, has other numbers for them than we.  /proc shows both: "NSpid: 4711 2"
 * is process 4711 here and 2 there; those of namespaces further in follow.
 */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/base.h"
#include "ctl.h"

#define DEPTH 32u		/* of namespaces, in Linux */

struct numbers {
	int parent;
	int number[DEPTH];	/* the outermost first */
	unsigned n;		/* 0: the process is gone */
};

static void
read_numbers(struct numbers *p, const char *dir, const char *name)
{
	char path[320], line[512], *s;
	FILE *f;
	int end;

	memset(p, 0, sizeof *p);
	snprintf(path, sizeof path, "%s/%s/status", dir, name);
	f = fopen(path, "re");
	while (f != NULL && fgets(line, sizeof line, f) != NULL) {
		sscanf(line, "PPid: %d", &p->parent);
		if (strncmp(line, "NSpid:", 6) != 0)
			continue;
		for (s = line + 6; p->n < DEPTH && sscanf(s, "%d%n",
		    &p->number[p->n], &end) == 1; s += end)
			p->n++;
	}
	if (f != NULL)
		fclose(f);
}

static void
read_numbered(struct numbers *p, pid_t pid)
{
	char name[16];

	snprintf(name, sizeof name, "%d", (int)pid);
	read_numbers(p, "/proc", name);
}

static void
read_own(struct numbers *p)
{
	read_numbered(p, guest.pid);
}

/* Which of a process's numbers the program knows: that of its own namespace. */
static unsigned
depth(void)
{
	static unsigned d;
	static pid_t of;
	struct numbers own;

	if (__atomic_load_n(&of, __ATOMIC_ACQUIRE) == guest.pid)
		return d;
	read_own(&own);
	d = own.n > 0 ? own.n - 1 : 0;
	__atomic_store_n(&of, guest.pid, __ATOMIC_RELEASE);
	return d;
}

/*
 * Is the process in another namespace than the program?  Two that are as deep
 * may have the same number.
 */
static bool
is_elsewhere(const char *name)
{
	struct stat own, st;
	char path[320];

	snprintf(path, sizeof path, "/proc/%d/ns/pid", (int)guest.pid);
	if (stat(path, &own) != 0)
		return false;
	snprintf(path, sizeof path, "/proc/%s/ns/pid", name);
	return stat(path, &st) == 0 && st.st_ino != own.st_ino;
}

/* Is p, whose folder in /proc is `name', what the program calls `number'? */
static bool
is_task(const struct numbers *p, const char *name, int number)
{
	return p->n > depth() && p->number[depth()] == number &&
	    (p->n > depth() + 1 || !is_elsewhere(name));
}

static bool
is_child(const struct numbers *p, const char *name, int number)
{
	return p->parent == guest.pid && is_task(p, name, number);
}

/* The same of a child that calls itself so, in a namespace of its own. */
static bool
is_child_within(const struct numbers *p, const char *name, int number)
{
	(void)name;
	return p->parent == guest.pid && p->n > depth() + 1 &&
	    p->number[p->n - 1] == number;
}

/* Our number of the first in dir that is it; -1: there is none. */
static pid_t
find(const char *dir, bool is_it(const struct numbers *, const char *, int),
    int number)
{
	DIR *d = opendir(dir);
	struct dirent *e;
	struct numbers p;
	pid_t found = -1;

	while (d != NULL && found < 0 && (e = readdir(d)) != NULL) {
		if (e->d_name[0] < '0' || e->d_name[0] > '9')
			continue;
		read_numbers(&p, dir, e->d_name);
		if (is_it(&p, e->d_name, number))
			found = atoi(e->d_name);
	}
	if (d != NULL)
		closedir(d);
	return found;
}

pid_t
guest_thread(pid_t tid)
{
	char dir[32];

	if (tid <= 0)
		return -1;
	if (depth() == 0)
		return syscall(SYS_tgkill, guest.pid, tid, 0) == 0 ||
		    errno == EPERM ? tid : -1;
	snprintf(dir, sizeof dir, "/proc/%d/task", (int)guest.pid);
	return find(dir, is_task, tid);
}

bool
guest_task(pid_t *pid, pid_t *tid)
{
	char dir[32];

	if (depth() > 0) {
		*pid = find("/proc", is_task, *pid);
		snprintf(dir, sizeof dir, "/proc/%d/task", (int)*pid);
		*tid = *pid < 0 ? -1 : find(dir, is_task, *tid);
	}
	return *pid > 0 && *tid > 0 && (syscall(SYS_tgkill, *pid, *tid, 0) ==
	    0 || errno == EPERM);
}

pid_t
guest_child(pid_t pid)
{
	return depth() == 0 ? pid : find("/proc", is_child, pid);
}

/* Is it a child of the program's, or a sibling by CLONE_PARENT? */
static bool
is_near(const struct numbers *p)
{
	struct numbers own;

	read_own(&own);
	return p->n == 1 && (p->parent == guest.pid || p->parent == own.parent);
}

pid_t
guest_child_itself(pid_t pid)
{
	struct numbers p;
	pid_t found;

	if (depth() > 0) {
		found = find("/proc", is_child, pid);
		return found > 0 ? found : find("/proc", is_child_within, pid);
	}
	read_numbered(&p, pid);
	if (is_near(&p))
		return pid;
	found = find("/proc", is_child_within, pid);
	return found < 0 && p.n == 0 ? pid : found;	/* it is gone */
}

pid_t
guest_own_number(void)
{
	struct numbers own;

	read_own(&own);
	return own.n > 0 ? own.number[own.n - 1] : 0;
}

bool
slot_is_dead(const struct slot *s)
{
	uint32_t number = ONCE(s->tid);
	pid_t tid = (pid_t)number, pid = (pid_t)slot_pid(ONCE(s->pid), number);

	if (tid <= 0)		/* it has not begun, or has ended */
		return false;
	if (guest_task(&pid, &tid) && !task_is_dead(tid))
		return false;
	return ONCE(s->used) == SLOT_TAKEN && ONCE(s->tid) == number;
}
