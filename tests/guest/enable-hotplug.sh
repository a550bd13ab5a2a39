# SPDX-License-Identifier: GPL-2.0
# Events enabled again and again while their processors go away, and closed while
# one is away: the processor's last context switch must leave nothing that the
# closing task waits for. A kernel that fails hangs, which the timeout ends.
# SMP=4
# BRINGS=program
. /root/lib-guest.sh

comes_and_goes() {
	while [ ! -e stop ]; do
		for n in 1 2 3; do
			echo 0 >/sys/devices/system/cpu/cpu$n/online
			usleep 20000
			echo 1 >/sys/devices/system/cpu/cpu$n/online
			usleep 5000
		done
	done
}
enabled_late() {
	comes_and_goes &
	goes=$!
	./enable-hotplug 30
	rc=$?
	: >stop
	wait $goes
	return $rc
}
check "events enabled while their processors go, and closed when these are gone" enabled_late
check "the kernel said nothing it should not" quiet_kernel
done_testing
