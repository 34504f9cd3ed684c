#!/bin/sh
# t/0720-contexts-of-trace.t on large programs
LARGE=$PWD/t/long/contexts.sh LIMIT=300 TRIES=6
. t/0720-contexts-of-trace.t
