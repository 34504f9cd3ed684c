/*
 * demo - add up a matrix twice: along its rows, and along its columns
 *
 * Both functions do the same work. Only their caches know the difference:
 * look at the misses in the margin.
 */
#include <stdio.h>

enum { N = 600 };

static _Alignas(64) double cell[N][N];	/* lines of a cache */

__attribute__((noinline)) static double
by_rows(void)
{
	double sum = 0;

	for (int row = 0; row < N; row++)
		for (int col = 0; col < N; col++)
			sum += cell[row][col];
	return sum;
}

__attribute__((noinline)) static double
by_columns(void)
{
	double sum = 0;

	for (int col = 0; col < N; col++)
		for (int row = 0; row < N; row++)
			sum += cell[row][col];
	return sum;
}

int
main(void)
{
	for (int row = 0; row < N; row++)
		for (int col = 0; col < N; col++)
			cell[row][col] = row ^ col;
	printf("%.0f %.0f\n", by_rows(), by_columns());
	return 0;
}
