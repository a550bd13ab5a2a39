# SPDX-License-Identifier: GPL-2.0
# SMP=1
# ARGS=-icount shift=0,sleep=off
# A hypervisor that writes more and more. With -icount the guest's clock counts its
# instructions, one a nanosecond, so that the load of the host does not matter.
# /root/rates, if it is there, has other rates (entries a second) and events.
. /root/lib-guest.sh

at_rate() { # FILE EVENT RATE
	# Each step is work for QEMU; 5 entries at once are few of a log's 85.
	burst=1
	[ "$3" -le 100000 ] || burst=5
	hv script "burst=$burst,interval=$((1000000000 * burst / $3))" || return 1
	# 20,000 entries and more, or 5 seconds
	case $3 in
	?|??|???|????) seconds=5 ;;
	?????) seconds=2 ;;
	*) seconds=0.2 ;;
	esac
	recorded "$1" perf record -q -a -e "$2" -c 1000000 -m ,8M -o "$1" sleep $seconds
	rc=$?
	hv script ''
	return $rc
}

[ -e rates ] || cat >rates <<'END'
poll vpa_dtl/dtl_all/ 1000
poll vpa_dtl/dtl_all/ 100000
poll vpa_dtl/dtl_all/ 800000
poll vpa_dtl/dtl_all/ 1000000
END
while read -r name event rate; do
	check "records $rate entries a second ($name)" at_rate "$name-$rate.data" "$event" "$rate"
done <rates
check "the kernel said nothing it should not" quiet_kernel
done_testing
