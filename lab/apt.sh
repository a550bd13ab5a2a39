# SPDX-License-Identifier: GPL-2.0
# Packages of Debian without touching the user's apt: private configurations
# (lists, sources, architectures) below $CACHE/apt, their hosts taken from the
# configuration that is there. One for each architecture, since apt throws away
# all of a suite when one architecture's index is being synced (seen for days
# on bookworm-security, ppc64el). Sourced after lib.sh.

# apt_private ARCH: make ARCH's configuration, fetch its lists once a day.
apt_private() {
	local dir=$CACHE/apt/$1 keyring=/usr/share/keyrings/debian-archive-keyring.gpg signed=
	mkdir -p "$dir"/{lists/partial,archives/partial,etc,parts}
	[ -e $keyring ] && signed="signed-by=$keyring"
	apt-get indextargets 'Created-By: Packages' --format '$(REPO_URI) $(CODENAME) $(COMPONENT)' |
		{ grep -E ' bookworm(-updates|-security)? ' || true; } | LC_ALL=C sort -u |
		with_security |
		while read -r uri suite comp; do
			echo "deb [arch=$1 $signed] $uri $suite $comp"
			echo "deb-src [lang=none $signed] $uri $suite $comp"
		done >"$dir/etc/sources.list.new"
	[ -s "$dir/etc/sources.list.new" ] ||
		die "apt knows no Debian 12 (bookworm) archive on this machine" \
		    "add one to /etc/apt and run apt-get update"
	cat >"$dir/apt.conf" <<-END
		Dir::Etc::SourceList "$dir/etc/sources.list";
		Dir::Etc::SourceParts "$dir/parts";
		Dir::State::Lists "$dir/lists";
		Dir::Cache::Archives "$dir/archives";
		Dir::Cache::PkgCache "";
		Dir::Cache::SrcPkgCache "";
		APT::Architecture "$1";
		APT::Architectures { "$1"; };
		APT::Sandbox::User "$(id -un)";
		Acquire::Languages "none";
		Acquire::Retries "3";
		Acquire::http::Timeout "60";
	END
	if ! cmp -s "$dir/etc/sources.list.new" "$dir/etc/sources.list" ||
	   [ -z "$(find "$dir/updated" -mtime -1 2>/dev/null)" ]; then
		mv "$dir/etc/sources.list.new" "$dir/etc/sources.list"
		apt_update "$1"
	fi
}

# The kernels come from the security archive, which a bare debootstrap leaves
# out: a mirror keeps it beside the main one.
with_security() {
	awk '{ print } $2 ~ /-security$/ { have = 1 } $2 == "bookworm" { main = $1 }
	     END { if (!have && sub(/\/debian\/?$/, "/debian-security", main)) print main, "bookworm-security main" }'
}

apt_do() { local arch=$1; shift; APT_CONFIG=$CACHE/apt/$arch/apt.conf apt-get -q "$@"; }

# A failed index is not the end: whether the wanted package can be had decides.
apt_update() {
	local log=$LOGS/apt-update-$1.log
	if apt_do "$1" update >"$log" 2>&1; then
		touch "$CACHE/apt/$1/updated"
	fi
	ls "$CACHE/apt/$1"/lists/*_Packages* >/dev/null 2>&1 || {
		tail -n 3 "$log" >&2
		die "no package list of Debian could be fetched" \
		    "check the network and run the same command again; the log is ${log#"$TOP"/}"
	}
}

# apt_get_debs ARCH DIR PACKAGE…: download packages into DIR. apt checks each
# against the archive's signed list.
apt_get_debs() {
	local arch=$1 dir=$2
	shift 2
	mkdir -p "$dir"
	(cd "$dir" && apt_do "$arch" download "$@") ||
		{ apt_update "$arch" && (cd "$dir" && apt_do "$arch" download "$@"); } ||
		die "apt cannot fetch $*" "the lines above say why; if it is not found, add bookworm-security to /etc/apt"
}

# apt_get_source DIR PACKAGE: download a source package, not unpacked.
apt_get_source() {
	mkdir -p "$1"
	(cd "$1" && apt_do amd64 source --download-only "$2")
}
