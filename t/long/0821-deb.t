#!/bin/sh
# make deb: lintian, installed and removed; the same bytes twice

. t/lib.sh

MAKE=${MAKE:-make}
build=${B%/bin}
build=${build#"$PWD"/}
san=
case $build in
*/san) san=1 ;;
esac
m() { "$MAKE" -s "SAN=$san" "$@"; }
progs=$(ls "$B")
LIMIT=300

[ -z "$san" ] || skip_all "not of programs with sanitizers"
command -v dpkg-deb >/dev/null || skip_all "no dpkg-deb"
check "make deb" m deb
deb=$(echo "$build"/quern_*_amd64.deb)
cp "$deb" "$T/quern.deb"
export SOURCE_DATE_EPOCH=1700000000
m deb >/dev/null 2>&1
cp "$deb" "$T/one.deb"
sleep 1
m deb >/dev/null 2>&1
check "two of the same programs have the same bytes" \
    cmp "$T/one.deb" "$deb"
unset SOURCE_DATE_EPOCH
cp "$T/quern.deb" "$deb"
if command -v lintian >/dev/null; then
	lintian --fail-on error --no-tag-display-limit "$deb" \
	    >"$T/lintian" 2>&1
	same "lintian finds no error" "0 " \
	    "$? $(grep '^E:' "$T/lintian")"
else
	skip "lintian finds no error" "no lintian"
fi
if [ "$(id -u)" = 0 ]; then
	r=$T/root
	mkdir -p "$r/var/lib/dpkg/info" "$r/var/lib/dpkg/updates"
	: >"$r/var/lib/dpkg/status"
	d() { dpkg --root="$r" --log="$T/log" --force-depends "$@"; }
	check "it is installed" d -i "$deb"
	same "as a package" "installed" \
	    "$(dpkg-query --admindir="$r/var/lib/dpkg" -W \
	    -f '${db:Status-Status}' quern)"
	bad=$(for p in $progs; do
		"$r/usr/bin/qn-$p" --version >/dev/null || echo "$p"
		[ -f "$r/usr/share/man/man1/qn-$p.1.gz" ] ||
		    echo "$p.1"
	done 2>&1)
	same "its programs run, and have pages" "" "$bad"
	check "its files are whole" dpkg --root="$r" -V quern
	same "none has changed" "" "$(cat "$T/out")"
	check "it is removed" d -P quern
	same "and leaves nothing" "" \
	    "$(find "$r" -path "$r/var" -prune -o ! -type d -print)"
else
	mkdir "$T/root"
	check "it is unpacked" dpkg-deb -x "$deb" "$T/root"
	check "its programs run" "$T/root/usr/bin/qn-plain" --version
	skip "installed and removed" "not root"
fi

done_testing
