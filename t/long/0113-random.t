#!/bin/sh
# More seeds of t/0113-random.t.
RANDOM_FROM=${RANDOM_FROM:-4} RANDOM_TO=${RANDOM_TO:-24}
UNTIL=${UNTIL_LONGEST:-}
export RANDOM_FROM RANDOM_TO
. t/0113-random.t
