# SPDX-License-Identifier: GPL-2.0
# A processor taken away and given back during a recording.
# SMP=4
. /root/lib-guest.sh

cpu_comes_and_goes() {
	before=$(hv written)
	perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o h.data sleep 3 &
	pid=$!
	sleep 0.8
	echo 0 >/sys/devices/system/cpu/cpu2/online || return 1
	sleep 0.5
	echo 1 >/sys/devices/system/cpu/cpu2/online || return 1
	wait $pid || return 1
	ledger h.data "$before" "$(hv written)"
}
busy 4
check "a processor goes offline and online during a recording" cpu_comes_and_goes
check "recording works on all processors afterwards" \
	recorded i.data perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o i.data sleep 1
has_cpu_2() { perf script -i i.data 2>/dev/null | grep vpa-dtl: | grep -q '\[002\]'; }
check "and the processor that came back has entries" has_cpu_2
not_busy

offline_first() {
	echo 0 >/sys/devices/system/cpu/cpu3/online || return 1
	recorded o.data perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o o.data sleep 0.5
	rc=$?
	echo 1 >/sys/devices/system/cpu/cpu3/online
	return $rc
}
check "recording with a processor offline" offline_first
check "the kernel said nothing it should not" quiet_kernel
done_testing
