#!/bin/sh
# The tree's layers: scripts/layers finds no arrow that they do not allow and
# no circle of files; and finds both where they are put in.
. t/lib.sh

build=${B%/bin}
check "layers and circles" scripts/layers "$build"

# objects of our own, in a tree beside: base calls cache, and a circle in code
CC=${CC:-gcc}
mkdir -p "$T/top/scripts" "$T/top/build" || exit 99
cp scripts/layers scripts/layers.conf "$T/top/scripts/"
object() { # path, text: a source and its object
	mkdir -p "$T/top/${1%/*}" "$T/top/build/${1%/*}"
	echo "$2" >"$T/top/$1.c"
	$CC -c -o "$T/top/build/$1.o" "$T/top/$1.c"
}
object lib/base/one 'int one(void) { return 1; }'
object cmd/trace/base/low 'int low(void) { return 1; }'
object cmd/trace/cache/high 'int low(void); int high(void) { return low(); }'
status 0 "arrows down are allowed" "$T/top/scripts/layers"
object cmd/trace/base/up 'int high(void); int up(void) { return high(); }'
status 1 "a call upward is not" "$T/top/scripts/layers"
check "and is named" grep -q \
    'cmd/trace/base/up may not need cmd/trace/cache/high: high' "$T/out"
rm "$T/top/cmd/trace/base/up.c"
status 0 "an object without its source does not count" "$T/top/scripts/layers"
object cmd/trace/base/data 'extern int var; int *data(void) { return &var; }'
object cmd/trace/cache/var 'int var = 1;'
status 1 "nor a variable of above" "$T/top/scripts/layers"
rm "$T/top/cmd/trace/base/data.c"
object cmd/trace/code/a 'int b(void); int a(void) { return b(); }'
object cmd/trace/code/b 'int c(void); int b(void) { return c(); }'
object cmd/trace/code/c 'int a(void); int c(void) { return a(); }'
status 1 "a circle of files is found" "$T/top/scripts/layers"
check "and told" grep -q 'a circle of 3 files:' "$T/out"
echo 'circle cmd/trace/code' >>"$T/top/scripts/layers.conf"
status 0 "one with a reason is allowed" "$T/top/scripts/layers"
object lib/sym/up 'int e(void); int up2(void) { return e(); }'
object lib/ev/e 'int e(void) { return 1; }'
status 1 "lib's folders have layers too" "$T/top/scripts/layers"
status 2 "no objects" "$T/top/scripts/layers" "$T"

done_testing
