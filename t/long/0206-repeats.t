#!/bin/sh
# many more streams of repeats, and longer ones, for all readers: see
# t/0206-repeats.t

SEEDS=${SEEDS:-"21 22 23 24 25 26 27 28 29 30"}
LONGEST=${LONGEST:-400000}
LIMIT=${LIMIT:-300}
DEEP=1
export SEEDS LONGEST LIMIT DEEP
exec sh t/0206-repeats.t
