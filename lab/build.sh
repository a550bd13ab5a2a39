# SPDX-License-Identifier: GPL-2.0
# How the lab calls the build of the kernel and of perf, wherever the source and
# the output lie. Sourced after lib.sh.

. "$TOP/lab/sysroot.sh"

# kernel_make SRC OUT ARGUMENT…
kernel_make() {
	local src=$1 out=$2
	shift 2
	make -C "$src" O="$out" ARCH=powerpc CROSS_COMPILE=$CROSS CC="ccache ${CROSS}gcc" \
		KBUILD_BUILD_TIMESTAMP=@0 KBUILD_BUILD_USER=lab KBUILD_BUILD_HOST=lab "$@"
}

# warnings LOG: the warnings of the last build of the kernel or of perf.
warnings() { grep -E '(warning|WARNING): ' "$LOGS/$1.log"; }

# forget_warned LOG OUT: before the next build. make says nothing of a file that it
# compiled the last time, so after a build that warned, be it finished or not, all
# is compiled again; ccache keeps the warnings with the objects.
forget_warned() {
	[ ! -e "$LOGS/$1.log" ] || ! warnings "$1" >/dev/null || find "$2" -name '*.o' -delete
}

# selftest_make SRC OUT: our kselftest, static, for the guest.
selftest_make() {
	make -s -C "$1/tools/testing/selftests/powerpc/dtl" ARCH=powerpc CROSS_COMPILE=$CROSS \
		OUTPUT="$2" LDFLAGS=-static
}

# kernel_config SRC OUT FRAGMENT…: configure; of lines for one symbol, the last counts.
kernel_config() {
	local src=$1 out=$2
	shift 2
	cat "$@" >"$out/lab.config"
	kernel_make "$src" "$out" KCONFIG_ALLCONFIG="$out/lab.config" allnoconfig
}

# perf_make FLAVOUR SRC OUT ARGUMENT…: FLAVOUR is host, asan (with the sanitizers, for
# tests/fuzz/perf-fuzz.sh) or ppc64le (call sysroot_ready first), with -noauxtrace
# or -notraceevent behind it to do without.
perf_make() (
	flavour=$1 src=$2 out=$3
	shift 3
	# LLVM, where it is installed, makes every start as slow as most of our tests.
	flags=(NO_LIBPERL=1 NO_LIBPYTHON=1 NO_LIBLLVM=1 BUILD_BPF_SKEL=0 NO_LIBBPF=1 WERROR=0 NO_SDT=1)
	case $flavour in
	host*)
		flags+=(CC="ccache gcc") ;;
	asan*)
		# perf's records are not aligned, by design.
		flags+=(CC="ccache gcc"
			EXTRA_CFLAGS="-g -fsanitize=address,undefined -fno-sanitize=alignment") ;;
	ppc64le*)
		lib=$SYSROOT/usr/lib/powerpc64le-linux-gnu
		export PKG_CONFIG_LIBDIR=$lib/pkgconfig PKG_CONFIG_SYSROOT_DIR=$SYSROOT
		flags+=(ARCH=powerpc CROSS_COMPILE=$CROSS CC="ccache ${CROSS}gcc"
			EXTRA_CFLAGS="-idirafter $SYSROOT/usr/include -idirafter $SYSROOT/usr/include/powerpc64le-linux-gnu"
			LDFLAGS="-L$lib -Wl,-rpath-link,$lib -Wl,-rpath-link,$SYSROOT/lib/powerpc64le-linux-gnu") ;;
	esac
	case $flavour in
	*-noauxtrace)	flags+=(NO_AUXTRACE=1) ;;
	*-notraceevent)	flags+=(NO_LIBTRACEEVENT=1) ;;
	esac
	make -C "$src/tools/perf" O="$out" -j"$JOBS" "${flags[@]}" "$@"
)
