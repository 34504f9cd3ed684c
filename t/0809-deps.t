#!/bin/sh
# scripts/deps: installs what is missing, and nothing where all is there

. t/lib.sh

# Stand-ins: $T/have has the packages that are there, $T/asked what apt-get did.
mkdir "$T/bin"
cat >"$T/bin/dpkg-query" <<EOF
#!/bin/sh
shift 3
for p; do
	if grep -qx "\$p" "$T/have"; then
		echo installed
	fi
done
EOF
cat >"$T/bin/apt-get" <<EOF
#!/bin/sh
for a; do
	case \$a in
	-* | *::*) ;;
	*) echo "\$a" ;;
	esac
done >>"$T/asked"
EOF
printf '#!/bin/sh\nexec "$@"\n' >"$T/bin/sudo"
chmod +x "$T/bin"/*

# deps PACKAGE...: with these tools
deps() {
	: >"$T/asked"
	PATH=$T/bin:$PATH sh scripts/deps "$@"
}

printf '%s\n' gcc make >"$T/have"
check "all is there" deps gcc make
same "nothing is installed" "" "$(xargs <"$T/asked")"
check "some is not" deps gcc perl make git
same "that is installed" "install perl git" "$(xargs <"$T/asked")"
check "chromium is not" deps gcc chromium
same "and is installed" "install chromium" "$(xargs <"$T/asked")"
echo chromium-browser >>"$T/have"
check "chromium is there, as Ubuntu calls it" deps gcc chromium
same "and is not installed again" "" "$(xargs <"$T/asked")"
done_testing
