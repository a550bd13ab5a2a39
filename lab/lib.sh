# SPDX-License-Identifier: GPL-2.0
# What every script of the lab shares: where things live, how it speaks, how a
# step is logged, and how a finished thing is told from a half-made one.
#
# Sourced, not run. Callers see:
#   TOP      the checkout        BUILD  everything made ($TOP/build)
#   CACHE    downloads, ccache   LOGS   one log a step ($BUILD/logs)
#   JOBS     parallel jobs       BASE   the kernel base, 6.12 or 6.1

set -euo pipefail
export LC_ALL=C.UTF-8

# say NAME WORDS: one line of progress.
say() { printf '  %-9s %s\n' "$1" "$2" >&2; }

# die MESSAGE [WHAT-TO-DO]: one line that says both, and the end.
die() { printf 'vpa-dtl: %s\n' "$1${2:+; $2}" >&2; exit 1; }

TOP=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
BUILD=$TOP/build
CACHE=${XDG_CACHE_HOME:-${HOME:-$BUILD}/.cache}/vpa-dtl
LOGS=$BUILD/logs
JOBS=${JOBS:-$(nproc)}
BASE=${BASE:-6.12}
CROSS=powerpc64le-linux-gnu-
QEMU_BASE=7.2

# Kbuild takes no such name either, but says so only after the source is unpacked.
case $TOP in *[[:space:]:]*)
	die "the checkout's path has a space or a colon, which Kbuild does not take: $TOP" "move it to another folder" ;;
esac
# "qemu" is only for lab/refresh.
case $BASE:${0##*/} in
6.12:*|6.1:*|qemu:refresh) ;;
*)	die "there is no series for BASE=$BASE" "BASE is 6.12 or 6.1" ;;
esac

export CCACHE_DIR=$CACHE/ccache CCACHE_MAXSIZE=${CCACHE_MAXSIZE:-5G} CCACHE_NOHASHDIR=1
# The kernel names its source folder in -fmacro-prefix-map, which takes the name
# out of what is compiled: leave it out of the key, so that all clones share.
export CCACHE_BASEDIR=$TOP CCACHE_IGNOREOPTIONS='-fmacro-prefix-map=*'

mkdir -p "$LOGS" "$CACHE" ||
	die "cannot write below $BUILD or $CACHE" "the lines above say which; XDG_CACHE_HOME names another place for downloads"

# step NAME COMMAND…: run it quietly, its output in a log. On failure show the
# log's end and where it is. It has a process group of its own, with which all
# of it ends when we are told to: what bash puts in the background does not hear
# Ctrl-C, and would go on and keep our locks.
step() {
	local name=$1 log start=$SECONDS pid
	log=$LOGS/${name//[ \/]/-}.log
	shift
	trap 'step_stop "${!-}"' INT TERM HUP QUIT
	set -m
	"$@" >"$log" 2>&1 </dev/null &
	pid=$!
	set +m
	if [ -t 2 ]; then
		while sleep 1; kill -0 $pid 2>/dev/null; do
			printf '\r  %-9s %s (%d s)\033[K' '...' "$name" $((SECONDS - start)) >&2
		done
		printf '\r\033[K' >&2
	fi
	if wait $pid; then
		trap - INT TERM HUP QUIT
		say done "$name ($((SECONDS - start)) s)"
		return 0
	fi
	echo "----- the end of $log:" >&2
	tail -n 25 "$log" >&2
	die "$name failed" "its log is ${log#"$TOP"/}"
}

# step_stop GROUP: end the step and this script. A lock is free when we are gone.
step_stop() {
	trap '' INT TERM HUP QUIT
	if [ -n "$1" ] && kill -TERM -- "-$1" 2>/dev/null; then
		for _ in {1..100}; do
			kill -0 -- "-$1" 2>/dev/null || break
			sleep 0.1
		done
		kill -KILL -- "-$1" 2>/dev/null || true
	fi
	exit 130
}

# need PROGRAM PACKAGE: one clear line where a program is missing.
need() {
	command -v "$1" >/dev/null ||
		die "the program $1 is missing" "install the Debian package $2, or run: make setup"
}

# hash_of FILE…: one name for the contents of files and folders.
hash_of() {
	{ find "$@" -type f -print0 2>/dev/null | LC_ALL=C sort -z | xargs -0r sha256sum
	} | sed "s|$TOP/||" | sha256sum | cut -c1-16
}

# A thing is made when the file beside it, NAME.made, holds the hash of what it
# was made from; the mark is written last, so an interrupted build is redone.
is_made() { [ -e "$1" ] && [ "$(cat "$1.made" 2>/dev/null)" = "$2" ]; }
set_made() { echo "$2" >"$1.made.new" && mv "$1.made.new" "$1.made"; }
unmake() { rm -f "$1.made"; }

# lock NAME: only one builder of a thing at a time.
lock() {
	exec {LOCKFD}>"$BUILD/.lock-$1"
	flock -n "$LOCKFD" || { say waiting "for another build of $1"; flock "$LOCKFD"; }
}
