/*
 * exact-kill - the program's last act is to send itself SIGKILL; all that it
 * did is counted, that call too
 * expect: signal 9
 */
#include "asm/exact.h"
_start:
	mov	ecx, 100
1:	add	rax, rcx
	dec	ecx
	jnz	1b
	syscall_ 39
	mov	edi, eax
	mov	esi, 9
	syscall_ 62
	ud2
