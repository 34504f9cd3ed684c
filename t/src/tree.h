/* tree.h - what is inlined into tree.c from another file */
static inline int
third(int x)
{
	return x / 3;
}

static inline int
mix(int x)
{
	int y = x ^ third(x);

	if (y & 1)
		y += 5;
	return y;
}
