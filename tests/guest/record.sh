# SPDX-License-Identifier: GPL-2.0
# Recording under real dispatches: two virtual processors on one processor.
. /root/lib-guest.sh

sysfs_as_documented() {
	[ "$(cat $DTL/format/event)" = config:0-7 ] &&
	[ "$(cat $DTL/events/dtl_cede)" = event=0x1 ] &&
	[ "$(cat $DTL/events/dtl_preempt)" = event=0x2 ] &&
	[ "$(cat $DTL/events/dtl_fault)" = event=0x4 ] &&
	[ "$(cat $DTL/events/dtl_all)" = event=0x7 ] &&
	[ "$(ls $DTL/events | wc -l)" = 4 ] &&
	[ "$(cat $DTL/caps/tb_freq)" = 512000000 ] &&
	[ -s $DTL/caps/boot_tb ]
}
check "sysfs: format, events and caps are as documented" sysfs_as_documented

REC="perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000"
check "records for less than one period" \
	recorded short.data perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000000 --no-switch-events -o short.data sleep 0.5
LOAD=3
check "records two seconds on a busy guest" recorded busy.data $REC -o busy.data sleep 2
check "records two seconds beside sched:*" \
	recorded sched.data perf record -q -a -e 'sched:*,vpa_dtl/dtl_all/' -c 10000000 -o sched.data sleep 2
LOAD=0
says_no_warning() {
	perf record -a -e vpa_dtl/dtl_all/ -c 1000000 -o quiet.data sleep 0.2 >quiet.err 2>&1 &&
		grep -q 'Captured and wrote' quiet.err && ! grep -i warning quiet.err
}
check "perf record that is not told to be quiet says nothing of damage" says_no_warning

enable_and_disable() {
	start_recording control.data $REC -o control.data || return 1
	i=0
	while [ $i -lt 500 ]; do
		control disable && control enable || return 1
		i=$((i + 1))
	done
	stop_recording
}
check "500 enables and disables" enable_and_disable

second_is_refused() {
	start_recording first.data $REC -o first.data || return 1
	perf record -a -e vpa_dtl/dtl_all/ -c 1000000 -o second.data sleep 0.2 >second.err 2>&1 &&
		echo "the second recorder was not refused" >>second.err
	stop_recording || return 1
	cat second.err
	grep -q "dispatch trace log (vpa_dtl.*) is in use" second.err
}
check "a second recorder is refused with EBUSY" second_is_refused

record_briefly() { perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o x.data sleep 0.2; }

others_refused_while_recording() {
	start_recording beside.data $REC -o beside.data || return 1
	bad=
	dtl_readable 0 && bad="debugfs opened; "
	( echo 1 >/proc/powerpc/vcpudispatch_stats ) 2>/dev/null && bad="${bad}vcpudispatch_stats started; "
	stop_recording || bad="${bad}the recorder failed"
	[ -z "$bad" ] || { echo "$bad"; return 1; }
}
check "debugfs and vcpudispatch_stats are refused while recording" others_refused_while_recording
check "debugfs opens after recording" dtl_readable 0
vcpudispatch_works() {
	echo 1 >/proc/powerpc/vcpudispatch_stats && sleep 0.2 &&
	grep -q '^cpu0 [0-9]' /proc/powerpc/vcpudispatch_stats &&
	! record_briefly 2>/dev/null && echo 0 >/proc/powerpc/vcpudispatch_stats
}
check "vcpudispatch_stats works after recording, and refuses a recorder" vcpudispatch_works
debugfs_refuses() {
	exec 4</sys/kernel/debug/powerpc/dtl/cpu-1 || return 1
	record_briefly 2>/dev/null && { exec 4<&-; echo "recorded beside debugfs"; return 1; }
	exec 4<&-
}
check "an open debugfs reader refuses a recorder" debugfs_refuses
check "recording works after both" record_briefly

switched_files() {
	before=$(($(echo $(hv written) | tr ' ' +)))
	# A slow machine is late with them
	perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 --switch-output=1s -o switched sh -c '
		for i in $(seq 120); do
			set -- switched.2*
			[ $# -lt 3 ] || break
			sleep 0.5
		done' || return 1
	set -- switched.*
	[ $# -gt 2 ] || { echo "$# files"; return 1; }
	for f; do
		perf script -i $f --show-lost-events >>all 2>err && ! grep . err || return 1
	done
	# What is counted in them all, and what the hypervisor wrote meanwhile
	awk '/ vpa-dtl: / { n++ } /LOST_SAMPLES/ { sub(/\(.*/, ""); n += $NF }
	     END { print n " entries of " written; exit n != written }' \
		written=$(($(echo $(hv written) | tr ' ' +) - before)) all
}
check "files that were switched are sound" switched_files
refused_with() { # WORDS COMMAND...
	words=$1
	shift
	"$@" 2>err && { echo "not refused"; return 1; }
	cat err
	grep -q "$words" err
}
check "--aio is refused" refused_with "not available in AUX" perf record -a -e vpa_dtl/dtl_all/ --aio -o x.data true
check "an event that does not lead its group is refused" refused_with "first event of a group" \
	perf record -a -e '{cpu-clock,vpa_dtl/dtl_all/}' -o x.data true
for modifier in G H; do
	check "vpa_dtl/dtl_all/$modifier, which the log cannot tell apart, is refused" refused_with "Invalid argument" \
		perf record -a -e vpa_dtl/dtl_all/$modifier -o x.data true
done

# Every kind in turn; the host looks which of them each event logged.
for event in dtl_cede dtl_preempt dtl_fault dtl_all; do
	hv script 'reasons=kinds,interval=500000'
	check "records $event" recorded $event.data \
		perf record -q -a -e "vpa_dtl/$event/" -c 1000000 -o $event.data sleep 0.5
	hv script ''
done

check "the kernel said nothing it should not" quiet_kernel
perf script -i sched.data >/out/sched.txt 2>/dev/null
perf script -i busy.data >/out/busy.txt 2>/dev/null
cp /proc/kallsyms /out/kallsyms
done_testing
