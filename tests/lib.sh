# SPDX-License-Identifier: GPL-2.0
# TAP for tests on the host and in the guest (busybox sh), and what both share.
# Sourced.

tests_failed=0

# check NAME COMMAND…: one test, passed when the command succeeds.
check() {
	name=$1
	shift
	if "$@" >/tmp/check.out 2>&1; then
		echo "ok - $name"
	else
		echo "not ok - $name"
		sed 's/^/# /' /tmp/check.out
		tests_failed=$((tests_failed + 1))
		return 0
	fi
}

skip() { echo "ok - $1 # SKIP $2"; }

# done_testing: the suite's exit status.
done_testing() { [ "$tests_failed" = 0 ]; exit $?; }
