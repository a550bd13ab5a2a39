# SPDX-License-Identifier: GPL-2.0
# The shared libraries that a ppc64le program needs, which this machine cannot
# ask the program itself for. Sourced after lib.sh.

needed() { ${CROSS}readelf -d "$1" | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p'; }

# copy_libs PROGRAM DEST FROM…: copy the libraries that PROGRAM needs, and those
# that they need, to the folder DEST, from below the folders FROM.
copy_libs() {
	local dest=$2 queue lib from more
	more=$(needed "$1") || return 1
	mapfile -t queue <<<"$more"
	shift 2
	while [ ${#queue[@]} -gt 0 ]; do
		lib=${queue[0]}
		queue=("${queue[@]:1}")
		[ -e "$dest/$lib" ] && continue
		from=$(find "$@" -name "$lib" \( -type f -o -type l \) -path '*lib*' | head -n 1)
		[ -n "$from" ] || { echo "no ppc64le library $lib among the packages"; return 1; }
		cp -L "$from" "$dest/$lib"
		more=$(needed "$dest/$lib") || return 1
		[ -z "$more" ] || mapfile -t -O ${#queue[@]} queue <<<"$more"
	done
}
