# SPDX-License-Identifier: GPL-2.0
# Everything at once under scripted bursts: rounds of recording, some in which all
# others come and go while the recorder runs, some in which they race with its
# start and end, some in which it is killed. Takes MIX_SECONDS (60) from the seed
# MIX_SEED (1): kernel arguments, which reach us as environment. The seed decides
# what is done, not what the machine makes of it. There is a round of each kind,
# however slow that is.
# SMP=4
# MEM=2G
# TIMEOUT=3600
# CONFIG=debug
. /root/lib-guest.sh

seed=${MIX_SEED:-1}
end=$(($(date +%s) + ${MIX_SECONDS:-60}))

# rnd N: a number below N, in $r.
rnd() {
	seed=$(((seed * 1103515245 + 12345) & 0x7fffffff))
	r=$(((seed >> 8) % $1))
}
# nap: up to 0.3 seconds.
nap() { rnd 30; sleep "0.$((r / 10))$((r % 10))"; }
# one_of WORD…: one of them, in $r.
one_of() {
	rnd $#
	shift "$r"
	r=$1
}

# The others, each in a process of its own until the file "stop" is there. What
# they may not do goes to the file "wrong"; "free" says that nobody keeps them off.
going() { [ ! -e stop ]; }
beside() { [ ! -e free ]; }
wrong() { echo "$*" >>wrong; }
stats_write() { ( echo "$1" >/proc/powerpc/vcpudispatch_stats ) 2>/dev/null; }
event() { rnd 7; event=vpa_dtl/event=$((r + 1))/; }

hotplug() {
	while going; do
		rnd 3
		cpu=/sys/devices/system/cpu/cpu$((r + 1))/online
		echo 0 >$cpu || wrong "$cpu: the processor did not go offline"
		nap
		echo 1 >$cpu || wrong "$cpu: the processor did not come online"
		nap
	done
}
debugfs() {
	while going; do
		rnd 4
		dd if=/sys/kernel/debug/powerpc/dtl/cpu-$r of=/dev/null bs=4800 count=1 2>/dev/null &&
			beside && wrong "debugfs was read beside a recorder"
		nap
	done
}
stats() {
	while going; do
		if stats_write 1; then
			beside && wrong "vcpudispatch_stats was started beside a recorder"
			nap
			cat /proc/powerpc/vcpudispatch_stats >/dev/null || wrong "vcpudispatch_stats cannot be read"
			stats_write 0
		fi
		nap
	done
}
counter() {
	while going; do
		event
		perf stat -a -e $event -o counter.txt sleep 0.1 2>/dev/null &&
			beside && ! grep -q 'not \(supported\|counted\)' counter.txt && wrong "counted beside a recorder"
		nap
	done
}
second() {
	while going; do
		event
		perf record -q -a -e $event -c 1000000 -o second.data sleep 0.1 >second.err 2>&1 &&
			beside && wrong "a second recorder was not refused"
		nap
	done
}
others() {
	rm -f stop
	others=
	for other; do
		rnd 1000000
		( seed=$r; $other ) &
		others="$others $!"
	done
}
others_end() {
	touch stop
	# shellcheck disable=SC2086
	wait $others
	rm -f stop
}

# choose: what a recorder is told and what the hypervisor does, in $options and
# $script.
choose() {
	event
	options="-a -e $event"
	one_of 100000 1000000 10000000 1000000000; options="$options -c $r"
	one_of '' '' '-m ,2' '-m 2,4' '-m ,64'; options="$options $r"
	one_of "$@"; script=$r
	rnd 3; busy $r
}
SCRIPTS='burst=85,interval=20000000 burst=200,interval=50000000 burst=7,interval=1000000 skip=100,burst=85,interval=100000000'

# A recorder that others cannot touch: the ledger balances to the entry.
steady() {
	rm -f free
	# What a recorder that is killed has read is judged by numbers, which only
	# scripted entries have.
	# shellcheck disable=SC2086
	set -- "${1:-}" reasons=kinds,interval=1000000 $SCRIPTS
	[ "$1" = killed ] || set -- "$@" ''
	how=$1
	shift
	choose "$@"
	rm -f ctl ack
	mkfifo ctl ack
	hv script "$script"
	hv written >/out/$n.data.before
	# shellcheck disable=SC2086
	perf record -q $options --control fifo:ctl,ack -o $n.data &
	recorder=$!
	exec 5>ctl 6<ack
	control ping || return 1
	others hotplug debugfs stats counter second
	i=0
	rnd 12
	asks=$((r + 4))
	while [ $i -lt $asks ] && [ "$(date +%s)" -lt $end ]; do
		one_of enable disable ping; control $r || return 1
		nap
		i=$((i + 1))
	done
	if [ "$how" = killed ]; then
		touch free
		kill -9 $recorder
		wait $recorder
		others_end
		exec 5>&- 6<&-
		rm /out/$n.data.before
		mv $n.data /out/killed.$n.data
		lets_go || return 1
	else
		others_end
		control stop
		exec 5>&- 6<&-
		wait $recorder || { echo "the recorder failed"; return 1; }
		hv written >/out/$n.data.after
		mv $n.data /out/
	fi
}
# The log is the hypervisor's no more: nothing is written to it.
lets_go() { ! writes || { echo "a log is written after its reader was killed"; return 1; }; }

# Recorders that start and end while all others try the same. Those that get the
# log have all entries in sequence, or told as lost.
racing() {
	touch free
	# shellcheck disable=SC2086
	choose $SCRIPTS
	hv script "$script"
	others hotplug debugfs stats counter second second
	i=0
	while [ $i -lt 4 ]; do
		rnd 10
		# shellcheck disable=SC2086
		perf record -q $options -o raced.data sleep 0.$((r + 1)) >raced.err 2>&1 &
		recorder=$!
		rnd 3
		[ $r != 0 ] || { nap; sleep 0.5; kill -9 $recorder; }
		wait $recorder 2>/dev/null
		rc=$?
		case $rc in
		0)	mv raced.data /out/raced.$n.$i.data; raced=$((raced + 1)) ;;
		137)	killed=$((killed + 1)) ;;
		129|1[3-5]?) wrong "perf record died of signal $((rc - 128))" ;;
		*)	refused=$((refused + 1)) ;;
		esac
		nap
		i=$((i + 1))
	done
	others_end
	lets_go
}

# round KIND…: one, and that nobody did what they may not.
round() {
	: >wrong
	"$@"
	rc=$?
	not_busy
	hv script ''
	cat wrong
	[ $rc = 0 ] && [ ! -s wrong ]
}

n=0 raced=0 refused=0 killed=0
while [ "$(date +%s)" -lt $end ] || [ $n -lt 3 ]; do
	n=$((n + 1))
	case $((n % 3)) in
	0)	check "round $n: all race" round racing ;;
	1)	check "round $n: all come and go beside a recorder" round steady ;;
	2)	check "round $n: the recorder is killed" round steady killed ;;
	esac
done
echo "# $n rounds; of the recorders that raced, $raced recorded, $refused were refused, $killed were killed"
LOAD=3
check "recording works after all that" recorded last.data perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o last.data sleep 1
LOAD=0
check "debugfs opens after all that" dtl_readable 0
check "vcpudispatch_stats starts and ends after all that" eval 'stats_write 1 && stats_write 0'
check "the kernel said nothing it should not" quiet_kernel
done_testing
