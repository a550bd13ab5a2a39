# SPDX-License-Identifier: GPL-2.0
# A recorder that is slower than the log, and one that takes the newest only.
. /root/lib-guest.sh

REC="perf record -q -a -e vpa_dtl/dtl_all/ -c 1000000"

# perf record ends by the signal that ended it.
interrupted() { kill -INT $recorder; wait_recorder >/dev/null || [ $? = 130 ]; }

# The smallest AUX area there is, and nobody who reads it for two seconds.
stopped() {
	hv script 'burst=40,interval=5000000'
	start_recorder stopped.data $REC -m ,1 -o stopped.data
	until_written 2000 "$(cat /out/stopped.data.before)"
	kill -STOP $recorder
	sleep 2
	kill -CONT $recorder
	until_written 8000 "$(hv written)"
	interrupted
	rc=$?
	hv script ''
	return $rc
}
check "records on an AUX area of a page, stopped for two seconds" stopped

# A disk that stalls looks like a pipe that nobody reads.
stalled() {
	hv script 'burst=80,interval=5000000'
	rm -f pipe go
	mkfifo pipe
	( while [ ! -e go ]; do sleep 0.1; done; exec cat ) <pipe >stalled.data &
	reader=$!
	start_recorder stalled.data sh -c "exec $REC -m ,1 -o - >pipe"
	until_written 2000 "$(cat /out/stalled.data.before)"
	sleep 3
	touch go
	until_written 8000 "$(hv written)"
	kill -INT $recorder
	wait $reader
	interrupted
	rc=$?
	hv script ''
	return $rc
}
check "records to an output that takes nothing for some seconds" stalled

# Nobody reads either area, and when both are full CPU 1 goes offline: its event ends
# where no record finds room to tell what was lost.
untold() {
	hv script 'burst=100,interval=20000000'
	start_recording untold.data $REC -m 1,1 -e 'sched:*' -o untold.data || return 1
	from=$(hv written)
	kill -STOP $recorder
	i=0
	while [ $i -lt 200 ]; do
		taskset 1 true
		taskset 2 true
		i=$((i + 1))
	done
	until_written 3000 "$from"
	online 1 0
	kill -CONT $recorder
	stop_recording
	rc=$?
	hv script ''
	online 1 1
	return $rc
}
check "records where no record of a loss finds room before its CPU goes" untold

# The newest entries at a time: by signal, or when the recorder ends.
# newest FILE OPTION SIGNALS: how far the hypervisor was before and after goes to
# FILE.bounds. The AUX area of a page (64 KiB) has room for 1365 entries.
newest() {
	hv script 'burst=20,interval=10000000'
	start_recorder $1 $REC -m ,1 $2 -o $1
	start=$(cat /out/$1.before)
	from=$start
	rm /out/$1.before	# what went over is not told as lost
	for signal in $3; do
		until_written 3000 "$from"
		low=$(since "$start")
		size=$(wc -c <$1)
		if [ $signal = INT ]; then
			interrupted
			rc=$?
		else
			kill -$signal $recorder
			while [ "$(wc -c <$1)" -lt $((size + 131000)) ]; do sleep 0.1; done
		fi
		from=$(hv written)
		echo $low $(since "$start") >>/out/$1.bounds
	done
	hv script ''
	return $rc
}
check "records two snapshots by signal" newest snapshot.data -S 'USR2 USR2 INT'
check "records in overwrite mode" newest overwrite.data --overwrite INT
check "the kernel said nothing it should not" quiet_kernel
done_testing
