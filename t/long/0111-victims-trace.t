#!/bin/sh
# t/0111-victims-trace.t in every mode.
ALL_MODES=1
. t/0111-victims-trace.t
