# SPDX-License-Identifier: GPL-2.0
# What lab/boot and lab/boot-kvm share: how a script and its files come to the
# guest, and how its words, its files and its status come back. Sourced after
# lib.sh; RUN, OUT, FILES and TIMEOUT as lab/boot says.

CAPS=cap-cfpc=broken,cap-sbbc=broken,cap-ibs=broken,cap-ccf-assist=off
# Firmware: Debian's package, which the package list installs.
FIRMWARE=/usr/share/qemu
# On a full disk QEMU would stop the guest until somebody makes room; it is told instead.
OUT_DRIVE=werror=report
BARE=(-L $FIRMWARE -display none -vga none -nic none -no-reboot)

run_readable() { [ -f "$RUN" ] && [ -r "$RUN" ]; }

# boot_disks KERNEL: a folder $tmp with in.tar, which the guest unpacks, and
# out.tar, which it fills. The folder is gone at our end, and QEMU with it.
boot_disks() {
	local kernel=$1 f
	for f in slof.bin vof.bin; do
		[ -e $FIRMWARE/$f ] ||
			die "the firmware $f is missing" "install the Debian package qemu-system-data, or run: make setup"
	done
	tmp= qemu_pid=
	trap boot_cleanup EXIT
	trap 'exit 130' INT TERM HUP QUIT
	tmp=$(mktemp -d "$BUILD/.boot-XXXXXX")

	mkdir -p "$tmp/in/run" "$tmp/in/root"
	[ -z "${RUN:-}" ] || cp "$RUN" "$tmp/in/run/script"
	for f in ${FILES:-}; do cp -r "$f" "$tmp/in/root/"; done
	# The modules of the kernel, which the guest loads.
	if [ -s "${kernel%/*}/modules.order" ]; then
		mkdir -p "$tmp/in/lib/modules"
		while read -r f; do cp "${kernel%/*}/${f%.*}.ko" "$tmp/in/lib/modules/"; done <"${kernel%/*}/modules.order"
	fi
	tar cf "$tmp/in.tar" -C "$tmp/in" .
	truncate -s 2G "$tmp/out.tar"
}
boot_cleanup() {
	# timeout(1) signals us and then our process group, us once more.
	trap '' INT TERM HUP QUIT
	[ -z "$qemu_pid" ] || kill "$qemu_pid" 2>/dev/null || true
	[ -z "$tmp" ] || rm -rf "$tmp"
}

# boot_qemu NAME QEMU ARGUMENT…: run QEMU, which needs a virtio-serial device,
# and end with the status of the script in the guest.
boot_qemu() {
	local console=$LOGS/console-$1.log rc=0 cat_pid status unpacked=1
	shift
	rm -f "$console"	# that of the last boot says nothing of this one
	# The script's words go through a pipe, since QEMU would write over the others
	# of a file that is our output. It ends when fd 4, its last writer, is closed;
	# cat would wait for another if it opened the pipe itself, and later than that.
	mkfifo "$tmp/stdout"
	exec 4<>"$tmp/stdout"
	cat <"$tmp/stdout" 4>&- &
	cat_pid=$!
	timeout "$TIMEOUT" "$@" -serial "file:$console" -monitor none \
		-chardev "file,id=out,path=$tmp/stdout" -device virtserialport,chardev=out,name=stdio </dev/null 4>&- &
	qemu_pid=$!
	wait $qemu_pid || rc=$?
	qemu_pid=
	exec 4>&-
	wait $cat_pid || true

	status=$(tar xOf "$tmp/out.tar" ./.status 2>/dev/null || true)
	if [ -z "$status" ] || grep -aqE '^dd: .*/dev/vda|I/O error, dev vd[ab], .*WRITE' "$console"; then
		# The console may be on the same disk, and its last lines missing.
		[ "$(df --output=avail -k "$tmp" | tail -1)" -gt 1000 ] ||
			die "the disk is full below build/: what the guest left in /out could not be written" "make room and run the same command again"
		[ -z "$status" ] || die "what the guest left in /out could not be written" \
			"it has more than 2 GB, or the disk was full below build/; its console is ${console#"$TOP"/}"
	fi
	if [ -n "${OUT:-}" ]; then
		mkdir -p "$OUT"
		# OUT stays as open as it was, the guest's /out is so to all.
		tar xf "$tmp/out.tar" -C "$OUT" --no-same-owner --no-overwrite-dir 2>"$tmp/tar.err" || unpacked=
	fi
	if [ -n "$status" ] && [ "$rc" = 0 ]; then
		[ -n "$unpacked" ] || { tail -n 5 "$tmp/tar.err" >&2; die "what the guest left in /out could not be put into $OUT" "the lines above say why"; }
		exit "$status"
	fi

	if [ "$rc" = 124 ]; then
		tail -n 30 "$console" >&2 || true
		die "the guest took longer than $TIMEOUT s and was ended" "its console is ${console#"$TOP"/}"
	fi
	[ -s "$console" ] || die "QEMU did not start the guest (status $rc)" "the lines above say why"
	if [ "$rc" = 0 ] && tar tf "$tmp/out.tar" ./.status >/dev/null 2>&1; then
		die "the guest's /out is full" "it has 70 % of MEM, which is ${MEM:-1G}"
	fi
	tail -n 30 "$console" >&2
	die "the guest ended without a word (QEMU's exit status $rc)" "its console is ${console#"$TOP"/}"
}
