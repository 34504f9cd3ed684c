/*
 * axis.h - the steps of an axis; needs -lm
 */
#ifndef AXIS_H
#define AXIS_H

/* 1, 2 or 5 times a power of ten: some `few' of them make the span. */
double axis_step(double span, int few);

#endif
