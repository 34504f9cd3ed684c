# Read by tests with a server, t/src/server.c: it is ./server in $T, its input is
# descriptor 5, its output the file `answers'.

${CC:-gcc} -O1 -g -o "$T/server" t/src/server.c -lpthread ||
    skip_all "no compiler"

# there FILE: wait until it is, a minute at most
there() {
	n=0
	while [ ! -e "$1" ] && [ $n -lt 600 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	[ -e "$1" ]
}

# asked BYTE [ANSWER]: the server has answered; it closes the pipe at its end
asked() {
	printf '%s' "$1" >&5
	n=0
	while ! grep -qs "${2-$1}" answers && [ $n -lt 600 ]; do
		sleep 0.1
		n=$((n + 1))
	done
	grep -q "${2-$1}" answers
}
