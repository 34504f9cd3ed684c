/*
 * axis - the steps of an axis
 */
#include "axis.h"

#include <math.h>

double
axis_step(double span, int few)
{
	double step = pow(10, floor(log10(span / few)));

	if (span / step > 5 * few)
		return 10 * step;
	if (span / step > 2 * few)
		return 5 * step;
	return span / step > few ? 2 * step : step;
}
