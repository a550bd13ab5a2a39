# SPDX-License-Identifier: GPL-2.0
# A hypervisor that refuses to take a log, or to let go of it: what the events do,
# what the kernel says, and that all is well when it has come to its senses.
# BRINGS=program
. /root/lib-guest.sh

REC="perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000"
HCALLS=/sys/kernel/tracing/events/powerpc/hcall_entry
marks=0

# What a test is to begin with: nothing said, nothing asked.
begin() {
	marks=$((marks + 1))
	echo "refused: mark $marks" >/dev/kmsg
	echo >/sys/kernel/tracing/trace
}
# said WHAT CPU…: since begin, the kernel has said of these CPUs, once each, that the
# hypervisor refuses or keeps the log, and nothing else of logs and processors.
said() {
	what=$1
	shift
	for n; do echo "vpa_dtl: CPU $n: the hypervisor $what the log (-16)"; done | told
}
# told: since begin, the kernel has said the given lines of logs and processors.
told() {
	sort >want
	dmesg | sed "1,/refused: mark $marks\$/d; s/^\[[^]]*\] *//" | tee said.all |
		grep -iE 'dtl|vpa|hypervisor|warning|fail' | sort >got
	cmp -s want got || { cat said.all; return 1; }
}
# asked N: since begin, N calls of H_REGISTER_VPA (220) were made.
echo 'opcode == 220' >$HCALLS/filter
echo 1 >$HCALLS/enable
asked() {
	n=$(grep -c hcall_entry: /sys/kernel/tracing/trace)
	echo "asked $n times, expected $1"
	[ "$n" = "$1" ]
}
# quiet: the hypervisor writes nothing, though it keeps a log, until the next script.
# Each script writes at least one entry.
quiet() {
	hv script "count=1,interval=1000${1:+,$1}" || return 1
	sleep 0.2
}

# scripted N SCRIPT: for each processor N entries, and they are written. A slow machine
# takes longer than the script says.
scripted() {
	from=$(hv written)
	hv script "count=$1,$2" && until_written "$1" "$from" 10
}

# Opened, tried at each tick, disabled and enabled: it is asked once for each CPU.
none() {
	begin
	hv script refuse=register || return 1
	start_recording none.data $REC -o none.data || return 1
	sleep 1
	control disable
	hv script ''
	control enable
	sleep 0.3
	stop_recording && asked 2 && said refuses 0 1
}
check "refused: an event that records gets nothing, and asks once" none
not_counted() {
	begin
	hv script refuse=register || return 1
	perf stat -x, -a -A -e vpa_dtl/dtl_all/ sleep 0.5 2>stat.txt
	hv script ''
	cat stat.txt
	[ "$(grep -c '<not counted>' stat.txt)" = 2 ] && asked 2 && said refuses 0 1
}
check "refused: an event that counts is told as not counted" not_counted
begin
check "it records when it is not refused any more" recorded taken.data $REC -o taken.data sleep 0.5
check "the hypervisor was asked to take and let go, and all was well" said nothing

# The hypervisor takes the log of one CPU only. The other records as usual, also
# when the one goes and comes back.
one() {
	begin
	hv script cpu=1,refuse=register || return 1
	start_recording one.data $REC -o one.data || return 1
	hv script ''
	sleep 0.3
	online 1 0 && online 1 1 || return 1
	sleep 0.3
	stop_recording && said refuses 1
}
check "refused for one CPU, which goes offline and comes back" one
back() {
	begin
	hv script cpu=1,refuse=register || return 1
	online 1 0 && online 1 1 || return 1
	start_recording back.data $REC -o back.data || return 1
	hv script ''
	stop_recording && said refuses 1
}
check "refused for a CPU that came back" back
check "that CPU records when it is not refused any more" recorded hotplugged.data $REC -o hotplugged.data sleep 0.5

# An event that is on, and is started again for a new period
begin
check "refused: a new period leaves an event off, and what it counted" ./refused
check "refused: the kernel said so" said refuses 1

# The log is kept when the event stops. What it had until then is read, no more.
kept() {
	begin
	hv script refuse=deregister,count=170,burst=85,interval=20000000 || return 1
	recorded kept.data $REC -o kept.data sleep 0.5 || return 1
	set -- $(hv written)
	hv script refuse=deregister,count=85,burst=85
	sleep 0.2
	set -- $1 $2 $(hv written)
	echo "$1 $2, later $3 $4"
	[ $(($3 - $1)) = 85 ] && [ $(($4 - $2)) = 85 ] && said keeps 0 1
}
check "kept: the recording is whole, and the hypervisor writes on" kept
# What it has written since is no entry of the next session, whose hypervisor passes
# slots over.
passed_over() {
	begin
	quiet refuse=deregister || return 1
	start_recording over.data $REC -o over.data || return 1
	hv script refuse=deregister,burst=85,count=85
	sleep 0.3
	control disable
	control enable
	hv script skip=10,burst=7,interval=50000000,count=70
	sleep 1
	stop_recording
	rc=$?
	# perf has no entries for what was skipped: no ledger
	rm /out/over.data.before
	said keeps 0 1 || return 1
	return $rc
}
check "kept: enabled again" passed_over
let_go() {
	hv script burst=85
	! writes
	rc=$?
	hv script ''
	return $rc
}
check "the hypervisor has let go of what it kept" let_go

