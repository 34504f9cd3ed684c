# say.sh - what array and ci say, their folders, and checks of their options: the
# Makefile puts this in place of their line `. say.sh', as it does with other
# parts, so that each program is one file
#
# shellcheck shell=sh disable=SC2154	# me is the program's name, pre its path

# Functions of awk: shown(S) is S with control characters and bytes that are not
# UTF-8 as \ooo, because a terminal obeys them. utf8(S) is how many bytes at the
# beginning of S have neither; code[C] is the number of a byte.
shown='
BEGIN {
	for (i = 1; i < 256; i++)
		code[sprintf("%c", i)] = i
}
function utf8(s) {
	match(s, "^([ -~]|\302[\240-\277]|[\303-\337][\200-\277]|" \
	    "\340[\240-\277][\200-\277]|\355[\200-\237][\200-\277]|" \
	    "[\341-\354\356\357][\200-\277][\200-\277]|" \
	    "\360[\220-\277][\200-\277][\200-\277]|" \
	    "[\361-\363][\200-\277][\200-\277][\200-\277]|" \
	    "\364[\200-\217][\200-\277][\200-\277])+")
	return RLENGTH > 0 ? RLENGTH : 0
}
function shown(s,    n, out) {
	for (;;) {
		n = utf8(s)
		out = out substr(s, 1, n)
		if (n == length(s))
			return out
		out = out sprintf("\\%03o", code[substr(s, n + 1, 1)])
		s = substr(s, n + 2)
	}
}
'

at=	# where an option is: "FILE:LINE: ", or nothing for the command line

say() {
	set -- "$me: $at$*"
	case $1 in
	*[!\ -~]*)
		set -- "$(printf '%s\n' "$1" | awk "$shown"'
			{ s = NR == 1 ? $0 : s "\n" $0 }
			END { print shown(s) }')" ;;
	esac
	printf '%s\n' "$1" >&2
}

die() {
	say "$@"
	exit 2
}

# Without it the shell starts nothing in the background, and we would wait for
# that.
need_null() {
	if [ ! -r /dev/null ] || [ ! -w /dev/null ]; then
		die "/dev/null: is not there, or not for us"
	fi
}

# lost: one of our temporary files could not be written. Without this, what would
# be in it, a program or a limit, would be missing in silence.
lost() {
	die "$W: cannot be written"
}

# absolute FOLDER: its path. cd takes an absolute one for no option, and does not
# look for it in CDPATH.
absolute() {
	case $1 in
	/*) cd "$1" ;;
	*) cd "$PWD/$1" ;;
	esac && pwd
}

# results: the folder dir, made if it is not there; its path, into dir
results() {
	error=$(mkdir -p -- "$dir" 2>&1) || die "--dir=$dir: ${error##*: }"
	dir=$(absolute "$dir") || exit 2
}

# run_listed COMMAND TRACE OPTION...: become trace, which runs a list's command.
# The shell that reads that has the variables of $env, and none of ours.
run_listed() {
	listed=$1
	shift
	set -- /bin/sh -c "exec \"\$@\" -- $listed" sh "$@"
	rest=$env,
	while [ -n "$rest" ]; do
		v=${rest%%,*}
		rest=${rest#*,}
		case $v in
		*=*) ;;
		*) eval "v=$v=\${$v-}" ;;
		esac
		set -- "$v" "$@"
	done
	[ -z "${QUERN_STORE-}" ] || set -- "QUERN_STORE=$QUERN_STORE" "$@"
	# shellcheck disable=SC2086	# several words, or none
	exec ${session-} env -i "$@"
}

# one_program WHERE COMMAND: die if the shell would make more of a list's command
# than a program and its redirections. Quotes, what the shell puts in place of
# $(...), ${...} and `...`, and comments may have all characters.
one_program() {
	case $2 in
	*[\|\&\;]*) ;;
	*) return ;;
	esac
	operator=$(printf '%s\n' "$2" | awk '
	# what of the shell is open at the end of open: a quote or a bracket
	function step(c, next_c) {
		in_ = substr(open, length(open))
		if (c == "\"" && in_ == c || c == ")" && in_ == "(" ||
		    c == "}" && in_ == "{")
			open = substr(open, 1, length(open) - 1)
		else if (c == "\"" || c == "(" && in_ == "(")
			open = open c
		else if (c == "$" && next_c ~ /[({]/)
			open = open next_c
		else
			return 0
		return 1
	}
	{
		for (i = 1; i <= length($0); i++) {
			c = substr($0, i, 1)
			d = substr($0, i + 1, 1)
			if (c == "\\") {
				i++
			} else if (c == "`") {
				while (++i <= length($0) &&
				    (d = substr($0, i, 1)) != c)
					i += d == "\\"
			} else if (c == "\047" && open !~ /"[{]*$/) {
				n = index(substr($0, i + 1), c)
				i = n ? i + n : length($0)
			} else if (step(c, d)) {
				i += c == "$"
			} else if (open == "") {
				if (c ~ /[<>]/ && d ~ /[<>&|]/)
					i++
				else if (c == "#" && (i == 1 ||
				    substr($0, i - 1, 1) ~ /[ \t]/))
					exit
				else if (c ~ /[|&;]/) {
					print c == d ? c d : c
					exit
				}
			}
		}
	}')
	[ -z "$operator" ] || die "$1: $operator without quotes: a command is" \
	    "one program, for no other would be counted: $2"
}

# find_session: sets session, which gives a program a session of its own, so that
# all that it starts can be ended, and signals as by default: what a shell
# starts in the background ignores SIGINT, and some programs do other things then
find_session() {
	for session in 'setsid env --default-signal' setsid ''; do
		if $session true 2>/dev/null; then
			break
		fi
	done
}

# check_cpu LEVEL: is it one that trace takes?
check_cpu() {
	case $1 in
	native | v2 | v3 | v4) ;;
	*) die "--cpu=$1: none of v2, v3, v4, native" ;;
	esac
}

# check_caches OPTIONS: does cachesim take them?  It says itself what is wrong.
check_caches() {
	# shellcheck disable=SC2086	# several options
	printf 'H quern-events 2\nH kind all\nE exit 0 0\n' |
	    "${pre}cachesim" $1 >/dev/null ||
	    die "--caches=$1: cachesim does not take that"
}
