/*
 * locks - eleven instructions that read and write memory, of which eight lock
 * the bus, three times; and getppid five times, without libc
 */
static int n;
static long long wide[2] __attribute__((aligned(16)));

__attribute__((noinline)) static void
locked(void)
{
	__asm__ volatile(
	    "lock incl %0\n\t"
	    "xchgl %%ecx, %0\n\t"
	    "lock cmpxchgl %%ecx, %0\n\t"
	    "lock xaddl %%ecx, %0\n\t"
	    "cmpxchg8b %1\n\t"
	    "lock cmpxchg8b %1\n\t"
	    "lock orl $0, %0\n\t"
	    "lock btsl $3, %0\n\t"
	    "incl %0\n\t"
	    "cmpxchgl %%ecx, %0\n\t"
	    "xaddl %%ecx, %0\n\t"
	    "xchgl %%ecx, %%edx"
	    : "+m"(n), "+m"(wide) : : "eax", "ebx", "ecx", "edx", "memory");
}

__attribute__((noinline)) static long
call(long nr, long a)
{
	__asm__ volatile("syscall" : "+a"(nr) : "D"(a) : "rcx", "r11",
	    "memory");
	return nr;
}

void
_start(void)
{
	for (int i = 0; i < 3; i++)
		locked();
	for (int i = 0; i < 5; i++)
		call(110, 0);
	call(60, 0);
}
