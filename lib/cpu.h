/*
 * cpu.h - what the processor can do
 *
 * libc asks the processor when a program starts.  The compiler's own answers
 * ask once more, in each program that looks at one: a virtual machine takes 10
 * to 20 us for each cpuid, 125 us for all.  So both names of a feature are
 * given: cpu_has(AVX512F, "avx512f").  libc shifts 1 into the sign, which
 * sanitizers refuse: gcc tells by a macro that they are there, clang by a
 * feature.
 */
#ifndef CPU_H
#define CPU_H

#include <stdbool.h>

#if defined __SANITIZE_ADDRESS__
#define CPU_SANITIZED 1
#elif defined __has_feature
#define CPU_SANITIZED __has_feature(address_sanitizer)
#else
#define CPU_SANITIZED 0
#endif

#if defined __has_include
#if __has_include(<sys/platform/x86.h>) && !CPU_SANITIZED
#include <sys/platform/x86.h>
#define cpu_has(libc, compiler) CPU_FEATURE_ACTIVE(libc)
#endif
#endif

#ifndef cpu_has
#define cpu_has(libc, compiler) __builtin_cpu_supports(compiler)
#endif

/* Does the processor name Intel as its maker? Asked once. */
bool cpu_is_intel(void);

/*
 * Does a near branch with the prefix 66 have a displacement of 16 bits, and
 * lead into the first 64 KB, as on AMD's? Intel's ignore the prefix.
 */
bool cpu_has_short_branches(void);
/* Is pext one operation, not many, as in AMD's before Zen 3? */
bool cpu_fast_pext(void);

/*
 * What this thread wrote as code by another address is what it runs from here
 * on.
 */
void cpu_sync_code(void);

#endif
