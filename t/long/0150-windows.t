#!/bin/sh
# t/0150-windows.t in every mode.
ALL_MODES=1
. t/0150-windows.t
