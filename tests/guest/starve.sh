# SPDX-License-Identifier: GPL-2.0
# A task starved on purpose: three virtual processors on one processor. On CPU 1
# "victim" never stops computing; on CPUs 0 and 2 a "neighbour" does for half of the
# time each. So CPU 1 always has to share, and the others have to for a while. All
# that recording takes is on CPU 1 as well.
# SMP=3
. /root/lib-guest.sh

# perf knows a script by its name.
for name in victim neighbour; do
	printf '#!/bin/sh\nwhile :; do :; done\n' >$name
	chmod +x $name
done
# perf reads as long as there is something to read: with busy processors, always.
# It would be a second victim, so it stands still while its workload runs, which
# waits without a fork.
mkfifo never
cat >measured <<'END'
#!/bin/sh
kill -STOP $PPID
read -t 2 _ <>never
kill -STOP "$1"
kill -CONT "$2"
read -t 2 _ <>never
kill -CONT $PPID
END
chmod +x measured
taskset 1 ./neighbour & first=$!
taskset 2 ./victim & victim=$!
taskset 4 ./neighbour & second=$!
kill -STOP $second

# -c: looks at the logs of idle processors would wake them to wait for their turn.
check "perf dtl record records" recorded starve.data \
	taskset 2 perf dtl record -q -c 100000000 -o starve.data ./measured $first $second
kill -KILL $first $second
echo $victim >/out/victim

# The same by a scripted hypervisor: only CPU 1 is ever stopped, for known times.
hv script cpu=1,interval=2000000
check "perf dtl record records what a script says" \
	recorded scripted.data taskset 1 perf dtl record -q -o scripted.data sleep 1
hv script ''
kill -KILL $victim
check "perf dtl record --sched records the scheduler, too" \
	recorded with-sched.data perf dtl record --sched -q -o with-sched.data -- sleep 0.5

in_guest() { perf dtl report -i starve.data >/out/report.txt 2>&1; }
check "perf dtl report runs in the guest" in_guest
check "the kernel said nothing it should not" quiet_kernel
cp /proc/kallsyms /out/kallsyms
done_testing
