/*
 * jit - a small JIT, which tells the names of the code that it makes
 *
 *	jit map		two functions at one address, one after the other, in
 *			/tmp/perf-PID.map; then code at another address
 *	jit dump DIR	the same in DIR/jit-PID.dump, written at the end, with
 *			lines; the first one moves
 *	jit v8 DIR	dump as V8 writes it: lines with 0x40 added to their
 *			addresses, files that are not what they should be
 *	jit many N	N functions, without names
 *	jit odd HOW	like map, but the map is not what it should be: link,
 *			fifo, other, junk, huge, folder
 *	jit exec ...	like map, then exec the rest of the arguments
 *	jit ask FILE	like map, then send SIGUSR1 to the parent, and wait
 *			until FILE is there
 *
 * A function with n rounds takes 2 n + 2 instructions, and pad more. Prints its
 * pid, so that tests can remove the map.
 */
#include <fcntl.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static uint8_t *page;
static FILE *map, *dump;
static char map_name[64];
static int v8;
static const char file[] = "/src/in put.js";

/* mov $rounds,%ecx; pad times nop; 1: dec %ecx; jnz 1b; ret */
static unsigned
make(uint8_t *to, uint32_t rounds, unsigned pad)
{
	uint8_t code[64] = { 0xb9 };
	unsigned n = 5 + pad;

	memcpy(code + 1, &rounds, 4);
	memset(code + 5, 0x90, pad);
	memcpy(code + n, "\xff\xc9\x75\xfc\xc3", 5);
	n += 5;
	memcpy(to, code, n);
	return n;
}

static void
call(const uint8_t *code)
{
	void (*f)(void);

	memcpy(&f, &code, sizeof f);
	f();
}

/* ---- jitdump ---- */

static char *records;	/* written at the end, as by a buffered writer */
static size_t nrecords;

static void
record(uint32_t id, const void *body, size_t n)
{
	struct { uint32_t id, size; uint64_t time; } r = { id,
	    (uint32_t)(sizeof r + n), 1 };

	records = realloc(records, nrecords + sizeof r + n);
	memcpy(records + nrecords, &r, sizeof r);
	memcpy(records + nrecords + sizeof r, body, n);
	nrecords += sizeof r + n;
}

static void
open_dump(const char *folder)
{
	char name[4096];

	struct { uint32_t magic, version, size, mach, pad, pid;
	    uint64_t time, flags; } h = { 0x4a695444, 1, sizeof h, 62,
	    v8 ? 0xdeadbeef : 0, (uint32_t)getpid(), 1, 0 };

	snprintf(name, sizeof name, "%s/jit-%d.dump", folder, (int)getpid());
	dump = fopen(name, "w+");
	if (dump == NULL || fwrite(&h, sizeof h, 1, dump) != 1 ||
	    fflush(dump) != 0 || mmap(NULL, 4096, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE, fileno(dump), 0) == MAP_FAILED)
		exit(3);
}

/* A line of an address, and its file. */
static size_t
entry(char *to, const uint8_t *addr, uint32_t line, const char *name)
{
	struct { uint64_t addr; uint32_t line, column; } e = {
	    (uint64_t)(uintptr_t)addr + (v8 ? 0x40 : 0), line, 0 };

	memcpy(to, &e, sizeof e);
	memcpy(to + sizeof e, name, strlen(name) + 1);
	if (v8)
		memcpy(to + sizeof e, "\x8b\0\x03\xff", 4);
	return sizeof e + strlen(name) + 1;
}

/* Lines 10, of the first instruction, and 11, of all others. */
static void
tell_lines(const uint8_t *code)
{
	char body[256] = { 0 };
	uint64_t head[2] = { (uint64_t)(uintptr_t)code, 2 };
	size_t n = sizeof head;

	memcpy(body, head, n);
	n += entry(body + n, code, 10, file);
	n += entry(body + n, code + 5, 11, v8 ? file : "\xff");
	record(2, body, n + (v8 ? 6 : 0));
}

static void
tell_load(const uint8_t *code, unsigned size, const char *name)
{
	char body[256];
	struct { uint32_t pid, tid; uint64_t vma, addr, size, index; } l = {
	    (uint32_t)getpid(), (uint32_t)getpid(), 0,
	    (uint64_t)(uintptr_t)code, size, 0 };
	size_t n = sizeof l;

	l.vma = l.addr;
	memcpy(body, &l, n);
	n += (size_t)sprintf(body + n, v8 ? "JS:*%s %s:10:1" : "%s", name,
	    file) + 1;
	memcpy(body + n, code, size);
	record(0, body, n + size);
}

