#!/bin/sh
# powerpc dispatch trace log (vpa_dtl)
# SPDX-License-Identifier: GPL-2.0
#
# Recording is tested where there is the PMU. Decoding is tested everywhere, on
# small files that are made here, in either byte order.

set -e

# Without it there is no decoder either.
perf check feature -q auxtrace || exit 2

dir=$(mktemp -d "${TMPDIR:-/tmp}/__perf_test.vpa_dtl.XXXXXX")
pmu=/sys/bus/event_source/devices/vpa_dtl
failed=0

cleanup() {
	rm -rf "${dir}"
	trap - EXIT TERM INT
}

trap_cleanup() {
	cleanup
	exit 1
}
trap trap_cleanup EXIT TERM INT

fail() {
	echo "$1 [Failed]"
	failed=1
}

# put BITS VALUE...: write numbers in the byte order $order
put() {
	bits=$1
	shift
	for value; do
		hex=$(printf "%0$((bits / 4))x" "${value}")
		while [ -n "${hex}" ]; do
			if [ "${order}" = big ]; then
				rest=${hex#??}
				byte=${hex%"${rest}"}
			else
				rest=${hex%??}
				byte=${hex#"${rest}"}
			fi
			printf '%b' "\\0$(printf %o "0x${byte}")"
			hex=${rest}
		done
	done
}

# entry DISPATCH PREEMPT PROCESSOR ENQUEUE READY WAITING TIMEBASE SRR0 SRR1: as the
# hypervisor writes it, always big-endian
entry() {
	kernel_order=${order}
	order=big
	put 8 "$1" "$2"
	put 16 "$3"
	put 32 "$4" "$5" "$6"
	put 64 "$7" 0 "$8" "$9"
	order=${kernel_order}
}

# header FREQUENCY: boot timebase, frequency, 0, and what means nothing
header() {
	put 64 4489169655 "$1" 0 0 0 0
}

# start_file: a perf.data stream of one CPU, as written to a pipe, up to the AUX area data
start_file() {
	# struct perf_pipe_file_header
	put 64 0x32454c4946524550 16

	# PERF_RECORD_HEADER_ATTR with one id. sample_type: IP, TID, TIME, CPU,
	# IDENTIFIER. Of the bits after it, sample_id_all.
	put 32 64
	put 16 0 80
	put 32 8 64
	put 64 7 1000000 0x10087 4
	if [ "${order}" = big ]; then
		put 64 $((1 << 45))
	else
		put 64 $((1 << 18))
	fi
	put 32 0 0
	put 64 0 1

	# PERF_RECORD_AUXTRACE_INFO of type 7, with the PMU type alone
	put 32 70
	put 16 0 24
	put 32 7 0
	put 64 8
}

# data BYTES OFFSET: what comes before so much of the AUX area data
data() {
	# PERF_RECORD_AUXTRACE: size, offset, reference, idx, tid, cpu, reserved
	put 32 71
	put 16 0 48
	put 64 "$1" "$2" 0
	put 32 0 4294967295 0 0
}

# make_file FREQUENCY
make_file() {
	start_file
	data 192 0
	header "$1"
	entry 7 4 0 436 0 0 6986321951 0xc00000000000b430 0x8000000000001033
	entry 3 2 1 4294967295 4294967295 4294967295 6986403254 0x10000000 0x800000000280f033
	entry 11 255 65535 1 2 3 6986407207 0xc00000000000b430 0x8000000000001033
}

test_decode() {
	order=$1
	echo "Decoding, ${order}-endian"
	make_file 512000000 > "${dir}/perf.data"

	perf script --ns -F time,event,synth -i - < "${dir}/perf.data" > "${dir}/all" \
		2> "${dir}/err" || { fail "perf script"; cat "${dir}/err"; return; }
	sed 's/^ *//; s/  */ /g; s/ $//' "${dir}/all" > "${dir}/got"

	cat > "${dir}/want" <<-END
	4.877250578: vpa-dtl: timebase: 6986321951 dispatch_reason:time_slice, preempt_reason:time_slice, enqueue_to_dispatch_time:436, ready_to_enqueue_time:0, waiting_to_ready_time:0, processor_id: 0
	4.877409372: vpa-dtl: timebase: 6986403254 dispatch_reason:decrementer_interrupt, preempt_reason:H_CEDE, enqueue_to_dispatch_time:4294967295, ready_to_enqueue_time:4294967295, waiting_to_ready_time:4294967295, processor_id: 1
	4.877417092: vpa-dtl: timebase: 6986407207 dispatch_reason:unknown(11), preempt_reason:unknown(255), enqueue_to_dispatch_time:1, ready_to_enqueue_time:2, waiting_to_ready_time:3, processor_id: 65535
	END
	diff "${dir}/want" "${dir}/got" || fail "perf script"

	perf report -D -i - < "${dir}/perf.data" > "${dir}/got" 2> "${dir}/err" || true
	grep -q 'size 192 bytes, 3 entries' "${dir}/got" || fail "perf report -D: sizes"
	grep -q 'boot_tb: 4489169655, tb_freq: 512000000' "${dir}/got" ||
		fail "perf report -D: header frame"
	[ "$(grep -c 'dispatch_reason:' "${dir}/got")" -eq 3 ] ||
		fail "perf report -D: entries"

	perf script --no-itrace -i - < "${dir}/perf.data" > "${dir}/got" 2> "${dir}/err" ||
		fail "perf script --no-itrace"
	[ ! -s "${dir}/got" ] || fail "perf script --no-itrace"
}

# Without a frequency no entry has a time: none is shown, and that is said.
test_no_frequency() {
	order=little
	echo "A frequency of zero"
	make_file 0 > "${dir}/perf.data"
	perf script -i - < "${dir}/perf.data" > "${dir}/got" 2> "${dir}/err" || fail "perf script"
	grep -q 'vpa-dtl:' "${dir}/got" && fail "entries with a made-up time"
	grep -q 'instruction trace error' "${dir}/got" || fail "no error in the output"
	grep -q '2 instruction trace errors' "${dir}/err" || fail "no error at the end"
	return 0
}

# A frequency is that of the entries after it, not of those that wait to be put in order.
test_two_frequencies() {
	order=little
	echo "Two frequencies"
	{
		start_file
		data 192 0
		header 1000000000
		entry 7 4 0 0 1000000 0 6986321951 0xc00000000000b430 0x8000000000001033
		header 2000000000
		entry 7 4 0 0 1000000 0 16986321951 0xc00000000000b430 0x8000000000001033
	} > "${dir}/perf.data"
	perf script -F ins_lat -i - < "${dir}/perf.data" > "${dir}/got" 2> "${dir}/err" ||
		fail "perf script"
	[ "$(tr -s " \n" " " < "${dir}/got")" = " 1000 500 " ] || fail "ready times in microseconds"
}

# A frame that is dumped in the second of its two records, and what is no whole frame.
test_dump() {
	order=little
	echo "A frame in two records"
	entry 7 4 0 436 0 0 6986321951 0xc00000000000b430 0x8000000000001033 > "${dir}/frame"
	{
		start_file
		data 72 0
		header 512000000
		head -c 24 "${dir}/frame"
		data 27 72
		tail -c 24 "${dir}/frame"
		printf odd
	} > "${dir}/perf.data"
	perf report -D -i - < "${dir}/perf.data" > "${dir}/got" 2> "${dir}/err" || true
	grep -q -e '-00000018:  dispatch_reason:time_slice' "${dir}/got" || fail "its position"
	grep -q 'stream offset 0x60: 3 bytes: ' "${dir}/got" || fail "the end of the stream"
}

# What perf dtl makes of the same file: numbers in each format, and a picture that ends.
test_dtl() {
	order=$1
	if ! perf --list-cmds 2> /dev/null | grep -q -w dtl; then
		echo "perf dtl [Skipped: not in this perf]"
		return
	fi

	echo "perf dtl, ${order}-endian"
	make_file 512000000 > "${dir}/perf.data"

	perf dtl report --json -i - < "${dir}/perf.data" > "${dir}/got" 2> "${dir}/err" ||
		fail "perf dtl report"
	grep -q '"tb_freq_hz": 512000000, "cpus": 1, "entries": 3, "first_ns": 4877250578, "last_ns": 4877417092, ' \
		"${dir}/got" || fail "perf dtl report: the recording"
	# 436 + 2 * (2^32 - 1) + 3 ticks are stolen
	grep -q '"stolen_ticks": 8589935029, ' "${dir}/got" || fail "perf dtl report: stolen time"

	perf dtl timehist -x, -i - < "${dir}/perf.data" > "${dir}/all" 2> "${dir}/err" ||
		fail "perf dtl timehist"
	cut -d, -f1-3,9-15 "${dir}/all" > "${dir}/got"
	cat > "${dir}/want" <<-END
	time_ns,cpu,event,ready_to_enqueue_ns,enqueue_to_dispatch_ns,stolen_ns,processor_before,processor,preempt_reason,dispatch_reason
	4877250578,0,dispatch,0,851,851,,0,time_slice,time_slice
	4877409372,0,dispatch,8388607998,8388607998,16777215996,0,1,H_CEDE,decrementer_interrupt
	4877417092,0,dispatch,3,1,4,1,65535,unknown(255),unknown(11)
	END
	diff "${dir}/want" "${dir}/got" || fail "perf dtl timehist"
	grep -q '^Inconsistent: 1 entries' "${dir}/err" || fail "perf dtl timehist: no word of the waits"

	perf dtl timechart -o "${dir}/got" -i - < "${dir}/perf.data" > "${dir}/all" 2>&1 ||
		fail "perf dtl timechart"
	tail -n 1 "${dir}/got" | grep -q '^</svg>$' || fail "perf dtl timechart: no end"
}

test_record() {
	if [ ! -d "${pmu}" ]; then
		echo "Recording [Skipped: no vpa_dtl PMU]"
		return
	fi
	if ! perf record -q -a -e vpa_dtl/dtl_all/ -o "${dir}/perf.data" true 2> "${dir}/err"; then
		# Nothing is wrong with perf where the log is not for this user, or another
		# has it.
		if [ "$(id -u)" != 0 ]; then
			echo "Recording [Skipped: not root]"
		elif grep -q -e 'is in use' -e 'Device or resource busy' "${dir}/err"; then
			echo "Recording [Skipped: the log is in use]"
		else
			fail "perf record"
			cat "${dir}/err"
		fi
		return
	fi

	echo "Recording"
	perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o "${dir}/perf.data" sleep 1 ||
		fail "perf record"
	perf script --ns -F tid,cpu,time,event,synth -i "${dir}/perf.data" > "${dir}/got" 2> "${dir}/err" ||
		fail "perf script"
	entries=$(grep -c 'vpa-dtl: ' "${dir}/got" || true)
	dumped=$(perf report -D -i "${dir}/perf.data" 2> /dev/null | grep -c 'dispatch_reason:' || true)
	echo "${entries} entries, ${dumped} in the dump"
	[ "${entries}" -gt 0 ] || fail "no entries"
	[ "${entries}" -eq "${dumped}" ] || fail "perf script and perf report -D differ"
	grep 'instruction trace error' "${dir}/got" && fail "errors in the trace"
	sed -n 's/^.* \([0-9]*\.[0-9]*\): .*/\1/p' "${dir}/got" | sort -c -n || fail "times go back"

	echo "Recording through a pipe"
	perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o - sleep 0.5 |
		perf script -i - > "${dir}/got" 2> "${dir}/err" || fail "perf script"
	grep -q 'vpa-dtl: ' "${dir}/got" || fail "no entries"

	echo "Snapshot"
	perf record -q -a -Se -e vpa_dtl/dtl_all/ -c 1000000 -o "${dir}/perf.data" sleep 0.5 ||
		fail "perf record -Se"
	perf script -i "${dir}/perf.data" > "${dir}/got" 2> "${dir}/err" || fail "perf script"
	grep -q 'vpa-dtl: ' "${dir}/got" || fail "no entries"
	grep 'instruction trace error' "${dir}/got" && fail "errors in the trace"

	echo "What cannot be recorded"
	perf record -q -a -k mono -e vpa_dtl/dtl_all/ -o "${dir}/perf.data" true 2> /dev/null &&
		fail "another clock"
	perf record -q -e vpa_dtl/dtl_all/ -o "${dir}/perf.data" true 2> /dev/null &&
		fail "a task"
	perf record -q -a -e vpa_dtl/dtl_cede/,vpa_dtl/dtl_preempt/ -o "${dir}/perf.data" true \
		2> /dev/null && fail "two events"
	return 0
}

test_decode little
test_decode big
test_no_frequency
test_two_frequencies
test_dump
test_dtl little
test_dtl big
test_record

cleanup
exit ${failed}
