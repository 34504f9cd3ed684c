/*
 * smc-words - jumps and calls by words that cannot be written, as linkage has
 * them: made writable and written, mapped anew, written through /proc/self/mem,
 * while another thread goes by them; and in single steps
 */
#include <fcntl.h>
#include <pthread.h>

#include "victim.h"

static uintptr_t words[PAGE / sizeof(uintptr_t)]
    __attribute__((aligned(PAGE), used));
static volatile int traps;
static int told;			/* as of this change */
static int fd, mem;

int by_call(void), by_stub(void), by_tail(void), by_jump(void);
void steps(void);
__asm__(
"	.text\n"
"stub:	endbr64\n"
"	jmp *words(%rip)\n"
"plain:	jmp *words(%rip)\n"
"	.globl by_call, by_stub, by_tail, by_jump, steps\n"
"by_call:\n"
"	push %rbx\n"
"	call *words(%rip)\n"
"	pop %rbx\n"
"	ret\n"
"by_stub:\n"
"	push %rbx\n"
"	call stub\n"
"	mov %eax, %ebx\n"
"	call plain\n"
"	cmp %eax, %ebx\n"
"	cmova %ebx, %eax\n"
"	pop %rbx\n"
"	ret\n"
"by_tail:\n"
"	xor %eax, %eax\n"
"	jmp plain\n"
"by_jump:\n"
"	jmp stub\n"
"steps:	pushf\n"
"	orl $0x100, (%rsp)\n"
"	popf\n"
"	call plain\n"			/* call, jmp, mov, ret */
"	call stub\n"			/* one more */
"	call *words(%rip)\n"		/* call, mov, ret */
"	call by_tail\n"			/* call, xor, jmp, jmp, mov, ret */
"	call by_jump\n"			/* call, jmp, endbr64, jmp, mov, ret */
"	pushf\n"
"	andl $~0x100, (%rsp)\n"
"	popf\n"				/* three */
"	ret\n"
);

/* 256 functions; number i returns i */
__asm__(
"	.balign 16\n"
"functions:\n"
"	.set i, 0\n"
"	.rept 256\n"
"	.balign 16\n"
"	mov $i, %eax\n"
"	ret\n"
"	.set i, i + 1\n"
"	.endr\n"
);
extern char functions[];

static uintptr_t
function(int i)
{
	return (uintptr_t)functions + 16 * (uintptr_t)i;
}

static void
map_words(int flags, int file, off_t off)
{
	CHECK(mmap(words, PAGE, PROT_READ | PROT_WRITE, MAP_FIXED |
	    MAP_PRIVATE | flags, file, off) == words);
}

/* From here on the words lead to function i. */
static void
change(int i)
{
	uintptr_t *other, f = function(i);

	switch (i % 6) {
	case 0:
		CHECK(mprotect(words, PAGE, PROT_READ | PROT_WRITE) == 0);
		break;
	case 1:
		map_words(MAP_ANONYMOUS, -1, 0);
		break;
	case 2:
		other = map_pages(1, PROT_READ | PROT_WRITE);
		*other = f;
		CHECK(mprotect(other, PAGE, PROT_READ) == 0);
		CHECK(mremap(other, PAGE, PAGE, MREMAP_MAYMOVE | MREMAP_FIXED,
		    words) == words);
		return;
	case 3:
		if (mem >= 0 && pwrite(mem, &f, sizeof f,
		    (off_t)(uintptr_t)words) == sizeof f)
			return;
		CHECK(mprotect(words, PAGE, PROT_READ | PROT_WRITE) == 0);
		break;
	case 4:
		CHECK(pwrite(fd, &f, sizeof f, 0) == sizeof f);
		map_words(0, fd, 0);
		break;
	default:
		CHECK(munmap(words, PAGE) == 0);
		map_words(MAP_ANONYMOUS, -1, 0);
		break;
	}
	*words = f;
	CHECK(mprotect(words, PAGE, PROT_READ) == 0);
}

static void
check_all(int i)
{
	SAME(by_call(), i);
	SAME(by_stub(), i);
	SAME(by_tail(), i);
	SAME(by_jump(), i);
}

/* Words that can be written, without any call. */
static void
check_writable(void)
{
	CHECK(mprotect(words, PAGE, PROT_READ | PROT_WRITE) == 0);
	for (int i = 0; i < 100; i++) {
		*words = function(i);
		check_all(i);
	}
	*words = function(0);
	CHECK(mprotect(words, PAGE, PROT_READ) == 0);
}

/* Of a mapping that is there all the time. */
static void *
follow(void *arg)
{
	int last, now;

	do {
		last = __atomic_load_n(&told, __ATOMIC_ACQUIRE);
		now = by_stub();
		CHECK(now >= last);
	} while (now < 255);
	return arg;
}

static void
check_thread(void)
{
	pthread_t t;

	CHECK(mprotect(words, PAGE, PROT_READ | PROT_WRITE) == 0);
	*words = function(0);
	CHECK(mprotect(words, PAGE, PROT_READ) == 0);
	CHECK(pthread_create(&t, NULL, follow, NULL) == 0);
	for (int i = 1; i < 256; i++) {
		CHECK(mprotect(words, PAGE, PROT_READ | PROT_WRITE) == 0);
		__atomic_store_n(words, function(i), __ATOMIC_RELAXED);
		CHECK(mprotect(words, PAGE, PROT_READ) == 0);
		__atomic_store_n(&told, i, __ATOMIC_RELEASE);
		SAME(by_call(), i);
	}
	CHECK(pthread_join(t, NULL) == 0);
}

static void
on_trap(int sig, siginfo_t *si, void *uc)
{
	(void)sig;
	(void)si;
	(void)uc;
	traps++;
}

int
main(void)
{
	fd = memfd_create("words", 0);
	CHECK(fd >= 0 && ftruncate(fd, PAGE) == 0);
	mem = open("/proc/self/mem", O_RDWR);
	handle(SIGTRAP, on_trap, 0);
	for (int i = 0; i < 256; i++) {
		change(i);
		for (int k = 0; k < 3; k++)
			check_all(i);
	}
	traps = 0;
	steps();
	SAME(traps, 4 + 5 + 3 + 6 + 6 + 3);
	check_writable();
	check_thread();
	return victim_ok();
}
