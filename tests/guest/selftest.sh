# SPDX-License-Identifier: GPL-2.0
# The tests that the kernel's and perf's own trees keep, in the guest: kselftest
# of the PMU, perf's C suites and its shell test, which here finds the PMU.
# BRINGS=selftests
. /root/lib-guest.sh

kselftest
# Here the hypervisor writes and all other users of the log are there.
check "kselftest vpa_dtl skips nothing" [ "$(grep -c '^skip: ' vpa_dtl.log)" = 0 ]

# By number: names select single cases only, where a suite has some.
c_suites() {
	perf test list 2>&1 | sed -n 's/^ *\([0-9]*\): .*\([Dd]ispatch trace log\).*/\1/p' >numbers
	[ -s numbers ] || { perf test list 2>&1; return 1; }
	while read -r n; do
		perf test -v "$n" >c.log 2>&1
		rc=$?
		cat c.log
		[ $rc = 0 ] && grep -q ': *Ok' c.log && ! grep -qE 'FAILED|Skip' c.log || return 1
	done <numbers
}
check "perf's C suites on ppc64le" c_suites
check "perf's shell test, with the PMU" sh ./test_vpa_dtl.sh
check "the kernel said nothing it should not" quiet_kernel
done_testing
