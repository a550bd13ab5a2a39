# SPDX-License-Identifier: GPL-2.0
# A scripted hypervisor: bursts, every code, times at their limits, a log index
# that runs on. The recordings go to the host, where the frames are checked.
. /root/lib-guest.sh

# scripted FILE "SCRIPT" PERIOD SECONDS: record under a scripted hypervisor.
scripted() {
	hv script "$2" || return 1
	recorded "$1" perf record -q -a -e vpa_dtl/dtl_all/ -c "$3" -o "$1" sleep "$4"
	rc=$?
	hv script ''
	cp "$1" /out/
	return $rc
}

check "a burst of 85 every 20 ms is read whole" scripted whole.data burst=85,interval=20000000,count=1700 5000000 1.2
nothing_lost() { [ "$(lost whole.data)" = 0 ] && [ "$(entries whole.data)" = 3400 ]; }
check "and nothing of it is lost" nothing_lost

check "a burst of 200 every 50 ms overruns, and balances" scripted overrun.data burst=200,interval=50000000,count=4000 10000000 2
lost_is_exact() {
	l=$(lost overrun.data) e=$(entries overrun.data)
	echo "$e entries, $l lost"
	[ "$l" -ge $((2 * 4000 * 115 / 200)) ] && [ $((l + e)) = 8000 ]
}
check "the lost count of the overrun is exact" lost_is_exact

check "a log index that runs on by 1000 balances" scripted skip.data burst=10,skip=1000,interval=50000000,count=200 10000000 2
check "every reason code 0 to 255 balances" scripted walk.data reasons=walk,times=limits,burst=16,interval=5000000,count=2048 5000000 2
every_code() {
	perf script -i walk.data 2>/dev/null | grep -o 'dispatch_reason:unknown([0-9]*)' | sort -u | wc -l | grep -qx 245 &&
	perf script -i walk.data 2>/dev/null | grep -o 'preempt_reason:unknown([0-9]*)' | sort -u | wc -l | grep -qx 246
}
check "codes out of the tables are shown as unknown(N)" every_code
limits_unsigned() {
	for f in enqueue_to_dispatch_time ready_to_enqueue_time waiting_to_ready_time; do
		perf script -i walk.data 2>/dev/null | grep -q "$f:4294967295" || return 1
	done
}
check "times at their limits are shown unsigned" limits_unsigned
check "the kernel said nothing it should not" quiet_kernel
done_testing
