/*
 * evwway - which ways to make execution lines this processor can run
 */
#include "cpu.h"
#include "evwlanes.h"

#ifdef __x86_64__

static bool
has_avx512(void)
{
	return cpu_has(AVX512_VBMI2, "avx512vbmi2") &&
	    cpu_has(AVX512_VBMI, "avx512vbmi") &&
	    cpu_has(AVX512CD, "avx512cd") &&
	    cpu_has(AVX512BW, "avx512bw") &&
	    cpu_has(AVX512DQ, "avx512dq") &&
	    cpu_has(AVX512VL, "avx512vl") &&
	    cpu_has(BMI2, "bmi2");
}

static bool
has_avx2(void)
{
	return cpu_has(AVX2, "avx2") && cpu_has(BMI2, "bmi2") &&
	    cpu_has(POPCNT, "popcnt");
}

static bool
can_run(unsigned way)
{
	return way == 0 || (way == 1 ? has_avx2() : has_avx512());
}

static const struct {
	evwrec_fn *many, *single;
} ways[] = {
	{ evwrec_plain, evwrec_single },
	{ evwavx2_lanes, evwavx2_single },
	{ evwavx512_lanes, evwavx512_single },
};

evwrec_fn *
evwrec_way(unsigned way)
{
	return can_run(way) ? ways[way].many : NULL;
}

evwrec_fn *
evwrec_single_way(unsigned way)
{
	return can_run(way) ? ways[way].single : NULL;
}

#else

evwrec_fn *
evwrec_way(unsigned way)
{
	return way == 0 ? evwrec_plain : NULL;
}

evwrec_fn *
evwrec_single_way(unsigned way)
{
	return way == 0 ? evwrec_single : NULL;
}

#endif
