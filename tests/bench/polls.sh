# SPDX-License-Identifier: GPL-2.0
# For run-driver: polls that find nothing, and bursts of every size. Runs in the
# guest, under calls.c.
. /root/lib-guest.sh

cat >bursts <<'END'
for n in $(seq 1 4 81); do
	hv script "burst=$n,interval=5000000"
	sleep 0.4
done
END
recorded polls.data perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000 -o polls.data sh ./bursts
