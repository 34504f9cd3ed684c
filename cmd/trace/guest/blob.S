/* The runtime's bytes, as the linker script made them. */
	.section .rodata
	.balign 16
	.globl runtime_blob, runtime_blob_end
runtime_blob:
	.incbin RUNTIME
runtime_blob_end:
	.section .note.GNU-stack, "", @progbits
