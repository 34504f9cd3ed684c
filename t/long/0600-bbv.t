#!/bin/sh
# t/0600-bbv.t with more threads than a process may have files.
THREADS=5000
. t/0600-bbv.t
