# SPDX-License-Identifier: GPL-2.0
# For run-driver: the hypervisor's own dispatches on a busy guest, and a longest
# interval of 1 s. Runs in the guest.
. /root/lib-guest.sh

LOAD=3
recorded follows.data perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000000 -o follows.data sleep 1.5 &&
	recorded fixed.data perf record -q -a -e vpa_dtl/dtl_all,fixed=1/ -c 1000000000 -o fixed.data sleep 1.5
