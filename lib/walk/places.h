/*
 * places.h - whether a thread has a frame at a place of the stack
 *
 * Nothing is counted until anyone asks.
 */
#ifndef PLACES_H
#define PLACES_H

#include "callwalk.h"

/* A frame is pushed at sp; one that was there is gone. */
void places_add(struct walk_thread *, uint64_t sp);
void places_drop(struct walk_thread *, uint64_t sp);
/* Frame i moves by so many bytes, modulo 2^64. */
void places_move(struct walk_thread *, size_t i, uint64_t by);
/* May a frame be at sp?  false: none is. */
bool places_have(struct walk_thread *, uint64_t sp);

#endif
