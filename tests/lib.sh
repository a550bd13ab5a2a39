# SPDX-License-Identifier: GPL-2.0
# TAP for tests on the host and in the guest (busybox sh), and what both share.
# Sourced.

tests_failed=0

# check NAME COMMAND…: one test, passed when the command succeeds.
check() {
	check_name=$1
	check_out=$(mktemp)
	shift
	if "$@" >"$check_out" 2>&1; then
		echo "ok - $check_name"
	else
		echo "not ok - $check_name"
		tail -n 40 "$check_out" | sed 's/^/# /'
		tests_failed=$((tests_failed + 1))
	fi
	rm -f "$check_out"
}

# somebody_signs: git has an identity for what a test commits.
somebody_signs() {
	git -C "$TOP" config user.email >/dev/null ||
		export GIT_CONFIG_COUNT=2 GIT_CONFIG_KEY_0=user.name GIT_CONFIG_VALUE_0=tester \
			GIT_CONFIG_KEY_1=user.email GIT_CONFIG_VALUE_1=tester@localhost
}

skip() { echo "ok - $1 # SKIP $2"; }

# done_testing: the suite's exit status.
done_testing() { [ "$tests_failed" = 0 ]; exit $?; }
