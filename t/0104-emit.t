#!/bin/sh
# What emit.h writes is, to another decoder, what its names say; and all of it
# together is no longer than it was.
. t/lib.sh

status 0 "all registers, displacements and numbers" "$TB/emit"
same "none is another, all are as long as they were" \
    "197713 instructions, 1291807 bytes, 0 wrong" "$(cat "$T/out")"
done_testing
