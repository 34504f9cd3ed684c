/*
 * backtrace - who called VALGRIND_PRINTF_BACKTRACE
 *
 * libdwfl unwinds the thread's stack by its registers at the request and the
 * process's memory. The lines are those of Valgrind, up to main:
 *
 *	   at 0x401136: inner (prog.c:7)
 *	   by 0x401153: main (prog.c:12)
 */
#include <elfutils/libdwfl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "guest/guest.h"
#include "sym.h"
#include "trace.h"

#define FRAMES 12	/* as many as Valgrind shows */

static Dwfl *dwfl;
static uint64_t regs[16], pc;	/* the registers in their encoding's order */

/* What is being written. */
static char *text;
static size_t room, len;
static unsigned nframe;

/* ------------------------------------------------------------ for libdwfl */

static pid_t
next_thread(Dwfl *d, void *arg, void **thread)
{
	(void)d;
	(void)arg;
	if (*thread != NULL)
		return 0;
	*thread = regs;
	return guest.pid;
}

static bool
read_word(Dwfl *d, Dwarf_Addr at, Dwarf_Word *to, void *arg)
{
	(void)d;
	(void)arg;
	return pread(guest.mem, to, sizeof *to, (off_t)at) == sizeof *to;
}

static bool
set_registers(Dwfl_Thread *thread, void *arg)
{
	static const unsigned char order[16] = { 0, 2, 1, 3, 6, 7, 5, 4, 8, 9,
		10, 11, 12, 13, 14, 15 };	/* of DWARF */
	Dwarf_Word v[17];

	(void)arg;
	for (unsigned i = 0; i < 16; i++)
		v[i] = regs[order[i]];
	v[16] = pc;
	return dwfl_thread_state_registers(thread, 0, 17, v);
}

static const Dwfl_Callbacks callbacks = {
	.find_elf = dwfl_linux_proc_find_elf,
	.find_debuginfo = dwfl_standard_find_debuginfo
};
static const Dwfl_Thread_Callbacks thread_callbacks = {
	.next_thread = next_thread,
	.memory_read = read_word,
	.set_initial_registers = set_registers
};

/* ------------------------------------------------------------------- lines */

__attribute__((format(printf, 1, 2)))
static void
put(const char *fmt, ...)
{
	va_list v;
	int n;

	va_start(v, fmt);
	n = vsnprintf(text + len, room - len, fmt, v);
	va_end(v);
	if (n > 0)
		len += (size_t)n < room - len ? (size_t)n : room - len - 1;
}

/* The symbols of the module that has an address, and its slide; or NULL. */
static struct sym *
symbols(Dwarf_Addr addr, Dwarf_Addr *slide, const char **path)
{
	Dwfl_Module *m = dwfl_addrmodule(dwfl, addr);
	void **sym;

	if (m == NULL)
		return NULL;
	*path = dwfl_module_info(m, &sym, NULL, NULL, NULL, NULL, NULL, NULL);
	if (dwfl_module_getelf(m, slide) == NULL)
		return NULL;
	if (*sym == NULL)
		*sym = sym_open(*path, SYM_DEMANGLE);
	return *sym;
}

/* A frame by an address in its instruction. true: it is main's, the last. */
static bool
put_frame(Dwarf_Addr addr)
{
	struct sym_at at = { .fn = SYM_UNKNOWN };
	const char *path = NULL, *base;
	Dwarf_Addr slide;
	struct sym *s = symbols(addr, &slide, &path);

	if (s != NULL)
		sym_find(s, addr - slide, &at);
	put("   %s 0x%llX: %s", nframe == 0 ? "at" : "by",
	    (unsigned long long)addr, at.fn);
	if (at.line != 0) {
		base = strrchr(at.file, '/');
		put(" (%s:%u)", base != NULL ? base + 1 : at.file, at.line);
	} else if (path != NULL) {
		put(" (in %s)", path);
	}
	put("\n");
	return strcmp(at.fn, "main") == 0;
}

static int
frame(Dwfl_Frame *f, void *arg)
{
	Dwarf_Addr addr;
	bool exact;

	(void)arg;
	if (!dwfl_frame_pc(f, &addr, &exact))
		return DWARF_CB_ABORT;
	/* a return address is behind the call, perhaps in the next function */
	if (put_frame(exact || nframe == 0 ? addr : addr - 1))
		return DWARF_CB_ABORT;
	return ++nframe < FRAMES ? DWARF_CB_OK : DWARF_CB_ABORT;
}

/* Read the maps of the process as it is now. */
static bool
look(void)
{
	static bool attached;

	if (dwfl == NULL)
		dwfl = dwfl_begin(&callbacks);
	else
		dwfl_report_begin(dwfl);
	if (dwfl == NULL || dwfl_linux_proc_report(dwfl, guest.pid) != 0 ||
	    dwfl_report_end(dwfl, NULL, NULL) != 0)
		return false;
	if (!attached)
		attached = dwfl_attach_state(dwfl, NULL, guest.pid,
		    &thread_callbacks, NULL);
	return attached;
}

void
backtrace_text(const uint64_t gpr[16], uint64_t at, char *to, size_t size)
{
	memcpy(regs, gpr, sizeof regs);
	pc = at;
	text = to;
	room = size;
	len = nframe = 0;
	*text = '\0';
	if (look())
		dwfl_getthread_frames(dwfl, guest.pid, frame, NULL);
	if (len == 0)
		put_frame(pc);
}
