# SPDX-License-Identifier: GPL-2.0
# A processor taken away and given back during a recording.
# SMP=4
. /root/lib-guest.sh

REC="perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000"
cpu_comes_and_goes() {
	start_recording hotplug.data $REC -o hotplug.data || return 1
	busy 3
	sleep 0.5
	online 2 0 || return 1
	sleep 0.5
	online 2 1 || return 1
	sleep 0.5
	stop_recording
	rc=$?
	not_busy
	return $rc
}
check "a processor goes offline and online during a recording" cpu_comes_and_goes
LOAD=3
check "recording works on all processors afterwards" recorded after.data $REC -o after.data sleep 1
LOAD=0

offline_first() {
	online 3 0 || return 1
	recorded offline.data $REC -o offline.data sleep 0.5
	rc=$?
	online 3 1
	return $rc
}
check "recording with a processor offline" offline_first
check "the kernel said nothing it should not" quiet_kernel
done_testing
