#!/bin/sh
# objmap: M and U lines, link-time addresses

. t/lib.sh

O=$TB/objmap

check "own mappings" "$O" self
same "main's link-time address is nm's" \
    "$(nm "$O" | sed -n 's/^0*\([0-9a-f]*\) T main$/\1/p')" \
    "$(cut -d' ' -f5 "$T/out")"

asked() { # text, expected, lines from standard input
	timeout 10 "$O" >"$T/o" 2>&1
	same "$1" "$2" "$(sed '$d' "$T/o")"
}

asked "no file: from start and offset" "1000 0 /none raw 500
1fff 0 /none raw 14ff
2000 nothing
fff nothing" <<'E'
M 1 1000 2000 500 /none
? 1000
? 1fff
? 2000
? fff
E

asked "a hole in a mapping" "1fff 0 [vdso] raw fff
2000 nothing
2fff nothing
3000 0 [vdso] raw 2000" <<'E'
M 1 1000 4000 0 [vdso]
U 2000 3000
? 1fff
? 2000
? 2fff
? 3000
E

asked "unmapping several, cutting the first and the last" \
    "17ff 0 /a raw 7ff
1800 nothing
2800 nothing
37ff nothing
3800 2 /c raw 800" <<'E'
M 1 1000 2000 0 /a
M 2 2000 3000 0 /b
M ab 3000 4000 0 /c
U 1800 3800
? 17ff
? 1800
? 2800
? 37ff
? 3800
E

asked "mapped over another" "1000 0 /a raw 0
2000 1 /b raw 0
2fff 1 /b raw fff
3000 0 /a raw 2000" <<'E'
M 1 1000 4000 0 /a
M 2 2000 3000 0 /b
? 1000
? 2000
? 2fff
? 3000
E

asked "everything away, mapped again" "1000 nothing
5000 0 /a raw 0" <<'E'
M 1 1000 4000 0 /a
U 0 ffffffffffffffff
? 1000
M 7 5000 6000 0 /a
? 5000
E

asked "escapes" "1000 0 /a b\\c raw 0" <<'E'
M 1 1000 2000 0 /a b\134c
? 1000
E

asked "refused" "$(yes refused | head -n 14)" <<'E'
M
M 
M 1
M 1 1000 2000 0
M 1 1000 2000 0 
M 1 2000 1000 0 /a
M 1 1000 1000 0 /a
M x 1000 2000 0 /a
M 1 1000 2000 0 /a\1
M 1 1000 2000 0 /a\999
M 1 10000000000000000 2000 0 /a
M 1 1G00 2000 0 /a
U 1000
U 1000 2000 x
E

# An object of which two segments share a page of the file: asked at the
# seam, the executable one answers.
cat >"$T/seam.c" <<'E'
int data[4] = { 1, 2, 3, 4 };
int f(void) { return data[1]; }
E
check "linked without page breaks" ${CC:-gcc} -shared -fPIC -nostdlib \
    -Wl,-z,noseparate-code -Wl,-z,max-page-size=4096 -o "$T/seam.so" \
    "$T/seam.c"
link=$(nm "$T/seam.so" | sed -n 's/^0*\([0-9a-f]*\) T f$/\1/p')
printf 'M 1 7000000 7002000 0 %s\n? 7000%s\n' "$T/seam.so" "$link" | "$O" \
    >"$T/o"
same "the executable segment" "$link" "$(sed -n '1s/.* //p' "$T/o")"
same "readable" elf "$(cut -d' ' -f4 "$T/o" | head -n 1)"

done_testing
