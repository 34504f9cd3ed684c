#!/bin/sh
# array by GNU parallel on two hosts: two sshd on the loopback, one killed in
# the midst

. t/lib.sh

PATH=$PATH:/usr/sbin:/sbin
for p in sshd ssh ssh-keygen; do
	command -v $p >/dev/null || skip_all "no $p (openssh-server)"
done
parallel --version 2>/dev/null | grep -q '^GNU parallel' ||
    skip_all "no GNU parallel"
CC=${CC:-gcc}
A=$B/array
D=$T/ssh
LIMIT=120
mkdir "$D" "$T/d" || exit 99
sshd=$(command -v sshd)

made=
pids=
down() {
	for p in $pids; do
		kill "$p" 2>/dev/null
	done
	[ -z "$made" ] || rmdir /run/sshd 2>/dev/null
	rm -rf "$T"
}
trap down EXIT
if [ "$(id -u)" = 0 ] && [ ! -d /run/sshd ]; then
	mkdir /run/sshd && made=1
fi

ssh-keygen -q -t ed25519 -N '' -f "$D/host" && ssh-keygen -q -t ed25519 -N '' \
    -f "$D/user" || skip_all "ssh-keygen makes no keys"
cp "$D/user.pub" "$D/authorized"
free() {
	! grep -q "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") .* 0A " \
	    /proc/net/tcp /proc/net/tcp6 2>/dev/null
}
port=12222
while ! free $port || ! free $((port + 1)); do
	port=$((port + 10))
	[ $port -lt 30000 ] || skip_all "no port is free"
done
for h in a b; do
	cat >"$D/sshd.$h" <<-EOF
		Port $port
		ListenAddress 127.0.0.1
		HostKey $D/host
		AuthorizedKeysFile $D/authorized
		PidFile $D/pid.$h
		UsePAM no
		StrictModes no
		PasswordAuthentication no
		PermitRootLogin prohibit-password
		MaxStartups 100
	EOF
	cat >>"$D/config" <<-EOF
		Host $h
			HostName 127.0.0.1
			Port $port
			IdentityFile $D/user
			IdentitiesOnly yes
			UserKnownHostsFile /dev/null
			StrictHostKeyChecking no
			LogLevel ERROR
	EOF
	"$sshd" -D -e -f "$D/sshd.$h" 2>"$D/log.$h" &
	pids="$pids $!"
	eval "$h=$!"
	port=$((port + 1))
done
# up HOST
up() {
	n=0
	until timeout 10 ssh -F "$D/config" "$1" true </dev/null 2>"$D/why"; do
		n=$((n + 1))
		[ $n -lt 30 ] || return 1
		sleep 0.2
	done
}
if ! up a || ! up b; then
	sed 's/^/# /' "$D/why" "$D"/log.*
	skip_all "sshd lets nobody in here"
fi
export PARALLEL_SSH="ssh -F $D/config" HOME=$T

cd "$T/d" || exit 99
cat >a.c <<'EOF'
#include <fcntl.h>
#include <stdlib.h>
#include <sys/file.h>
#include <unistd.h>
/* say that we run; wait, in one call, while the test holds the lock; count */
int main(int argc, char **argv)
{
	int fd = open("started", O_WRONLY | O_CREAT | O_APPEND, 0666);

	if (write(fd, "x\n", 2) != 2)
		return 9;
	flock(open("hold", O_RDWR | O_CREAT, 0666), LOCK_SH);
	for (volatile int i = 0; i < atoi(argv[1]); i++)
		;
	return argc > 2 ? atoi(argv[2]) : 0;
}
EOF
$CC -O1 -o a a.c || skip_all "no compiler"
for i in $(seq 12); do
	echo "./a ${i}000"
done >list
check "here" "$A" -d here -p counts list
check "on two hosts" "$A" --parallel=2/a,2/b -d two -p counts list
samefile "the same sum" here/merged.out two/merged.out
same "both have worked" "2/a 2/b" \
    "$(sed 1d two/joblog | cut -f 2 | sort -u | sed 's|^\([ab]\)$|2/\1|' | xargs)"

# --- one host dies in the midst
rm -f started
exec 9>hold
flock -x 9
"$A" --parallel=2/a,2/b -d dies -p counts list >"$D/array" 2>&1 &
array=$!
n=0
until [ "$(wc -l 2>/dev/null <started || echo 0)" -ge 4 ] || [ $n -ge 300 ]; do
	sleep 0.1
	n=$((n + 1))
done
same "tasks run on both hosts" 4 "$(wc -l <started)"
# tree PID: the processes below it, then itself
tree() {
	for c in $(cat /proc/"$1"/task/*/children 2>/dev/null); do
		tree "$c"
	done
	kill -9 "$1" 2>/dev/null
}
# shellcheck disable=SC2154	# set by eval
tree "$b"
flock -u 9
exec 9>&-
wait $array
same "array ends well" 0 $? || sed 's/^/# /' "$D/array"
samefile "the same sum, from the other host" here/merged.out dies/merged.out

done_testing
