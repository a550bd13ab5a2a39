# SPDX-License-Identifier: GPL-2.0
# What the demo runs in the guest: three busy loops and a sleeper on two virtual
# processors, recorded for two seconds. Run by lab/demo.
cat >workload <<'EOF'
for i in 1 2 3; do while :; do :; done & done
while :; do sleep 0.02; done &
sleep 2
kill 0
EOF
hv written >/out/before || exit 1
perf record -q -a -e 'sched:*,vpa_dtl/dtl_all/' -c 1000000 -o /out/perf.data -- setsid sh ./workload
hv written >/out/after
cat /proc/kallsyms >/out/kallsyms
[ -s /out/perf.data ]
