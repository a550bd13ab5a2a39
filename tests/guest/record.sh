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

less_than_a_period() {
	recorded a.data perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000000 -o a.data sleep 0.5 &&
		[ "$(entries a.data)" -gt 0 ]
}
check "less than one period gives its entries" less_than_a_period

busy 3
check "two seconds on a busy guest balance" \
	recorded b.data perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o b.data sleep 2
check "two seconds beside sched:* balance" \
	recorded sched.data perf record -q -a -e 'sched:*,vpa_dtl/dtl_all/' -c 10000000 -o sched.data sleep 2
both_cpus_stop() {
	[ "$(perf script -i sched.data 2>/dev/null | grep vpa-dtl: | grep -c '\[000\]')" -gt 0 ] &&
	[ "$(perf script -i sched.data 2>/dev/null | grep vpa-dtl: | grep -c '\[001\]')" -gt 0 ]
}
check "both processors have entries" both_cpus_stop
in_time_order() {
	perf script -i sched.data --ns -F time,event 2>/dev/null | tr -d ':' |
		awk '{ if ($1 + 0 < last) { print "goes back at line " NR ": " $0; exit 1 } last = $1 + 0; n[$2]++ }'
}
check "perf script is in time order" in_time_order
not_busy

enable_and_disable() {
	rm -f ctl ack
	mkfifo ctl ack
	before=$(hv written)
	perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -D -1 --control fifo:ctl,ack -o c.data 2>c.err &
	pid=$!
	exec 5>ctl 6<ack
	i=0
	while [ $i -lt 500 ]; do
		echo enable >&5; read -r answer <&6 || return 1
		echo disable >&5; read -r answer <&6 || return 1
		i=$((i + 1))
	done
	echo stop >&5
	read -r answer <&6
	exec 5>&- 6<&-
	wait $pid || { cat c.err; return 1; }
	ledger c.data "$before" "$(hv written)"
}
busy 1
check "500 enables and disables balance" enable_and_disable
not_busy

second_is_refused() {
	before=$(hv written)
	perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o first.data sleep 2 &
	pid=$!
	sleep 0.7
	perf record -a -e vpa_dtl/dtl_all/ -c 1000000 -o second.data sleep 0.2 >second.err 2>&1 &&
		{ echo "the second recorder was not refused"; return 1; }
	cat second.err
	grep -qi busy second.err || return 1
	wait $pid || return 1
	ledger first.data "$before" "$(hv written)"
}
check "a second recorder is refused and the first's ledger balances" second_is_refused

record_briefly() { perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o x.data sleep 0.2; }

others_refused_while_recording() {
	perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o d.data sleep 2 &
	pid=$!
	sleep 0.7
	bad=
	dtl_readable 0 && bad="debugfs opened; "
	( echo 1 >/proc/powerpc/vcpudispatch_stats ) 2>/dev/null && bad="${bad}vcpudispatch_stats started; "
	wait $pid || bad="${bad}the recorder failed"
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

only_its_kind() {
	hv script 'reasons=kinds,interval=500000' || return 1
	perf record -q -a -e "vpa_dtl/$1/" -c 1000000 -o k.data sleep 0.5
	hv script ''
	all=$(entries k.data)
	its=$(entries k.data "preempt_reason:$2,")
	echo "$all entries, $its of preempt reason $2"
	[ "$all" -gt 20 ] && [ "$all" = "$its" ]
}
check "dtl_cede logs cedes and confers only" only_its_kind dtl_cede '\(H_CEDE\|H_CONFER\)'
check "dtl_preempt logs time slices only" only_its_kind dtl_preempt time_slice
check "dtl_fault logs page faults only" only_its_kind dtl_fault virtual_memory_page_fault
every_kind() {
	only_its_kind dtl_all '[A-Za-z_]*' || return 1
	for kind in H_CEDE H_CONFER time_slice virtual_memory_page_fault; do
		[ "$(entries k.data "preempt_reason:$kind,")" -gt 0 ] || { echo "no $kind"; return 1; }
	done
}
check "dtl_all logs every kind" every_kind

check "the kernel said nothing it should not" quiet_kernel
perf script -i sched.data >/out/sched.txt 2>/dev/null
perf script -i b.data >/out/busy.txt 2>/dev/null
cp sched.data b.data /out/
cp /proc/kallsyms /out/kallsyms
done_testing
