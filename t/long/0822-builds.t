#!/bin/sh
# builds: with SOURCE_DATE_EPOCH in two folders, by clang, and what musl's
# compiler can build

. t/lib.sh

git rev-parse HEAD >/dev/null 2>&1 || skip_all "no git, so no list of files"
MAKE=${MAKE:-make}
LIMIT=1200

# copy FOLDER: the tree
copy() {
	mkdir -p "$1" && git ls-files -z | tar -c --null -T - | tar -x -C "$1"
}
build() { # FOLDER ARG...: quietly, with nothing of ours
	dir=$1
	shift
	(cd "$dir" && env -u MAKEFLAGS -u MAKELEVEL -u MFLAGS \
	    "$MAKE" -s -j2 "$@")
}
sums() { (cd "$1/build/bin" && sha256sum -- *); }

# --- the same bytes
copy "$T/one"
copy "$T/another/much-longer-name"
export SOURCE_DATE_EPOCH=1700000000
check "a build" build "$T/one" all
sleep 1
check "one in another folder" build "$T/another/much-longer-name" all
sums "$T/one" >"$T/sums1"
sums "$T/another/much-longer-name" >"$T/sums2"
samefile "have the same bytes" "$T/sums1" "$T/sums2"
same "which name neither folder" "" \
    "$(grep -l -F "$T" "$T"/one/build/bin/* | head)"
if command -v dpkg-deb >/dev/null; then
	build "$T/one" deb >/dev/null 2>&1
	build "$T/another/much-longer-name" deb >/dev/null 2>&1
	check "and so do their packages" cmp "$T"/one/build/quern_*.deb \
	    "$T"/another/much-longer-name/build/quern_*.deb
else
	skip "and so do their packages" "no dpkg-deb"
fi
unset SOURCE_DATE_EPOCH
rm -rf "$T/another"

# outputs BIN: what a run costs, by programs of this folder
outputs() {
	"$1/trace" --clear-env --vdso=no --cpu=v2 /bin/ls / >"$T/ev" 2>/dev/null
	for p in "cachesim --I1=4096,2,64 --D1=4096,2,64 --LL=65536,4,64" \
	    branchsim callgraph icount; do
		"$1/"$p "$T/ev" | "$1/fmt-cachegrind" | sed '/^cmd/d'
	done
}
outputs "$B" >"$T/want"

# --- clang
if command -v clang >/dev/null; then
	rm -rf "$T/one/build"
	check "clang builds all, and what tests need" build "$T/one" tests CC=clang
	same "without a word" "" "$(cat "$T/err")"
	outputs "$T/one/build/bin" >"$T/got"
	samefile "with the same results" "$T/want" "$T/got"
else
	skip "clang" "not installed"
fi

# --- musl: all is compiled; what needs no library that knows glibc is linked
if command -v musl-gcc >/dev/null; then
	inc=$T/inc
	mkdir "$inc" "$T/musl"
	for h in zlib.h zconf.h zstd.h zstd_errors.h libdeflate.h gelf.h libelf.h elf.h dwarf.h \
	    elfutils Zydis Zycore htslib libiberty jansson.h \
	    jansson_config.h pcre2.h protobuf-c linux asm asm-generic; do
		for d in /usr/include /usr/include/x86_64-linux-gnu; do
			[ ! -e $d/$h ] || ln -sf $d/$h "$inc/"
		done
	done
	pb=${B%/bin}/cmd/fmt-pprof
	bad=
	for f in lib/*/*.c cmd/*.c cmd/*/*.c cmd/*/hotloop.S \
	    cmd/trace/*/*.c; do
		case $f in
		cmd/trace/runtime/*) continue ;;	# has no libc
		cmd/*/*) own=${f#cmd/} own=-Icmd/${own%%/*} ;;
		*) own= ;;
		esac
		musl-gcc -O1 -Wall -std=gnu11 -D_GNU_SOURCE -Ilib $own "-I$pb" \
		    -idirafter "$inc" -ffunction-sections -c \
		    -o "$T/musl/$(echo "$f" | tr / _).o" "$f" \
		    >"$T/said" 2>&1 && [ ! -s "$T/said" ] ||
		    bad="$bad$(head -n 3 "$T/said")"
	done
	same "musl compiles all" "" "$bad"
	ar rcs "$T/musl/lib.a" "$T"/musl/lib_*.o
	libs=/usr/lib/x86_64-linux-gnu
	bad=
	for p in branchsim cachesim fmt-svg fmt-xray icount merge; do
		musl-gcc -no-pie -Wl,--gc-sections -o "$T/musl/$p" \
		    "$T"/musl/cmd_$p*.o "$T/musl/lib.a" $libs/libdeflate.a \
		    $libs/libz.a $libs/libzstd.a $libs/libelf.a -lm >"$T/said" 2>&1 ||
		    bad="$bad $p: $(grep -o 'undefined.*' "$T/said" | head -n 1)"
	done
	same "and links what needs no DWARF" "" "$bad"
	"$B/trace" -o "$T/ev" --clear-env /bin/ls / >/dev/null
	for p in branchsim cachesim icount; do
		"$B/$p" "$T/ev" >"$T/want"
		"$T/musl/$p" "$T/ev" >"$T/got"
		samefile "$p: the same result" "$T/want" "$T/got"
	done
	echo 'main;f 3' >"$T/stacks"
	"$B/fmt-svg" "$T/stacks" >"$T/want"
	"$T/musl/fmt-svg" "$T/stacks" >"$T/got"
	samefile "fmt-svg: the same result" "$T/want" "$T/got"
else
	skip "musl" "no musl-gcc (musl-tools)"
fi

done_testing
