#!/bin/sh
# make install STRIP=-s, make uninstall, completions, and what another processor
# is told

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
LIMIT=120

# --- install, uninstall
mkdir -p "$T/a/usr/bin" "$T/a/usr/share/man/man1"
echo mine >"$T/a/usr/bin/other"
echo mine >"$T/a/usr/share/man/man1/other.1"
check "install, stripped" m install DESTDIR="$T/a" PREFIX=/usr STRIP=-s
bad=$(for p in $progs; do
	f=$T/a/usr/bin/qn-$p
	head -c 2 "$f" | grep -q '#!' && continue
	[ -z "$(readelf -S "$f" | grep -e '\.symtab' -e '\.debug_')" ] ||
	    echo "$p"
done)
same "no symbols are left" "" "$bad"
check "a stripped program runs" "$T/a/usr/bin/qn-plain" --version
if [ -z "$san" ]; then
	pipe() { "$T/a/usr/bin/qn-trace" /bin/true | "$T/a/usr/bin/qn-icount" \
	    -o "$T/costs"; }
	check "stripped trace traces" pipe
	echo 'one counts /bin/true' >"$T/list"
	check "qn-ci finds the others" "$T/a/usr/bin/qn-ci" -q -d "$T/ci" "$T/list"
	echo '/bin/true' >"$T/list"
	check "and so does qn-array" "$T/a/usr/bin/qn-array" -d "$T/array" "$T/list"
	check "by a link, too" "$T/a/usr/libexec/quern/array" -d "$T/array2" \
	    -p 'trace -e counts %s | icount | fmt-cachegrind' "$T/list"
fi
cp -r "$T/a" "$T/b"
check "uninstall" m uninstall DESTDIR="$T/a" PREFIX=/usr
same "leaves others' files only" "/usr/bin/other /usr/share/man/man1/other.1" \
    "$(cd "$T/a" && find . ! -type d | sort | sed 's/^\.//' | xargs)"
m install DESTDIR="$T/c" PREFIX=/usr P= >/dev/null
same "without a prefix no completion is that of another's diff" "" \
    "$(find "$T/c" -path '*complet*' -type f)"
check "uninstall without a prefix" m uninstall DESTDIR="$T/c" PREFIX=/usr P=
same "leaves nothing" "" "$(find "$T/c" ! -type d)"

# --- completions: all options of --help, for each shell
share=$T/b/usr/share
bad=$(for p in $progs; do
	"$B/$p" --help | grep -E '^ +-' | grep -o -E \
	    '(^| |, ?)--?[A-Za-z][-A-Za-z0-9]+' | tr -d ' ,' | grep -v -x -e -p \
	    >"$T/options"
	for o in $(cat "$T/options"); do
		grep -q -e "[ ']$o[= ']" \
		    "$share/bash-completion/completions/qn-$p" ||
		    echo "$p: $o"
	done
done)
same "bash's have all options" "" "$(echo "$bad" | head)"
if command -v bash >/dev/null; then
	bad=$(for p in $progs; do
		bash -n "$share/bash-completion/completions/qn-$p" || echo "$p"
	done 2>&1)
	same "bash reads them" "" "$bad"
	complete() { # WORD...: what bash completes the last one to
		bash -c '. "$1"; shift; COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
		    compopt() { :; }
		    _${1//[^A-Za-z0-9]/_}; printf "%s " "${COMPREPLY[@]}"' - \
		    "$share/bash-completion/completions/$1" "$@"
	}
	same "bash completes an option" \
	    "--client-requests --control= --contexts --clear-env --cpu= " \
	    "$(complete qn-trace --c)"
	same "and a value" "yes " "$(complete qn-trace --vdso = y)"
else
	skip "bash" "not installed"
fi
if command -v zsh >/dev/null; then
	bad=$(for p in $progs; do
		zsh -n "$share/zsh/site-functions/_qn-$p" || echo "$p"
	done 2>&1)
	same "zsh reads them" "" "$bad"
	same "and takes them as those of the programs" "_qn-trace _qn-simpoint" \
	    "$(zsh -fc 'fpath=($1 $fpath); autoload -U compinit
	    compinit -u -D; echo $_comps[qn-trace] $_comps[qn-simpoint]' - \
	    "$share/zsh/site-functions" 2>&1)"
else
	skip "zsh" "not installed"
fi
if command -v fish >/dev/null; then
	bad=$(for p in $progs; do
		HOME=$T fish -n "$share/fish/vendor_completions.d/qn-$p.fish" ||
		    echo "$p"
	done 2>&1)
	same "fish reads them" "" "$bad"
	fish_says() {
		HOME=$T PATH=$T/b/usr/bin:$PATH fish --no-config -c \
		    "source $share/fish/vendor_completions.d/$1.fish
		    complete -C '$2'" 2>/dev/null | cut -f 1 | sort | xargs
	}
	same "fish completes an option" \
	    "--clear-env --client-requests --contexts --control --cpu=" \
	    "$(fish_says qn-trace 'qn-trace --c' | sed 's/--cpu$/--cpu=/')"
	same "fish completes an old option" "-initkm" \
	    "$(fish_says qn-simpoint 'qn-simpoint -initk')"
	same "and a value" "keep mend" \
	    "$(fish_says qn-simpoint 'qn-simpoint -bugs ')"
else
	skip "fish" "not installed"
fi

# --- another processor is told so, in one line
if command -v clang >/dev/null; then
	m BUILD="$T/other" CC='clang --target=aarch64-linux-gnu' \
	    "$T/other/lib.a" >"$T/out" 2>&1
	same "another processor: status" 2 $?
	same "one error, which says why" 'error: "quern runs on Linux on x86-64 only: see cmd/HACKING"' \
	    "$(grep -o 'error: .*' "$T/out")"
else
	skip "another processor" "no clang"
fi

done_testing
