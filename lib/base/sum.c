/*
 * sum - the message of sum.h
 */
#include "sum.h"

#include "prog.h"

void
sum_beyond(void)
{
	die("the sum of the costs is beyond 64 bits");
}
