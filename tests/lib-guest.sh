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

# recorded FILE COMMAND…: run a recorder that writes FILE, and take it to the host
# with what the hypervisor says to have written; the host balances the ledger.
# LOAD=N lets N endless loops run meanwhile.
recorded() {
	file=$1
	shift
	hv written >"/out/$file.before" || return 1
	busy "${LOAD:-0}"
	"$@"
	rc=$?
	not_busy
	hv written >"/out/$file.after"
	cp "$file" /out/
	[ $rc = 0 ] || echo "the recorder failed with status $rc"
	return $rc
}

# start_recorder FILE COMMAND…, wait_recorder: the same, in the background.
start_recorder() {
	hv written >"/out/$1.before" || return 1
	recording=$1
	shift
	"$@" &
	recorder=$!
}
wait_recorder() {
	wait "$recorder"
	rc=$?
	hv written >"/out/$recording.after"
	cp "$recording" /out/
	[ $rc = 0 ] || echo "the recorder failed with status $rc"
	return $rc
}

# since WRITTEN: how far the hypervisor has come on both processors since then.
since() { set -- $1 $2 $(hv written); echo $(($3 - $1)) $(($4 - $2)); }
# until_written N WRITTEN [SECONDS]: wait until it has come N entries further on both.
until_written() {
	left=$((${3:-100000} * 5))
	while set -- "$1" "$2" $(since $2); [ $3 -lt $1 ] || [ $4 -lt $1 ]; do
		[ $left -gt 0 ] || { echo "$3 and $4 entries are written, not $1"; return 1; }
		left=$((left - 1))
		sleep 0.2
	done
}
# writes: the hypervisor writes a log.
writes() {
	written=$(hv written)
	sleep 0.3
	now=$(hv written)
	echo "written $written, later $now"
	[ "$written" != "$now" ]
}

# online CPU 0|1: take a processor away, or bring it back.
online() { echo $2 >/sys/devices/system/cpu/cpu$1/online; }

# has_event PID: wait until that process has opened an event, however slow it starts.
has_event() {
	i=0
	while [ $i -lt 600 ]; do
		ls -l "/proc/$1/fd" 2>/dev/null | grep -q 'perf_event' && return 0
		sleep 0.1
		i=$((i + 1))
	done
	echo "no event was opened in a minute"
	return 1
}

# start_recording FILE COMMAND…, stop_recording: a recorder without a workload. It
# records when start_recording returns, on however slow a machine.
start_recording() {
	rm -f ctl ack
	mkfifo ctl ack
	start_recorder "$@" -D -1 --control fifo:ctl,ack || return 1
	exec 5>ctl 6<ack
	control enable
}
# Each answer is waited for, so that no command runs into another.
control() {
	echo "$1" >&5
	read -r -t 60 answer <&6 || { echo "no answer to $1"; return 1; }
}
stop_recording() {
	control stop
	exec 5>&- 6<&-
	wait_recorder
}

# quiet_kernel: nothing in the kernel's messages that a kernel must not say. A
# debug kernel is asked for leaks first; it says so where it finds some.
quiet_kernel() {
	leaks=/sys/kernel/debug/kmemleak
	if [ -e $leaks ]; then
		# An object is only called lost when it has been so for 5 seconds.
		echo scan >$leaks
		sleep 6
		echo scan >$leaks
		grep -A 20 'unreferenced object' $leaks && return 1
	fi
	! dmesg | grep -E 'BUG|WARNING|Oops|Call Trace|INFO: |possible .* lock|ODEBUG|corruption|suspected memory leak'
}

# kselftest: runs ./vpa_dtl, which speaks "success: name", "skip: name", "failure:
# name", as tests of ours.
kselftest() {
	./vpa_dtl >vpa_dtl.log 2>&1
	rc=$?
	sed -n 's/^success: /ok - kselftest /p; s/^failure: /not ok - kselftest /p; s/^skip: \(.*\)/ok - kselftest \1 # SKIP it said so/p' vpa_dtl.log
	check "kselftest vpa_dtl ends well" [ $rc = 0 ]
	[ $rc = 0 ] || sed 's/^/# /' vpa_dtl.log
}

# log_index CPU: how many entries its log has had, from its VPA.
log_index() {
	echo $((0x$(dd if=/sys/kernel/debug/powerpc/vpa/cpu-$1 bs=8 skip=67 count=1 2>/dev/null | hexdump -v -e '8/1 "%02x"')))
}

# dtl_readable CPU: the log's debugfs file can be opened.
dtl_readable() { ( exec 4<"/sys/kernel/debug/powerpc/dtl/cpu-$1" ) 2>/dev/null; }