# Kept, and then not taken either; then opened, and let go at last.
neither() {
	begin
	hv script refuse=deregister,count=1 || return 1
	$REC -o x.data sleep 0.2
	said keeps 0 1 || return 1
	begin
	hv script refuse=both,count=100,burst=20
	sleep 0.2
	recorded neither.data $REC -o neither.data sleep 0.5 || return 1
	said refuses 0 1 || return 1
	quiet || return 1
	begin
	start_recording both.data $REC -o both.data || return 1
	scripted 700 burst=70,interval=20000000 || return 1
	stop_recording && said nothing && let_go
}
check "kept, refused, then opened and closed as usual" neither

# The CPU goes offline while the event is on.
gone() {
	hv script refuse=deregister,count=100,burst=20,cpu=1 || return 1
	begin
	start_recording gone.data $REC -o gone.data || return 1
	sleep 0.3
	online 1 0 || return 1
	online 1 1 || return 1
	sleep 0.3
	stop_recording && said keeps 1 || return 1
	quiet cpu=1 || return 1
	begin
	start_recording returned.data $REC -o returned.data || return 1
	scripted 700 burst=70,interval=20000000 || return 1
	stop_recording && said nothing && let_go
}
check "kept when its CPU went offline, then opened and closed as usual" gone

# The log's other users, debugfs and vcpudispatch_stats, allocate a log each time. One
# that the hypervisor keeps must not be freed, nor written.
stats() { echo "$1" >/proc/powerpc/vcpudispatch_stats; }
failed() { # HOW: registration | deregistration, of both
	for n in 0 1; do echo "lpar: WARNING: DTL $1 of cpu $n (hw $n) failed with -16"; done
}
# logs: how many there are. A kernel that poisons what is free tells exactly, but for
# KASAN, which holds back what was freed.
logs() {
	if grep -qs 1 /sys/kernel/slab/dtl/poison && ! grep -q ' kasan_report$' /proc/kallsyms; then
		awk '$1 == "dtl" { print $2 }' /proc/slabinfo
	fi
}
# more N LOGS: there are N more than LOGS.
more() {
	set -- "$1" "$2" "$(logs)"
	[ -z "$2" ] || { echo "logs: $2, later $3"; [ $(($3 - $2)) = "$1" ]; }
}
debugfs_kept() {
	hv script refuse=deregister,burst=10 || return 1
	begin
	had=$(logs)
	for n in 0 1; do
		( exec 4</sys/kernel/debug/powerpc/dtl/cpu-$n; sleep 0.2 ) || return 1
	done
	for n in 0 1; do echo "dtl_stop: DTL deregistration for cpu $n (hw $n) failed with -16"; done | told || return 1
	more 2 "$had" && ! writes
}
check "debugfs: a log that is kept is not freed, nor written" debugfs_kept
debugfs_refused() {
	hv script refuse=both,burst=10 || return 1
	begin
	had=$(logs)
	dtl_readable 0 && return 1
	echo "dtl_start: DTL registration for cpu 0 (hw 0) failed with -16" | told || return 1
	more 0 "$had" && ! writes
}
check "debugfs: and one that is refused then is freed" debugfs_refused
stats_refused() {
	begin
	had=$(logs)
	stats 1 || return 1
	failed registration | told || return 1
	! writes || return 1
	begin
	stats 0 && told </dev/null && more 0 "$had" && ! writes
}
check "vcpudispatch_stats: refused, nothing is written to what debugfs had" stats_refused
stats_kept() {
	hv script refuse=deregister,burst=10,interval=100000 || return 1
	for round in 1 2 3; do
		begin
		had=$(logs)
		stats 1 || return 1
		writes || return 1
		stats 0 || return 1
		failed deregistration | told || return 1
		more 2 "$had" && ! writes || return 1
	done
}
check "vcpudispatch_stats: logs that are kept are not freed, nor written" stats_kept
stats_hotplug() {
	stats 1 || return 1
	begin
	online 1 0 && online 1 1 || return 1
	failed deregistration | grep 'cpu 1' | told && writes || return 1
	hv script ''
	begin
	had=$(logs)
	stats 0 && told </dev/null && more -2 "$had"
}
check "vcpudispatch_stats: kept when a CPU went offline, let go of at last" stats_hotplug
others_work() {
	begin
	hv script burst=10,interval=10000000 || return 1
	stats 1 && sleep 1 && cat /proc/powerpc/vcpudispatch_stats >stats.txt && stats 0 || return 1
	cat stats.txt
	[ "$(awk '/^cpu/ && $2 >= 100' stats.txt | wc -l)" = 2 ] || return 1
	exec 4</sys/kernel/debug/powerpc/dtl/cpu-1
	sleep 0.5
	n=$(dd bs=480 count=1 <&4 2>/dev/null | wc -c)
	exec 4<&-
	hv script ''
	[ "$n" = 480 ] && told </dev/null
}
check "debugfs and vcpudispatch_stats work as usual then" others_work

begin
check "it records at last" recorded last.data $REC -o last.data sleep 0.5
check "nothing was refused" said nothing
# Asked for, above
dmesg() { command dmesg | grep -vE 'WARNING: DTL (de)?registration of cpu . \(hw .\) failed with -16$'; }
check "the kernel said nothing it should not" quiet_kernel
done_testing
