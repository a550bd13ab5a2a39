# SPDX-License-Identifier: GPL-2.0
# The tests that the kernel's and perf's own trees keep, in the guest: kselftest
# of the PMU, perf's C suites and its shell test, which here finds the PMU.
# BRINGS=selftests
. /root/lib-guest.sh

kselftest
# Here the hypervisor writes and all other users of the log are there.
check "kselftest vpa_dtl skips nothing" [ "$(grep -c '^skip: ' vpa_dtl.log)" = 0 ]

check_c_suites c-suites

# Here it can be recorded, and perf has all of its commands.
shell_test() {
	sh ./test_vpa_dtl.sh >shell.log 2>&1
	rc=$?
	cat shell.log
	[ $rc = 0 ] && ! grep -q 'Skipped' shell.log
}
check "perf's shell test, with the PMU" shell_test
check "the kernel said nothing it should not" quiet_kernel
done_testing
