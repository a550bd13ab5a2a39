# SPDX-License-Identifier: GPL-2.0
# What the guest scenarios share. They run in the guest under busybox sh, from
# /root, where this file, lib.sh and the scenario's own files lie. Sourced.

. /root/lib.sh

DTL=/sys/bus/event_source/devices/vpa_dtl
BUSY=

# busy N: N endless loops, until not_busy.
busy() {
	i=0
	while [ $i -lt "$1" ]; do
		( while :; do :; done ) &
		BUSY="$BUSY $!"
		i=$((i + 1))
	done
}
not_busy() {
	# shellcheck disable=SC2086
	[ -z "$BUSY" ] || kill $BUSY
	BUSY=
}

# recorded FILE COMMAND…: run a recorder that writes FILE, then balance its ledger.
recorded() {
	file=$1
	shift
	before=$(hv written) || return 1
	"$@" || { echo "the recorder failed with status $?"; return 1; }
	after=$(hv written)
	ledger "$file" "$before" "$after"
}

# entries FILE [PATTERN]: how many entries of the log perf script shows.
entries() { perf script -i "$1" 2>/dev/null | grep -c "vpa-dtl: .*${2:-}"; }

# lost FILE: how many entries are told as lost.
lost() {
	perf script -i "$1" --show-lost-events 2>/dev/null |
		awk '/PERF_RECORD_LOST_SAMPLES/ { sub(/\(.*/, ""); n += $NF } END { print n + 0 }'
}

# quiet_kernel: nothing in the kernel's messages that a kernel must not say.
quiet_kernel() {
	! dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|INFO: |possible .* lock|KASAN|leak'
}

# dtl_readable CPU: the log's debugfs file can be opened.
dtl_readable() { ( exec 4<"/sys/kernel/debug/powerpc/dtl/cpu-$1" ) 2>/dev/null; }
