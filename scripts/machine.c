/*
 * machine - does the compiler build for what quern runs on?
 *
 * It compiles to nothing, before all else.  cmd/HACKING tells which files know
 * the processor.
 */
#if !defined __x86_64__ || !defined __LP64__ || !defined __linux__
#error "quern runs on Linux on x86-64 only: see cmd/HACKING"
#endif
