#!/bin/sh
# t/0111-victims-trace.t in every mode.
ALL_MODES=1
UNTIL=${UNTIL_LONGEST:-}
. t/0111-victims-trace.t
