/*
 * strides - reads, writes and modifies arrays in several ways, without libc:
 * each run of it makes the same references
 */
static unsigned char a[100000], b[20000];

__attribute__((noinline)) static int
sum(int step)
{
	int s = 0;

	for (int i = 0; i < (int)sizeof a; i += step)
		s += a[i];
	return s;
}

__attribute__((noinline)) static void
bump(int from, int step)
{
	for (int i = from; i >= 0 && i < (int)sizeof a; i += step)
		a[i]++;
}

__attribute__((noinline)) static void
copy(unsigned char *to, const unsigned char *from, long n)
{
	__asm__ volatile("rep movsb" : "+D"(to), "+S"(from), "+c"(n) : :
	    "memory");
}

/* Calls itself with a frame of more than a line. */
__attribute__((noinline)) static int
deep(int n)
{
	volatile int here[40];

	here[n % 40] = n;
	return n == 0 ? 0 : deep(n - 1) + here[n % 40];
}

void
_start(void)
{
	int s = sum(64) + sum(7);

	bump(0, 64);
	bump(99999, -100);
	copy(b, a + 1, 5000);
	copy(b + 3001, a + 60, 7001);
	s += deep(200) + sum(200);
	bump(0, 3000);
	s += sum(128);
	__asm__ volatile("syscall" : : "a"(60), "D"(s & 0) : "memory");
	__builtin_unreachable();
}
