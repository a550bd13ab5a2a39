# SPDX-License-Identifier: GPL-2.0
# Events of processors that go away. None that comes later joins one that is left.
# Those enabled again and again while their processors go, and closed while one is
# away: the processor's last context switch must leave nothing that the closing task
# waits for. A kernel that fails hangs, which the timeout ends.
# SMP=4
# BRINGS=program
. /root/lib-guest.sh

comes_and_goes() {
	while [ ! -e stop ]; do
		for n in 1 2 3; do
			online $n 0 && echo $n >>gone
			usleep 20000
			online $n 1
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
	echo "a CPU was offline $(wc -l <gone) times"
	[ "$(sort -u gone | wc -l)" = 3 ] && [ $rc = 0 ]
}
enabled_after() { ./enable-hotplug back; }
opened_after() { ./enable-hotplug leader; }
check "an event whose leader went with its processor, which is back, is refused" opened_after
check "an event enabled when its processor is back, and closed when it is gone again" enabled_after
check "events enabled while their processors go, and closed when these are gone" enabled_late
check "the kernel said nothing it should not" quiet_kernel
done_testing
