// A program for XRay to log: prog MODE OPTIONS COUNT
//
// The function that runs depends on MODE; OPTIONS are those of the FDR mode.
// Each mode prints what the log must hold, "NAME CALLS".
#include <pthread.h>
#include <setjmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xray/xray_interface.h>
#include <xray/xray_log_interface.h>

#define TRACED [[clang::xray_always_instrument]] __attribute__((noinline))
#define QUIET [[clang::xray_never_instrument]] __attribute__((noinline))

static volatile long sink;

TRACED void leaf(int n)
{
	for (int i = 0; i < n; i++)
		sink = sink + i;
}

TRACED void middle(int n)
{
	leaf(n);
	leaf(n + 1);
}

[[clang::xray_log_args(1)]] TRACED void with_arg(long n)
{
	sink = sink + n;
}

TRACED int recurse(int n)
{
	int r = n ? recurse(n - 1) + 1 : 0;

	sink = sink + r;
	return r;
}

TRACED void tail3(int n)
{
	sink = sink + n;
}

TRACED void tail2(int n)
{
	sink = sink + n;
	[[clang::musttail]] return tail3(n + 1);
}

TRACED void tail1(int n)
{
	sink = sink + n;
	[[clang::musttail]] return tail2(n + 1);
}

TRACED void thrower(int n)
{
	sink = sink + n;
	throw n;
}

TRACED void between(int n)
{
	thrower(n);
	sink = sink + 1;
}

TRACED void catcher(int n)
{
	try {
		between(n);
	} catch (int) {
		sink = sink + 2;
	}
}

static jmp_buf back;

TRACED void jumper(int n)
{
	sink = sink + n;
	longjmp(back, 1);
}

TRACED void lander(int n)
{
	if (setjmp(back) == 0)
		jumper(n);
	sink = sink + 3;
}

extern void events(int), typed(int);	// events.cc

static int count;

QUIET static void *thread(void *arg)
{
	for (int i = 0; i < count; i++)
		middle((int)(long)arg);
	return NULL;
}

static volatile int step;

// holds its buffer when the log is written
QUIET static void *blocked(void *arg)
{
	thread(arg);
	step = 1;
	while (step != 2)
		usleep(1000);
	return NULL;
}

QUIET static void run(const char *mode)
{
	pthread_t t[40];
	int i;

	if (strcmp(mode, "simple") == 0) {
		for (i = 0; i < count; i++)
			middle(i % 10);
		printf("middle %d\nleaf %d\n", count, 2 * count);
	} else if (strcmp(mode, "threads") == 0) {
		for (i = 0; i < 4; i++)
			pthread_create(&t[i], NULL, thread, (void *)(long)i);
		for (i = 0; i < 4; i++)
			pthread_join(t[i], NULL);
		printf("middle %d\nleaf %d\n", 4 * count, 8 * count);
	} else if (strcmp(mode, "args") == 0) {
		for (i = 0; i < count; i++)
			with_arg(1000000007L * i - 5);
		printf("with_arg %d\n", count);
	} else if (strcmp(mode, "recurse") == 0) {
		recurse(count);
		printf("recurse %d\n", count + 1);
	} else if (strcmp(mode, "tail") == 0) {
		for (i = 0; i < count; i++)
			tail1(i);
		printf("tail1 %d\ntail2 %d\ntail3 %d\n", count, count, count);
	} else if (strcmp(mode, "throw") == 0) {
		for (i = 0; i < count; i++) {
			catcher(i);
			lander(i);
		}
		printf("catcher %d\nbetween %d\nthrower %d\n", count, count, count);
		printf("lander %d\njumper %d\n", count, count);
	} else if (strcmp(mode, "blocked") == 0) {
		pthread_create(&t[0], NULL, blocked, (void *)0L);
		while (step != 1)
			usleep(1000);
		for (i = 1; i < 4; i++) {
			pthread_create(&t[i], NULL, thread, (void *)(long)i);
			pthread_join(t[i], NULL);
		}
	} else if (strcmp(mode, "events") == 0) {
		events(count);
		printf("events 1\n");
	} else if (strcmp(mode, "typed") == 0) {
		typed(count);
		printf("typed 1\n");
	}
}

QUIET int main(int argc, char **argv)
{
	if (argc != 4)
		return 2;
	count = atoi(argv[3]);
	if (strcmp(argv[2], "basic") == 0) {
		run(argv[1]);
		return 0;
	}
	if (__xray_log_select_mode("xray-fdr") != XRAY_REGISTRATION_OK ||
	    __xray_log_init_mode("xray-fdr", argv[2]) != XRAY_LOG_INITIALIZED)
		return 3;
	__xray_patch();
	run(argv[1]);
	if (__xray_log_finalize() != XRAY_LOG_FINALIZED)
		return 4;
	return __xray_log_flushLog() == XRAY_LOG_FLUSHED ? 0 : 5;
}
