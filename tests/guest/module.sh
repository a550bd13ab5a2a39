# SPDX-License-Identifier: GPL-2.0
# The driver as a module: taken out while it is idle, not while it is in use.
# CONFIG=debug
# BRINGS=selftests
. /root/lib-guest.sh

MODULE=/lib/modules/vpa-dtl.ko
REC="perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000"

kunit_passed() { dmesg | grep -E '^(\[[^]]*\] )?ok [0-9]+ vpa-dtl'; }
check "the KUnit module passes" kunit_passed

# stays PID: it is not taken out while that process has an event of it.
stays() {
	has_event "$1" || return 1
	rmmod vpa_dtl 2>rmmod.err && { echo "it was taken out"; return 1; }
	cat rmmod.err
}
recording() {
	start_recording used.data $REC -o used.data || return 1
	stays $recorder || return 1
	stop_recording
}
check "a module that records is not taken out" recording

counting() {
	perf stat -a -e vpa_dtl/dtl_all/ sh -c 'while [ ! -e counted ]; do sleep 0.1; done' >stat.txt 2>&1 &
	stays $!
	rc=$?
	touch counted
	wait $!
	cat stat.txt
	return $rc
}
check "a module that counts is not taken out" counting

out_and_in() {
	i=0
	while [ $i -lt 10 ]; do
		rmmod vpa_dtl || return 1
		[ ! -e $DTL ] || { echo "its sysfs folder stays"; return 1; }
		perf record -a -e vpa_dtl/dtl_all/ -o x.data true 2>/dev/null && return 1
		insmod $MODULE || return 1
		$REC -o x.data true || return 1
		i=$((i + 1))
	done
}
check "taken out and loaded ten times" out_and_in
LOAD=2
check "it records after that" recorded again.data $REC -o again.data sleep 1
LOAD=0

after_a_kill() {
	$REC -o x.data sleep 1000 &
	has_event $! || return 1
	kill -9 $!
	wait $!
	rmmod vpa_dtl && insmod $MODULE
}
check "taken out after its user was killed" after_a_kill
# What the hypervisor keeps, it writes: nobody else may have that memory.
after_a_refusal() {
	hv script refuse=deregister,burst=85 || return 1
	$REC -o x.data sleep 0.3 && rmmod vpa_dtl || return 1
	writes || { echo "the hypervisor does not write"; return 1; }
	echo 1 >/sys/kernel/slab/dtl/validate || return 1
	insmod $MODULE && hv script '' && $REC -o x.data sleep 0.3 || return 1
	! writes || { echo "the hypervisor still writes"; return 1; }
}
check "taken out while the hypervisor keeps its logs, and loaded" after_a_refusal
hv script ''
kselftest
check "kselftest vpa_dtl skips nothing" [ "$(grep -c '^skip: ' vpa_dtl.log)" = 0 ]
check "the kernel said nothing it should not" quiet_kernel
done_testing
