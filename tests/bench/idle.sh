# SPDX-License-Identifier: GPL-2.0
# For run-driver: an idle guest, watched at different intervals. Runs in the
# guest, under calls.c. /out/modes says what each recording was: its name, and
# what the hypervisor had written before and after it.
. /root/lib-guest.sh

watched() { # NAME COMMAND…
	name=$1
	shift
	sleep 1
	before=$(hv written)
	"$@" sleep 10 >/dev/null 2>&1 || exit
	echo "$name|$before|$(hv written)" >>/out/modes
}
record="perf record -q -a -o x.data -e"
watched "no polls (perf stat)" perf stat -a -e vpa_dtl/dtl_all/
watched "default" $record vpa_dtl/dtl_all/
for interval in 1000000000 10000000 1000000; do
	watched "-c $interval" $record vpa_dtl/dtl_all/ -c $interval
	watched "fixed, -c $interval" $record vpa_dtl/dtl_all,fixed=1/ -c $interval
done
