#!/bin/sh
# t/0112-exact.t in every mode.
ALL_MODES=1
. t/0112-exact.t
