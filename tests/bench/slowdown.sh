# SPDX-License-Identifier: GPL-2.0
# For run-driver: the same work on both processors, not recorded and recorded at
# 10 ms, under a hypervisor that writes 1,000 entries a second for each. Runs in
# the guest with -icount, where a nanosecond is an instruction of the guest.
# /out/times gets the nanoseconds of each run.
. /root/lib-guest.sh

cat >work <<'END'
loop() { i=0; while [ $i -lt 60000 ]; do i=$((i + 1)); done; }
now() { sed -n 's/^now at \([0-9]*\) .*/\1/p' /proc/timer_list; }
start=$(now)
loop &
loop &
wait
echo "$1 $(($(now) - start))" >>/out/times
END
hv script interval=1000000 || exit 1
for run in 1 2; do
	sh work without
	perf record -q -a -e vpa_dtl/dtl_all/ -c 10000000 -o x.data sh work recorded
done
