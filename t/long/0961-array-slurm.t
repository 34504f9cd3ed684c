#!/bin/sh
# array on a real cluster: slurmctld and two slurmd on the loopback, of which
# one is killed in the midst; the sum is that of the same list here

. t/lib.sh

for p in slurmctld slurmd sbatch squeue scontrol sinfo; do
	PATH=$PATH:/usr/sbin:/sbin
	command -v $p >/dev/null || skip_all "no $p (slurm-wlm)"
done
CC=${CC:-gcc}
A=$B/array
D=$T/cluster
export SLURM_CONF=$D/slurm.conf
mkdir -p "$D/state" "$D/spool" "$D/log" "$T/d" || exit 99
LIMIT=300

# free PORT: does nobody listen there?
free() {
	! grep -q "^ *[0-9]*: [0-9A-F]*:$(printf %04X "$1") .* 0A " \
	    /proc/net/tcp /proc/net/tcp6 2>/dev/null
}
port=16817
while ! free $port || ! free $((port + 1)) || ! free $((port + 2)); do
	port=$((port + 10))
	[ $port -lt 30000 ] || skip_all "no port is free"
done
host=$(uname -n)
host=${host%%.*}
user=$(id -un)
cat >"$SLURM_CONF" <<EOF
ClusterName=loop
SlurmctldHost=$host(127.0.0.1)
SlurmctldPort=$port
SlurmUser=$user
SlurmdUser=$user
AuthType=auth/none
CredType=cred/none
CommunicationParameters=NoCtldInAddrAny,NoInAddrAny
StateSaveLocation=$D/state
SlurmdSpoolDir=$D/spool/%n
SlurmctldPidFile=$D/slurmctld.pid
SlurmdPidFile=$D/slurmd.%n.pid
SlurmctldLogFile=$D/log/slurmctld.log
SlurmdLogFile=$D/log/slurmd.%n.log
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
JobAcctGatherType=jobacct_gather/none
AccountingStorageType=accounting_storage/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
SchedulerParameters=batch_sched_delay=0,sched_interval=2,sched_min_interval=0
PriorityType=priority/basic
SlurmctldTimeout=10
SlurmdTimeout=10
InactiveLimit=0
KillWait=2
MaxArraySize=8
ReturnToService=2
JobRequeue=1
SlurmdParameters=config_overrides
PropagateResourceLimits=NONE
NodeName=n[1-2] NodeHostname=$host NodeAddr=127.0.0.1 Port=[$((port + 1))-$((port + 2))] CPUs=2 RealMemory=1000 State=UNKNOWN
PartitionName=p Nodes=ALL Default=YES MaxTime=10:00 State=UP OverSubscribe=NO
EOF

# tree SIGNAL PID: a process and those below it, from the top
tree() {
	kill "-$1" "$2" 2>/dev/null
	for c in $(cat /proc/"$2"/task/*/children 2>/dev/null); do
		tree "$1" "$c"
	done
}
down() {
	for f in "$D"/slurmd.*.pid "$D/slurmctld.pid"; do
		[ -s "$f" ] && kill "$(cat "$f")" 2>/dev/null
	done
	n=0
	while [ $n -lt 100 ] && ls "$D"/*.pid >/dev/null 2>&1; do
		sleep 0.1
		n=$((n + 1))
	done
	rm -rf "$T"
}
trap down EXIT

# wait_for COMMAND...: until it is true, a minute at most
wait_for() {
	n=0
	until "$@" >/dev/null 2>&1; do
		n=$((n + 1))
		[ $n -lt 300 ] || return 1
		sleep 0.2
	done
}
idle() { [ "$(sinfo -h -o %T -N | grep -c '^idle$')" = 2 ]; }
slurmctld -f "$SLURM_CONF" >"$D/log/start" 2>&1
for i in 1 2; do
	slurmd -f "$SLURM_CONF" -N n$i >>"$D/log/start" 2>&1
done
if ! wait_for idle; then
	sed 's/^/# /' "$D/log/start"
	skip_all "Slurm's daemons do not run here"
fi

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
for i in $(seq 20); do
	echo "./a ${i}000"
done >list
total() { sed -n 's/^summary: //p; s/^totals: //p' "$1" | tail -n 1; }
check "here" "$A" -d here -p counts list

# --- more tasks than an array may have
check "Slurm" "$A" --slurm --wait -d slurm -p counts list
check "several tasks in each job" grep -q '20 tasks, 3 in each of 7' "$T/err"
same "all" "20 of 20" "$(cat slurm/status)"
samefile "the same sum" here/merged.out slurm/merged.out
check "again: nothing to do" "$A" --slurm --wait -d slurm -p counts list
same "no job was submitted" "array: 20 of 20 tasks are done" "$(cat "$T/err")"

# --- a task that fails
sed 's/^\.\/a 4000$/& 3/' list >failing
status 1 "a task that fails" "$A" --slurm --wait --keep-going -d f.out \
    -p counts failing
check "is named" grep -q '^array: task 0004 (failing:4): status 3: ./a 4000 3: see' \
    "$T/err"
check "the others are added up" grep -q '^desc: Tasks: 19 of 20$' f.out/merged.out

# --- a node that dies in the midst
head -n 6 list >six
check "six tasks here" "$A" -d here6 -p counts six
rm -f started
exec 9>hold
flock -x 9
"$A" --slurm --wait -d out6 -p counts six >"$D/array" 2>&1 &
array=$!
running() { [ "$(squeue -h -t R -w n2 -o %A | wc -l)" -ge 1 ] &&
    [ "$(wc -l <started)" -ge 4 ]; }
wait_for running
ok "tasks run on both nodes" $?
lost=$(squeue -h -t R -w n2 -o %A)
node=$(cat "$D/slurmd.n2.pid")
steps=
for j in $lost; do
	for c in /proc/[0-9]*; do
		cat "$c/cmdline" 2>/dev/null | tr '\0' ' ' |
		    grep -q "^slurmstepd: \[$j\." || continue
		steps="$steps ${c#/proc/}"
	done
done
kill -9 "$node"
for s in $steps; do
	tree KILL "$s"
done
rm -f "$D/slurmd.n2.pid"
check "a node was killed with its tasks" test -n "$steps"
same "none of which left a result" "" "$(ls out6 | grep '^0.*out$')"
scontrol update NodeName=n2 State=DOWN Reason=killed
requeued() {
	for j in $lost; do
		scontrol show job "$j" | grep -q 'Restarts=1' || return 1
	done
}
wait_for requeued
ok "Slurm queues them again" $?
for j in $lost; do	# it would hold them for two minutes
	scontrol update JobId="$j" StartTime=now
done
flock -u 9
wait $array
same "array ends well" 0 $? || sed 's/^/# /' "$D/array"
same "all" "6 of 6" "$(cat out6/status)"
samefile "the sum is that of the same list here" here6/merged.out out6/merged.out
same "and nothing half is left" "" "$(ls out6/tmp 2>/dev/null)"

done_testing
