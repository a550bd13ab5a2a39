# SPDX-License-Identifier: GPL-2.0
# The tests that the kernel's and perf's own trees keep, in the guest: kselftest
# of the PMU, perf's C suites and its shell test, which here finds the PMU.
# BRINGS=selftests
. /root/lib-guest.sh

# kselftest speaks "success: name", "skip: name", "failure: name".
./vpa_dtl >vpa_dtl.log 2>&1
rc=$?
sed -n 's/^success: /ok - kselftest /p; s/^failure: /not ok - kselftest /p; s/^skip: \(.*\)/ok - kselftest \1 # SKIP it said so/p' vpa_dtl.log
check "kselftest vpa_dtl ends well" [ $rc = 0 ]
[ $rc = 0 ] || sed 's/^/# /' vpa_dtl.log

c_suite() {
	perf test -v "dispatch trace log" >c.log 2>&1
	rc=$?
	cat c.log
	[ $rc = 0 ] && grep -q ': *Ok' c.log && ! grep -qE 'FAILED|Skip' c.log
}
check "perf's C suites on ppc64le" c_suite
check "perf's shell test, with the PMU" sh ./test_vpa_dtl.sh
check "the kernel said nothing it should not" quiet_kernel
done_testing
