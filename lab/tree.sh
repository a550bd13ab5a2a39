# SPDX-License-Identifier: GPL-2.0
# A base tree with the series on it, as git commits: build/src/linux-6.12,
# build/src/linux-6.1, build/src/qemu-7.2. Sourced after lib.sh.
#
# Branch "base" is the source as Debian ships it, branch "series" one commit a
# patch. The commits are made in an index of their own, so that the work tree
# is touched only where a file really changed and builds stay incremental.

. "$TOP/lab/apt.sh"

# who_signs: the user's own git identity, for all commits that the user sees.
who_signs() {
	local who mail
	who=$(git -C "$TOP" config user.name || true)
	mail=$(git -C "$TOP" config user.email || true)
	[ -n "$who" ] && [ -n "$mail" ] ||
		die "git does not know who signs the series off" \
		    "set it: git config --global user.name 'Your Name' && git config --global user.email you@example.org"
	export GIT_AUTHOR_NAME=$who GIT_AUTHOR_EMAIL=$mail GIT_COMMITTER_NAME=$who GIT_COMMITTER_EMAIL=$mail
}

# as_lab COMMAND…: what it commits is the lab's and of one time, so that the same
# files make the same commit.
as_lab() {
	GIT_AUTHOR_NAME=lab GIT_AUTHOR_EMAIL=lab@localhost GIT_AUTHOR_DATE='2000-01-01T00:00:00Z' \
	GIT_COMMITTER_NAME=lab GIT_COMMITTER_EMAIL=lab@localhost GIT_COMMITTER_DATE='2000-01-01T00:00:00Z' "$@"
}

