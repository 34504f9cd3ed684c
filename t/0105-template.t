#!/bin/sh
# Instructions that trace takes for others that it saw are what a full decode
# makes of them: code of many kinds, at every offset, and with other numbers.
. t/lib.sh

status 0 "trace itself, from every byte" "$TB/template" "$B/trace"
ok "most of it is instructions" \
    "$(awk '{ print !($1 > 200000) }' "$T/out")"
status 0 "cachesim, with its vectors" "$TB/template" "$B/cachesim"

done_testing