static void
tell_move(const uint8_t *from, const uint8_t *to, unsigned size)
{
	struct { uint32_t pid, tid; uint64_t vma, from, to, size, index; } m = {
	    (uint32_t)getpid(), (uint32_t)getpid(), (uint64_t)(uintptr_t)to,
	    (uint64_t)(uintptr_t)from, (uint64_t)(uintptr_t)to, size, 0 };

	record(1, &m, sizeof m);
}

/* ---- */

static void
tell(const uint8_t *code, unsigned n, const char *name)
{
	if (map != NULL) {
		fprintf(map, "%llx %x %s\n",
		    (unsigned long long)(uintptr_t)code, n, name);
		fflush(map);
	}
	if (dump != NULL) {
		tell_lines(code);
		tell_load(code, n, name);
	}
}

static void
run(void)
{
	unsigned n = make(page, 1000, 0), m;

	tell(page, n, "first");
	call(page);
	memcpy(page + 512, page, n);
	if (dump != NULL)
		tell_move(page, page + 512, n);
	else
		tell(page + 512, n, "moved");
	call(page + 512);
	m = make(page, 500, 3);
	tell(page, m, "second one");
	call(page);
	n = make(page + 256, 50, 1);
	tell(page + 256, n, "third\\\303\274");
	call(page + 256);
	munmap(page, 4096);
}

static void
many(unsigned n)
{
	unsigned at = 0;

	page = mmap(NULL, n * 16 + 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (; n > 0; n--, at += 16) {
		make(page + at, 2, n % 3);
		call(page + at);
	}
}

static void
odd(const char *how)
{
	char other[] = "/tmp/quern.XXXXXX";

	map = NULL;
	if (strcmp(how, "fifo") == 0) {
		mkfifo(map_name, 0600);
		return;
	}
	if (strcmp(how, "folder") == 0) {
		mkdir(map_name, 0700);
		return;
	}
	if (strcmp(how, "link") == 0) {
		close(mkstemp(other));
		map = fopen(other, "w");
		if (symlink(other, map_name) < 0)
			exit(3);
		puts(other);
		return;
	}
	map = fopen(map_name, "w");
	if (strcmp(how, "other") == 0 &&
	    fchown(fileno(map), 65534, (gid_t)-1) < 0)
		exit(3);
	if (strcmp(how, "junk") == 0) {
		for (unsigned i = 0; i < 200000; i++)
			fputc((int)(i * i >> 3) & 255, map);
		fputs("\n\n1\n1 2\nx y z\n0 0 0\n"
		    "ffffffffffffffff ffffffffffffffff over\n"
		    "11111111111111111 1 long\n", map);
		fflush(map);
	} else if (strcmp(how, "huge") == 0 &&
	    ftruncate(fileno(map), (off_t)1 << 40) < 0) {
		exit(3);
	}
}

/* The parent is trace, which writes its newest records to this file. */
static int
ask(const char *dump_name)
{
	kill(getppid(), SIGUSR1);
	for (int i = 0; i < 3000 && access(dump_name, F_OK) < 0; i++)
		usleep(10000);
	return access(dump_name, F_OK) < 0 ? 3 : 0;
}

int
main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	struct timespec now;

	/* code in no file, the vDSO's, before there are any names */
	clock_gettime(CLOCK_MONOTONIC, &now);
	printf("%d\n", (int)getpid());
	page = mmap(NULL, 4096, PROT_READ | PROT_WRITE | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	snprintf(map_name, sizeof map_name, "/tmp/perf-%d.map", (int)getpid());
	if (strcmp(what, "many") == 0 && argc == 3) {
		many((unsigned)atoi(argv[2]));
		return 0;
	}
	v8 = strcmp(what, "v8") == 0;
	if ((v8 || strcmp(what, "dump") == 0) && argc == 3)
		open_dump(argv[2]);
	else if (strcmp(what, "odd") == 0 && argc == 3)
		odd(argv[2]);
	else if (strcmp(what, "map") == 0 || strcmp(what, "exec") == 0 ||
	    (strcmp(what, "ask") == 0 && argc == 3))
		map = fopen(map_name, "w");
	else
		return 3;
	run();
	if (dump != NULL && (fwrite(records, nrecords, 1, dump) != 1 ||
	    fclose(dump) != 0))
		return 3;
	fflush(stdout);
	if (strcmp(what, "ask") == 0)
		return ask(argv[2]);
	if (strcmp(what, "exec") == 0)
		execv(argv[2], argv + 2);
	return 0;
}
