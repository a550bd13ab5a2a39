# SPDX-License-Identifier: GPL-2.0
# What the demo runs in the guest: three busy loops and a sleeper on two virtual
# processors, recorded for two seconds. Run by lab/demo.
set -e
busy() { while :; do :; done; }
for i in 1 2 3; do busy & done
( while :; do sleep 0.05; done ) &

before=$(hv written)
perf record -q -a -e 'sched:*,vpa_dtl/dtl_all/' -c 1000000 -o /out/perf.data sleep 2
after=$(hv written)
cat /proc/kallsyms >/out/kallsyms
ledger /out/perf.data "$before" "$after" >/out/ledger.txt
