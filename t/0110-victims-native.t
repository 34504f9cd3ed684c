#!/bin/sh
# Every victim passes natively: what fails under trace is trace's.
. t/lib.sh

"$TB/victims" -w "$T" t/victim "$TB/victim"
