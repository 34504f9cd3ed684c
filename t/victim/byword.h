/*
 * byword.h - by_word calls the function that words[0] points to: one, which
 * returns 1, or two, which returns 2
 *
 * Who includes it defines words.
 */
extern char one[], two[];

int by_word(void);
__asm__(
"	.text\n"
"	.globl by_word\n"
"by_word:\n"
"	push %rbx\n"
"	call *words(%rip)\n"
"	pop %rbx\n"
"	ret\n"
"one:	mov $1, %eax\n"
"	ret\n"
"two:	mov $2, %eax\n"
"	ret\n"
);
