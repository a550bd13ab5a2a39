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

# c_suites: the descriptions of perf's C suites of ours, a line each; on the host.
c_suites() {
	sed -n 's/^\t\.desc = "\(.*\)",$/\1/p; s/^DEFINE_SUITE("\(.*\)", .*/\1/p' "$TOP"/tools/perf/tests/*.c
}
# check_c_suites FILE: each suite that FILE describes is in perf, runs and passes.
check_c_suites() {
	check "perf's C suites are named" [ -s "$1" ]
	while read -r desc; do
		check "perf test \"$desc\"" c_suite "$desc" </dev/null
	done <"$1"
}
c_suite() {
	# By its number: names select single cases only, where a suite has some.
	n=$(perf test list 2>&1 | sed -n "s/^ *\([0-9]*\): $1\$/\1/p")
	[ -n "$n" ] || { echo "this perf does not list it"; return 1; }
	n=$(perf test -v "$n" 2>&1) || { echo "$n"; return 1; }
	echo "$n"
	case $n in
	*FAILED*|*Skip*) return 1 ;;
	*": Ok"*) ;;
	*) return 1 ;;
	esac
}

# done_testing: the suite's exit status.
done_testing() { [ "$tests_failed" = 0 ]; exit $?; }
