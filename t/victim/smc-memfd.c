/*
 * smc-memfd - private mappings of a file in memory, of code and of a word of
 * linkage, which change when the file is written: by a mapping that is shared,
 * by a call, by another process
 */
#include "victim.h"
#include "byword.h"

static uintptr_t words[PAGE / sizeof(uintptr_t)]
    __attribute__((aligned(PAGE), used));

static unsigned char *shared;

/* mov $i, %eax; ret, and the word */
static void
put(int i)
{
	uintptr_t f = (uintptr_t)(i % 2 ? one : two);

	memcpy(shared, "\xb8\x00\x00\x00\x00\xc3", 6);
	memcpy(shared + 1, &i, sizeof i);
	memcpy(shared + PAGE, &f, sizeof f);
}

static void
put_by_child(int i)
{
	pid_t pid = fork();
	int st;

	CHECK(pid >= 0);
	if (pid == 0) {
		put(i);
		_exit(0);
	}
	CHECK(waitpid(pid, &st, 0) == pid && st == 0);
}

int
main(void)
{
	int fd = memfd_create("code", 0);
	unsigned char *code;

	CHECK(fd >= 0 && ftruncate(fd, 2 * PAGE) == 0);
	shared = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd,
	    0);
	CHECK(shared != (void *)MAP_FAILED);
	put(0);
	code = mmap(NULL, PAGE, PROT_READ | PROT_EXEC, MAP_PRIVATE, fd, 0);
	CHECK(code != (void *)MAP_FAILED);
	CHECK(mmap(words, PAGE, PROT_READ, MAP_PRIVATE | MAP_FIXED, fd,
	    PAGE) == words);
	for (int i = 0; i < 300; i++) {
		if (i % 50 == 49)
			put_by_child(i);
		else
			put(i);
		for (int k = 0; k < 3; k++) {
			SAME(((int (*)(void))code)(), i);
			SAME(by_word(), i % 2 ? 1 : 2);
		}
	}
	return victim_ok();
}
