# SPDX-License-Identifier: GPL-2.0
# What the lab makes. Each line calls a script in lab/, which says what it needs
# and does nothing when its product is up to date.

BASE	?= 6.12
export BASE KDIR QDIR BRANCH CONFIG RUN OUT FILES SMP MEM TIMEOUT APPEND MACHINE THREAD ACCEL ARGS L1BUSY JOBS QUICK DROP

.PHONY: help setup demo check perf perf-ppc64le kernel qemu guest boot boot-check boot-kvm
.PHONY: series series-apply test-tree bisect-check refresh soak bench lint clean

help:		## this list
	@sed -n 's/^\([a-z0-9-]*\):.*## /\1\t/p' $(MAKEFILE_LIST) | sed 's/[$$](BASE)/$(BASE)/' | expand -t16

setup:		## install the Debian packages that the lab needs (as root)
	@lab/setup

demo:		## build all, record a dispatch trace in a guest, and show it
	@lab/demo

check:		## every test but those of make soak
	@tests/check

perf: setup	## perf for this machine: build/perf/perf
	@lab/perf host

perf-ppc64le: setup	## perf for the guest: build/perf-ppc64le/perf
	@lab/perf ppc64le

kernel: setup	## the kernel: build/linux-$(BASE)/vmlinux (BASE=, KDIR=, CONFIG=)
	@lab/kernel

qemu: setup	## QEMU: build/qemu/qemu-system-ppc64 (QDIR=)
	@lab/qemu

guest: setup	## the guest's files: build/guest.cpio.gz
	@lab/guest

boot: boot-check kernel qemu guest	## boot the guest: RUN=script.sh [OUT=dir], or a shell
	@lab/boot

# A wrong argument is told before anything is built.
boot-check:
	@lab/boot check

boot-kvm: setup	## the same in a guest of nested Linux KVM: RUN=script.sh [OUT=dir]
	@lab/boot-kvm

series-apply: setup	## git am the series onto a tree of yours: KDIR= [QDIR=] [BRANCH=]
	@lab/series-apply

test-tree: setup	## build and boot a tree of yours, and run the guest scenarios in it: KDIR=
	@lab/test-tree

bisect-check: setup	## each patch builds by itself: lab/bisect-check says how (BASE=)
	@lab/bisect-check

series: setup	## the patches with cover letters: build/series/ (BASE=)
	@lab/series

refresh:	## take edits in build/src/… back into patches/ and the overlay (BASE=)
	@lab/refresh

SOAK = $(patsubst tests/guest/%.sh,soak/%,$(shell grep -LE '^# CONFIG=(native|kvm-host)' tests/guest/*.sh))
soak:		## all scenarios under a debug kernel with KASAN, ten minutes of all at once; native accounting; nested KVM
	@tests/check build $(SOAK) native kvm

bench: perf kernel qemu guest	## the benchmarks: instructions, memory, what is kept at which rate
	@tests/bench/run
	@tests/bench/run-driver

lint: setup	## checkpatch, sparse, W=1, kernel-doc, htmldocs, codespell, shellcheck
	@lab/lint

clean:		## remove build/ (downloads and the compiler cache stay)
	rm -rf build
