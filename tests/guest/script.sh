# SPDX-License-Identifier: GPL-2.0
# A scripted hypervisor: bursts, every code, times at their limits, a log index
# that runs on.
. /root/lib-guest.sh

# scripted FILE "SCRIPT" PERIOD SECONDS: record under a scripted hypervisor.
scripted() {
	hv script "$2" || return 1
	recorded "$1" perf record -q -a -e vpa_dtl/dtl_all/ -c "$3" -o "$1" sleep "$4"
	rc=$?
	hv script ''
	return $rc
}

check "records bursts of 85" scripted whole.data burst=85,interval=20000000,count=1700 5000000 1.2
check "records bursts of 200, more than the log holds" scripted overrun.data burst=200,interval=50000000,count=4000 10000000 2
check "records a log index that runs on" scripted skip.data burst=85,skip=1000,interval=50000000,count=1700 10000000 2

# A step of 17 fits the 85 slots 5 times, so what is skipped is the same 10 slots of
# each 17 in all laps. In the session before, each slot had an entry.
skipped() {
	hv script burst=85,interval=20000000,count=85 || return 1
	start_recording skipped.data perf record -q -a -e vpa_dtl/dtl_all/ -c 5000000 -o skipped.data
	sleep 1
	control disable
	hv script skip=10,burst=7,interval=50000000,count=70
	control enable
	sleep 2
	control disable
	hv script ''
	stop_recording
	rc=$?
	# perf has no entries for what was skipped: no ledger
	rm /out/skipped.data.before
	return $rc
}
check "records what was skipped after a disable and enable" skipped
# The second log has the memory of the first, which was just freed.
debugfs_skipped() {
	hv script burst=85,interval=20000000,count=85 || return 1
	exec 4</sys/kernel/debug/powerpc/dtl/cpu-0
	sleep 0.5
	exec 4<&-
	hv script skip=10,burst=7,interval=20000000,count=28
	exec 4</sys/kernel/debug/powerpc/dtl/cpu-0
	sleep 1
	dd bs=4080 count=1 <&4 >/out/debugfs
	exec 4<&-
	hv script ''
}
check "reads what was skipped from debugfs" debugfs_skipped
# A hypervisor that zeroes the index of a log that it is given back. With one look an
# hour, all that is written before is found at the last, after that.
forgotten() {
	hv script forget=1,burst=50,count=50 || return 1
	recorded forgotten.data perf record -q -a -e vpa_dtl/dtl_all,fixed=1/ -c 3600000000000 -o forgotten.data sleep 1 || return 1
	hv script forget=1,burst=50,count=50
	perf stat -x, -a -A -e vpa_dtl/dtl_all/ sleep 1 2>stat.txt
	rc=$?
	hv script ''
	cat stat.txt
	[ $rc = 0 ] && [ "$(grep -c '^CPU[01],50,' stat.txt)" = 2 ]
}
check "records and counts where the index is zeroed with the log" forgotten
check "records every reason code" scripted walk.data reasons=walk,times=limits,burst=16,interval=5000000,count=2048 5000000 2
check "the kernel said nothing it should not" quiet_kernel
done_testing
