# SPDX-License-Identifier: GPL-2.0
# The kernel accounts stolen time from the log, which it has registered from boot:
# the accounting goes on while events look at the same log, and finds it as it was.
# CONFIG=native
# BRINGS=selftests
. /root/lib-guest.sh

vpa_byte() { dd if=/sys/kernel/debug/powerpc/vpa/cpu-$1 bs=1 skip=$2 count=1 2>/dev/null | hexdump -v -e '1/1 "%u"'; }
masks() { echo "$(vpa_byte 0 184) $(vpa_byte 1 184)"; }

# snapshot NAME: the time and what is accounted up to it.
snapshot() { cat /proc/uptime /proc/stat >"/out/$1"; }

# Without an event nobody reads the log but the accounting. So what each entry
# says is scripted: 1100 ticks. Nothing is logged by a script whose first step is far
# away, so that all is accounted that is counted. The accounting looks at each tick
# of 4 ms and misses what does not fit the log: three steps do, on a busy host too.
QUIET='interval=1000000000000'
without() {
	busy 2
	hv script "$QUIET"
	sleep 0.5
	snapshot without.before
	hv written >/out/without.from
	hv script 'burst=28,interval=5000000'
	sleep 30
	hv script "$QUIET"
	sleep 0.5
	hv written >/out/without.to
	snapshot without.after
	hv script ''
	not_busy
}
check "stolen time without events" without

with() { # EVENT
	busy 3
	start_recording "$1.data" perf record -q -a -e "vpa_dtl/$1/" -c 10000000 -o "$1.data" || return 1
	snapshot "$1.before"
	sleep 5
	snapshot "$1.after"
	control disable
	not_busy
	stop_recording
	rc=$?
	# No ledger: the hypervisor writes for the accounting, too.
	rm "/out/$1.data.before"
	return $rc
}
for event in dtl_preempt dtl_cede dtl_all; do
	check "stolen time beside $event" with "$event"
done

# Handed back as it was: mask, index and registration.
handed_back() {
	before="$(masks)"
	from=$(log_index 0)
	perf record -q -a -e vpa_dtl/dtl_all/ -c 10000000 -o x.data sleep 3 &
	recorder=$!
	sleep 2
	during="$(masks)"
	wait $recorder || return 1
	after="$(masks)"
	to=$(log_index 0)
	busy 3
	sleep 0.5
	not_busy
	grown=$(log_index 0)
	echo "masks: $before, $during while recording, $after; index: $from, $to, $grown"
	[ "$before" = "2 2" ] && [ "$during" = "7 7" ] && [ "$after" = "2 2" ] &&
		[ "$to" -ge "$from" ] && [ "$grown" -gt "$to" ]
}
check "the log's mask, index and registration are handed back" handed_back

scripted() {
	hv script 'burst=60,interval=10000000'
	perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o script.data sleep 2
	rc=$?
	hv script ''
	cp script.data /out/
	return $rc
}
check "records beside the accounting" scripted
kselftest
check "kselftest vpa_dtl skips nothing but kinds" [ "$(sed -n 's/^skip: //p' vpa_dtl.log)" = vpa_dtl_kinds ]
counts() { perf stat -a -x, -e vpa_dtl/dtl_preempt/ -o counter.txt sleep 0.5 && cat counter.txt && grep -q '^[0-9]' counter.txt; }
check "counts beside the accounting" counts
check "the kernel said nothing it should not" quiet_kernel
done_testing
