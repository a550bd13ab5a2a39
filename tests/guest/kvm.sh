# SPDX-License-Identifier: GPL-2.0
# Under a hypervisor that nobody here wrote: three virtual processors of a guest of
# Linux KVM, which share one processor. It logs what it likes, whatever the mask.
# CONFIG=kvm-host
# LAB=boot-kvm
# SMP=3
# BRINGS=selftests
. /root/lib-guest.sh

# The log's index of each processor: where it ended, as an event starts it from 0
# and KVM writes no more once the log is given back.
indices() {
	echo "$(log_index 0) $(log_index 1) $(log_index 2)"
}
REC="perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000"
kvm_recorded() { # FILE COMMAND…
	file=$1
	shift
	busy "${LOAD:-0}"
	"$@"
	rc=$?
	not_busy
	echo 0 0 0 >"/out/$file.before"
	indices >"/out/$file.after"
	cp "$file" /out/
	return $rc
}
LOAD=3
check "records three seconds of three endless loops" kvm_recorded share.data $REC -o share.data sleep 3
check "records beside sched:*" kvm_recorded sched.data \
	perf record -q -a -e 'sched:*,vpa_dtl/dtl_all/' -c 10000000 -o sched.data sleep 1
LOAD=0
check "records an idle guest" kvm_recorded idle.data $REC -o idle.data sleep 1
check "records for less than one period" \
	kvm_recorded short.data perf record -q -a -e vpa_dtl/dtl_preempt/ -c 1000000000 -o short.data sleep 0.5

cpu_comes_and_goes() {
	$REC -o hotplug.data sleep 3 &
	recorder=$!
	sleep 1
	online 2 0 || return 1
	sleep 0.5
	online 2 1 || return 1
	wait $recorder && $REC -o x.data sleep 0.5
}
check "a processor goes offline and online during a recording" cpu_comes_and_goes

kselftest
check "the kernel said nothing it should not" quiet_kernel
cp /proc/kallsyms /out/kallsyms
done_testing