# git_tree DIR FILE: the top of the user's git tree of DIR, which holds FILE.
git_tree() {
	local dir
	dir=$(git -C "$1" rev-parse --show-toplevel 2>/dev/null) || die "$1 is no git tree"
	[ -e "$dir/$2" ] || die "$1 holds no $2" "KDIR is a Linux tree, QDIR a QEMU tree"
	echo "$dir"
}
# new_files DIR [PATH…]: the files below PATH that are not in git, each ended by NUL.
# In a tree of ours .gitignore does not count: Debian's names all at the kernel's
# top, and no build is made there. checkpatch and QEMU's configure leave files of
# theirs, and an older lab its list of devices.
new_files() {
	local dir=$1 but=(--exclude-standard)
	shift
	case $(realpath "$dir") in
	"$(realpath "$BUILD")"/src/*)
		but=(-x '.checkpatch-*' -x .git-submodule-status -x lab.mak -x '*.pyc' -x '*~' -x '.*.sw?' -x '.#*') ;;
	esac
	git -C "$dir" ls-files -z -o "${but[@]}" -- "$@"
}
# changes_of DIR PATH…: a name for the edits below PATH that are not committed,
# and for new files. These may be big, or links that lead nowhere: not read.
changes_of() {
	local dir=$1
	shift
	(cd "$dir" && git diff HEAD -- "$@" && new_files . "$@" | { xargs -0r stat -c '%n %s %.Y' -- || true; }) |
		sha256sum | cut -c1-16
}
# no_changes DIR: nothing in it would be lost or missed.
no_changes() {
	local changes
	changes=$(git -C "$1" status --porcelain --untracked-files=no) || die "git cannot read $1" "it says why above"
	[ -z "$changes" ] ||
		die "$1 has uncommitted changes" "commit or stash them first"
}

# under_way DIR: a git am or rebase, begun in it and not ended
under_way() {
	local git_dir
	git_dir=$(git -C "$1" rev-parse --absolute-git-dir)
	[ -e "$git_dir/rebase-apply" ] || [ -e "$git_dir/rebase-merge" ]
}

# mails DIR: the patches that lab/series wrote there, in order, without the letter.
mails() { [ ! -d "$1" ] || find "$1" -name '0*.patch' ! -name '0000-*' | LC_ALL=C sort; }

# tree_patches TREE [SET]: the patches of TREE (linux-6.12, …) in order, or only
# those of SET (powerpc, perf, qemu). The older base takes the newer base's
# patch unless it has one of the same name; tools are for the newer base only.
tree_patches() {
	local tree=$1 set=${2:-} p name
	case $tree in
	linux-6.1)
		for p in "$TOP"/patches/linux-6.12/powerpc-*.patch; do
			name=$(basename "$p")
			[ -e "$TOP/patches/$tree/$name" ] && p=$TOP/patches/$tree/$name
			# An empty file: not for this base.
			if [ -s "$p" ]; then echo "$p"; fi
		done ;;
	linux-*)
		# The kernel half first: ls would sort the two together.
		ls "$TOP/patches/$tree"/powerpc-*.patch 2>/dev/null
		ls "$TOP/patches/$tree"/perf-*.patch 2>/dev/null ;;
	*)
		ls "$TOP/patches/$tree"/*.patch 2>/dev/null ;;
	esac | if [ -n "$set" ]; then grep "/$set-[^/]*$" || true; else cat; fi
}

# tree_overlay TREE: the folder whose files lie at their path in TREE.
tree_overlay() { case $1 in qemu-*) echo "$TOP/qemu" ;; *) echo "$TOP" ;; esac; }

# patch_files PATCH: the overlay files that PATCH brings.
patch_files() { sed -n '/^---$/q; s/^Overlay: //p' "$1"; }

# series_hash TREE: one name for all that the commits of its series are made of.
series_hash() {
	local patches files
	mapfile -t patches < <(tree_patches "$1")
	mapfile -t files < <(cat -- "${patches[@]}" | sed -n "s|^Overlay: |$(tree_overlay "$1")/|p")
	{ hash_of "${patches[@]}" "${files[@]}"
	  find "${files[@]}" -perm -u+x -printf '%f\n' 2>/dev/null || true
	} | sha256sum | cut -c1-16
}

# patch_message PATCH: what the commit says.
patch_message() {
	sed -n '/^---$/q; /^Overlay: /d; s/^Subject: \(\[PATCH[^]]*\] \)\?//; p' "$1" | cat -s
}

tree_unpack() {
	local tree=$1 dir=$2 src=$CACHE/src/$1
	mkdir -p "$src"
	case $tree in
	linux-*)
		if ! tree_debs_good "$src"/linux-source-*.deb; then
			rm -f "$src"/*.deb
			apt_private amd64
			apt_get_debs amd64 "$src" "linux-source-${tree#linux-}"
		fi
		dpkg-deb --fsys-tarfile "$src"/linux-source-*.deb |
			tar xO --wildcards './usr/src/linux-source-*.tar.xz' |
			xz -dc -T0 | tar x -C "$dir" --strip-components=1 ;;
	qemu-*)
		# dpkg-source checks the sums that the archive signed in the .dsc.
		if ! ls "$src"/*.dsc >/dev/null 2>&1 || ! dscverify_sums "$src"/*.dsc; then
			rm -rf "$src"
			apt_private amd64
			apt_get_source "$src" qemu
		fi
		rmdir "$dir"
		dpkg-source --no-check -x "$src"/*.dsc "$dir"
		rm -rf "$dir/.pc" ;;
	esac
}

tree_debs_good() { [ $# = 1 ] && [ -e "$1" ] && dpkg-deb --fsys-tarfile "$1" >/dev/null 2>&1; }

dscverify_sums() {
	(cd "$(dirname "$1")" &&
	 sed -n '/^Checksums-Sha256:/,/^[^ ]/s/^ \([0-9a-f]\{64\}\) [0-9]* \(.*\)/\1  \2/p' "$1" |
		sha256sum -c --quiet)
}

tree_import() {
	local tree=$1 dir=$2
	rm -rf "$dir"
	mkdir -p "$dir"
	tree_unpack "$tree" "$dir"
	cd "$dir"
	git init -q -b base .
	# A copy of a tarball: speed before size.
	git config core.compression 0
	git config gc.auto 0
	git config core.autocrlf false
	git config user.name lab
	git config user.email lab@localhost
	# What Debian's source carries is the base, also what its .gitignore names.
	git add -A -f .
	as_lab git commit -q -m "$tree as Debian ships it"
	git checkout -q -b series
}

# tree_ready TREE: make build/src/TREE hold the series as the checkout has it.
tree_ready() {
	local tree=$1 dir=$BUILD/src/$1 src want
	lock "tree-$tree"
	src=$(cd "$CACHE/src/$tree" 2>/dev/null && ls *.deb *.dsc 2>/dev/null || true)
	if ! is_made "$dir" imported; then
		[ "$(df --output=avail -k "$BUILD" | tail -1)" -gt 4000000 ] ||
			die "less than 4 GB free below build/" "make room and run the same command again"
		unmake "$dir"
		step "source of $tree" tree_import "$tree" "$dir"
		set_made "$dir" imported
	fi
	tree_series "$tree" "$dir"
	flock -u "$LOCKFD"
}

# tree_commits TREE REPO BASE: one commit a patch on top of BASE; print the last.
# Uses the identity and dates in the environment. Nothing but objects is written.
tree_commits() {
	local tree=$1 repo=$2 head=$3 overlay patches p f files blob mode err
	overlay=$(tree_overlay "$tree")
	# Not below .git, which is a file in a work tree of git worktree. An index a
	# process: two may read a tree at once.
	GIT_INDEX_FILE=$(git -C "$repo" rev-parse --absolute-git-dir)/index.series.$BASHPID
	export GIT_INDEX_FILE
	# Called in $(…), which ends here. There bash goes on behind what fails
	trap 'rm -f "$GIT_INDEX_FILE" "$GIT_INDEX_FILE.lock"' EXIT
	git -C "$repo" read-tree "$head" || die "$repo cannot be read" "git says why above"
	patches=$(tree_patches "$tree") && [ -n "$patches" ] || die "$tree has no patches"
	for p in $patches; do
		if grep -q '^diff ' "$p" &&
		   ! err=$(sed -n '/^---$/,$p' "$p" | git -C "$repo" apply -v --cached --whitespace=error-all - 2>&1); then
			echo "$err" >&2
			die "patches/${p#"$TOP"/patches/} does not apply to $repo" \
			    "the lines above name the files and lines looked for"
		fi
		files=$(patch_files "$p") || die "$p cannot be read"
		for f in $files; do
			[ -f "$overlay/$f" ] || die "${p#"$TOP"/} names $f, which is not there"
			mode=100644; [ -x "$overlay/$f" ] && mode=100755
			{ blob=$(git -C "$repo" hash-object -w "$overlay/$f") &&
				git -C "$repo" update-index --add --cacheinfo "$mode,$blob,$f"
			} || die "$f could not be put into $repo" "git says why above"
		done
		head=$(patch_message "$p" |
			git -C "$repo" commit-tree "$(git -C "$repo" write-tree)" -p "$head") ||
			die "no commit could be made in $repo" "git says why above"
	done
	echo "$head"
}

# own_commits REPO: the commits that tree_ready made of the series, once more with the
# identity and dates in the environment; print the last. The files are as they were.
own_commits() {
	local head commit commits made
	{ read -r _ made <"$1/.git/lab-series" && head=$(git -C "$1" rev-parse base) &&
		commits=$(git -C "$1" rev-list --reverse "$head..$made")
	} || die "the commits of $1 cannot be read" "git says why above"
	for commit in $commits; do
		head=$(git -C "$1" log -1 --format=%B "$commit" | git -C "$1" commit-tree "$commit^{tree}" -p "$head") ||
			die "no commit could be made in $1" "git says why above"
	done
	echo "$head"
}

tree_series() {
	local tree=$1 dir=$2 head old base want was='' made=''
	read -r was made < <(cat "$2/.git/lab-series" 2>/dev/null) || true
	want=$(series_hash "$tree")
	# Made of the same: what was edited or committed there since is built with it.
	[ "$want" != "$was" ] || return 0
	old=$(git -C "$dir" rev-parse series)
	head=$(as_lab tree_commits "$tree" "$dir" "$(git -C "$dir" rev-parse base)")
	if [ "$head" != "$old" ]; then
		case $tree in qemu-*) base=qemu ;; *) base=${tree#linux-} ;; esac
		{ git -C "$dir" diff --quiet HEAD -- && [ "$old" = "${made:-$old}" ]; } ||
			die "build/src/$tree has edits that are not in the series" \
			    "keep them with: make refresh BASE=$base, or drop them with: git -C build/src/$tree reset --hard${made:+ $made}"
	fi
	tree_set "$tree" "$dir" "$want" "$head"
}

# tree_set TREE DIR HASH COMMIT: let the tree be at COMMIT, which was made of what has
# that series_hash. Both are noted for who looks next.
tree_set() {
	if [ "$(git -C "$2" rev-parse series)" != "$4" ]; then
		git -C "$2" reset -q --hard "$4"
		say series "$(git -C "$2" rev-list --count base..series) commits on $1"
	fi
	echo "$3 $4" >"$2/.git/lab-series.new" && mv "$2/.git/lab-series.new" "$2/.git/lab-series"
}
