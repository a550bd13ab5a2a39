# SPDX-License-Identifier: GPL-2.0
# The ppc64el libraries that perf links with and the guest runs with, unpacked
# from Debian's packages into build/sysroot; never installed. Sourced after
# lib.sh. It holds no libc of its own to link with, or the linker would take
# its scripts; the C library for the guest lies apart, in build/sysroot-libc.

. "$TOP/lab/apt.sh"

SYSROOT=$BUILD/sysroot
SYSROOT_LIBC=$BUILD/sysroot-libc
SYSROOT_PACKAGES="libtraceevent1 libtraceevent-dev libelf1 libelf-dev libdw1 libdw-dev
	zlib1g zlib1g-dev libzstd1 liblzma5 libbz2-1.0 busybox-static"
SYSROOT_LIBC_PACKAGES="libc6 libgcc-s1 libstdc++6"

sysroot_unpack() {
	local debs=$CACHE/debs-ppc64el p
	rm -rf "$SYSROOT" "$SYSROOT_LIBC"
	mkdir -p "$SYSROOT" "$SYSROOT_LIBC" "$debs"
	# dpkg-deb checks each package; what an earlier run left half is fetched anew.
	for p in $SYSROOT_PACKAGES $SYSROOT_LIBC_PACKAGES; do
		sysroot_deb "$debs" "$p" >/dev/null || {
			rm -f "$debs/${p}"_*.deb
			apt_private ppc64el
			apt_get_debs ppc64el "$debs" "$p"
		}
	done
	for p in $SYSROOT_PACKAGES; do dpkg-deb -x "$(sysroot_deb "$debs" "$p")" "$SYSROOT"; done
	for p in $SYSROOT_LIBC_PACKAGES; do dpkg-deb -x "$(sysroot_deb "$debs" "$p")" "$SYSROOT_LIBC"; done
}

sysroot_deb() {
	local deb
	for deb in "$1/${2}"_*_ppc64el.deb; do
		dpkg-deb --fsys-tarfile "$deb" 2>/dev/null | tar t >/dev/null 2>&1 && echo "$deb" && return 0
	done
	return 1
}

sysroot_ready() {
	local want
	want=$(hash_of "$TOP/lab/sysroot.sh")
	lock sysroot
	if ! is_made "$SYSROOT" "$want"; then
		unmake "$SYSROOT"
		step "ppc64le libraries" sysroot_unpack
		set_made "$SYSROOT" "$want"
	fi
	flock -u "$LOCKFD"
}
