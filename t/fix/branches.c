/*
 * branches - a program without a C library, full of branches
 *
 * For branchsim's judge: the same instructions run whoever watches. Built with
 * -nostdlib -static; no locked instructions, which Valgrind counts as branches.
 */
static unsigned long seed = 88172645463325252;
static unsigned char from[512], to[512];
static volatile unsigned long sum;

static unsigned
rnd(void)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 20);
}

static __attribute__((noinline)) int
fib(int n)
{
	return n < 2 ? n : fib(n - 1) + fib(n - 2);
}

static __attribute__((noinline)) int one(int x) { return x + 1; }
static __attribute__((noinline)) int two(int x) { return x * 2; }
static __attribute__((noinline)) int three(int x) { return x ^ 3; }

static int (*const calls[])(int) = { one, two, three, fib };

/* A jump through a table. */
static __attribute__((noinline)) int
choose(unsigned x)
{
	switch (x % 9) {
	case 0: return 17;
	case 1: return one((int)x);
	case 2: return -3;
	case 3: return two(5);
	case 4: return (int)(x >> 3);
	case 5: return three(9);
	case 6: return (int)(x * x);
	case 7: return 1;
	}
	return 0;
}

static void
strings(unsigned n)
{
	void *d = to, *s = from;
	unsigned long c = n;

	__asm__ volatile("rep movsb" : "+D"(d), "+S"(s), "+c"(c) : : "memory");
	d = to;
	c = n / 8;
	__asm__ volatile("rep stosq" : "+D"(d), "+c"(c) : "a"(0L) : "memory");
	d = to, s = from, c = n % 7 + 1;
	from[n % 5] = (unsigned char)n;
	__asm__ volatile("repe cmpsb" : "+D"(d), "+S"(s), "+c"(c) : :
	    "memory", "cc");
	d = from, c = 400;
	from[200 + n % 100] = 0xee;
	__asm__ volatile("repne scasb" : "+D"(d), "+c"(c) : "a"(0xee) :
	    "memory", "cc");
	from[200 + n % 100] = 0;
}

static void
counted(unsigned long n)
{
	__asm__ volatile("jrcxz 2f\n1: add $3, %1\nloop 1b\n2:"
	    : "+c"(n), "+r"(seed) : : "cc");
}

void _start(void);

void
_start(void)
{
	for (unsigned i = 0; i < 3000; i++) {
		unsigned x = rnd();

		if (x % 3 == 0)
			sum += (unsigned long)choose(x);
		if (x % 16 < 3)
			sum += (unsigned long)calls[x % 4]((int)(x % 7));
		if ((i & 7) == 3)
			counted(x % 5);
		if (x % 64 == 0)
			strings(x % 300);
		for (unsigned k = 0; k < x % 6; k++)
			sum += k;
	}
	__asm__ volatile("syscall" : : "a"(60), "D"(0));
	__builtin_unreachable();
}
