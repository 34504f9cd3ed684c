/*
 * smc-failed - calls that fail and yet have changed what code or a word of
 * linkage may do; and words and code that can no longer be read
 */
#include <setjmp.h>

#include "victim.h"
#include "byword.h"

#define GUARD_INSTALL 102	/* madvise, Linux 6.13 */
#define GUARD_REMOVE 103
#define RW (PROT_READ | PROT_WRITE)
#define RX (PROT_READ | PROT_EXEC)

/* The words that calls go by; a page that is sometimes a hole lies behind. */
static uintptr_t words[2 * PAGE / sizeof(uintptr_t)]
    __attribute__((aligned(PAGE), used));
static volatile int faults;
static sigjmp_buf out;

static void
on_fault(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)si;
	(void)uc;
	faults++;
	siglongjmp(out, 1);
}

/* How often does the call fault: once or not at all? */
static int
faults_at(int (*f)(void))
{
	int was = faults;

	if (sigsetjmp(out, 1) == 0)
		f();
	return faults - was;
}

/* They become writable, by a call that fails at the hole behind them. */
static void
check_words(void)
{
	CHECK(munmap(words + PAGE / sizeof *words, PAGE) == 0);
	for (int i = 0; i < 20; i++) {
		CHECK(mprotect(words, 2 * PAGE, RW) < 0 && errno == ENOMEM);
		words[0] = (uintptr_t)one;
		CHECK(mprotect(words, PAGE, PROT_READ) == 0);
		for (int k = 0; k < 3; k++)
			SAME(by_word(), 1);
		CHECK(mprotect(words, 2 * PAGE, RW) < 0);
		words[0] = (uintptr_t)two;
		SAME(by_word(), 2);
	}
}

/* What cannot be read, or is empty, leads nowhere. */
static void
check_unreadable(void)
{
	CHECK(mprotect(words, PAGE, PROT_READ) == 0);
	SAME(by_word(), 2);
	CHECK(mprotect(words, PAGE, PROT_NONE) == 0);
	SAME(faults_at(by_word), 1);
	SAME(faults_at(by_word), 1);
	CHECK(mprotect(words, PAGE, PROT_READ) == 0);
	SAME(by_word(), 2);
	if (madvise(words, PAGE, GUARD_INSTALL) == 0) {
		SAME(faults_at(by_word), 1);
		CHECK(madvise(words, PAGE, GUARD_REMOVE) == 0);
		SAME(faults_at(by_word), 1);
	}
	CHECK(mmap(words, PAGE, RW, MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS,
	    -1, 0) == words);
	words[0] = (uintptr_t)one;
	CHECK(mprotect(words, PAGE, PROT_READ) == 0);
	SAME(by_word(), 1);
	CHECK(madvise(words, PAGE, MADV_DONTNEED) == 0);
	SAME(faults_at(by_word), 1);
}

/* mov $i, %eax; ret */
static void
put_code(unsigned char *p, int i)
{
	memcpy(p, "\xb8\x00\x00\x00\x00\xc3", 6);
	memcpy(p + 1, &i, sizeof i);
}

static void
check_code(void)
{
	unsigned char *p = map_pages(2, RW);
	int (*f)(void) = (int (*)(void))p;

	CHECK(munmap(p + PAGE, PAGE) == 0);
	for (int i = 0; i < 20; i++) {
		CHECK(mprotect(p, PAGE, RW) == 0);
		put_code(p, i);
		CHECK(mprotect(p, PAGE, RX) == 0);
		SAME(f(), i);
		CHECK(mprotect(p, 2 * PAGE, RW | PROT_EXEC) < 0);
		for (int k = 0; k < 20; k++) {
			put_code(p, i + k);
			SAME(f(), i + k);
		}
	}
	CHECK(mprotect(p, PAGE, RX) == 0);
	SAME(f(), 38);
	if (madvise(p, PAGE, GUARD_INSTALL) == 0) {
		SAME(faults_at(f), 1);
		CHECK(madvise(p, PAGE, GUARD_REMOVE) == 0);
		SAME(faults_at(f), 1);	/* it is empty: add %al, (%rax) */
	}
}

int
main(void)
{
	handle(SIGSEGV, on_fault, 0);
	check_words();
	check_unreadable();
	check_code();
	return victim_ok();
}
