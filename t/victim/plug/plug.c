/*
 * plug - the library that smc-dlopen opens; built twice, with another BASE
 */
int plug_constructed;
int plug_value(int x);

__attribute__((constructor)) static void
construct(void)
{
	plug_constructed++;
}

int
plug_value(int x)
{
	/* The second one's code is longer. */
	if (BASE == 2000)
		__asm__ volatile(".rept 50; nop; .endr");
	return BASE + x;
}
