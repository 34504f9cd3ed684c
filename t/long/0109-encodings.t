#!/bin/sh
# More of t/0109-encodings.t.
EVERY=${EVERY:-47} REST=${REST:-23}
export EVERY REST
. t/0109-encodings.t
