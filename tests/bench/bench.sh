#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# What an entry costs in perf: instructions and memory.
#
# Instructions: each job runs under valgrind --tool=callgrind on two generated
# files; the difference of the counts, over that of the entries, is the cost of
# an entry, start-up subtracted.  The counts are exact and do not depend on the
# machine's load.  The decoder's own share is what callgrind attributes to the
# functions of powerpc-vpadtl*.c themselves, without what they call.
#
# Memory: the same jobs on bigger files, natively, under peakmem: anonymous
# memory sampled each millisecond, and the kernel's high-water mark of resident
# memory, which has the pages of the mapped file in it.
#
# usage: PERF=path/to/perf tests/bench/bench.sh [instructions|memory] [JOB...]
#   COUNTS: the two sizes that instructions are counted at, entries ("100000 300000")
#   SIZES: the sizes that memory is measured at, entries ("1000000 10000000")

set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${PERF:=$top/build/perf/perf}"
: "${COUNTS:=100000 300000}"
: "${SIZES:=1000000 10000000}"
out=$top/build/tests/bench
dtlgen=$top/build/tests/dtlgen

export PERF_CONFIG=/dev/null
export PERF_BUILDID_DIR=$out/buildid
export PAGER=cat

declare -A jobs=(
	[report]="report --stdio"
	[script]="script"
	[dump]="report -D"
	[latency]="dtl latency"
)
# The aims: instructions an entry, in all and in the decoder; mainline's in brackets
declare -A aims=(
	[report]="3400 (4080)"
	[script]="11000 (14500)"
	[dump]="3000 (4300)"
	[latency]="1000 (none)"
)
order=(report script dump latency)

generate()
{
	local n=$1 file=$out/$1.data

	[ -e "$file" ] || "$dtlgen" -o "$file" --entries $((n / 2)) || exit
}

# Prints "total decoder" of a callgrind output file
sum_callgrind()
{
	awk '
	# A name is given in full the first time, later by its number alone.
	function name(table, s,   id, rest) {
		match(s, /^\([0-9]+\)/)
		id = substr(s, 1, RLENGTH)
		rest = substr(s, RLENGTH + 2)
		if (rest != "")
			names[table, id] = rest
		return names[table, id]
	}
	/^fl=/  { file = name("f", substr($0, 4)); next }
	/^f[ie]=/ { name("f", substr($0, 4)); next }
	/^cf[il]=/ { name("f", substr($0, 5)); next }
	/^fn=/  { own = file ~ /powerpc-vpadtl/; next }
	/^calls=/ { getline; next }
	/^[0-9+*-]/ { total += $2; if (own) decoder += $2 }
	END { printf "%.0f %.0f\n", total, decoder }
	' "$1"
}

# Runs a job under callgrind; prints "total decoder"
count()
{
	local job=$1 n=$2 cg=$out/$1.$2.callgrind

	# shellcheck disable=SC2086 # words
	if ! valgrind --tool=callgrind --callgrind-out-file="$cg" "$PERF" ${jobs[$job]} \
	     -i "$out/$n.data" >/dev/null 2>"$out/$job.$n.log" </dev/null; then
		tail -n 3 "$out/$job.$n.log" >&2
		return 1
	fi
	sum_callgrind "$cg"
}

instructions()
{
	local job small large a b

	read -r small large <<<"$COUNTS"
	generate "$small"
	generate "$large"
	echo "instructions an entry: ($large entries - $small entries) / $((large - small))"
	printf '%-10s %10s %10s   %s\n' job total decoder "aim (mainline)"
	for job in "$@"; do
		if ! a=$(count "$job" "$small") || ! b=$(count "$job" "$large"); then
			echo "$job: perf ${jobs[$job]} failed, see $out/$job.*.log"
			failed=1
			continue
		fi
		awk -v a="$a" -v b="$b" -v n=$((large - small)) -v job="$job" \
		    -v aim="${aims[$job]}" 'BEGIN {
			split(a, x); split(b, y)
			printf "%-10s %10.0f %10.0f   %s\n", job, (y[1] - x[1]) / n,
				(y[2] - x[2]) / n, aim
			# No reader of 48 bytes is that fast: the file was not read.
			exit y[1] - x[1] < 50 * n
		}' || failed=1
	done
	echo "aim of the decoder's own share: 100 (690)"
}

memory()
{
	local n job line

	echo "peak memory, MB: anonymous (aim 64 at any size), resident with mapped file pages"
	printf '%-10s %10s %10s %10s %8s\n' job entries anonymous resident seconds
	for n in $SIZES; do
		generate "$n"
		for job in "$@"; do
			local t0=$EPOCHREALTIME

			# shellcheck disable=SC2086 # words
			if ! line=$("$out/peakmem" "$PERF" ${jobs[$job]} -i "$out/$n.data" \
				    2>&1 >/dev/null </dev/null); then
				echo "$job: perf ${jobs[$job]} failed: $(tail -n 2 <<<"$line")"
				failed=1
				continue
			fi
			line=$(tail -n 1 <<<"$line")
			[[ $line =~ anon_kb=([0-9]+)\ rss_kb=([0-9]+) ]] || exit
			awk -v job="$job" -v n="$n" -v a="${BASH_REMATCH[1]}" \
			    -v r="${BASH_REMATCH[2]}" -v t0="$t0" -v t1="$EPOCHREALTIME" \
			    'BEGIN { printf "%-10s %10d %10.1f %10.1f %8.1f\n", job, n,
				     a / 1024, r / 1024, t1 - t0 }'
		done
	done
}

what=both
case ${1-} in
instructions|memory)
	what=$1
	shift
	;;
esac
[ $# -gt 0 ] || set -- "${order[@]}"
for job in "$@"; do
	if [ -z "${jobs[$job]-}" ]; then
		echo "no job '$job'; there are: ${order[*]}" >&2
		exit 2
	fi
done
if [ ! -x "$PERF" ]; then
	echo "no perf at $PERF (make perf, or set PERF)" >&2
	exit 1
fi
mkdir -p "$out"
make -s -C "$top/tests/gen" || exit
"${CC:-cc}" -O2 -Wall -o "$out/peakmem" "$here/peakmem.c" || exit
# What another version generated tells nothing.
[ "$dtlgen" -ot "$out/stamp" ] || rm -f "$out"/*.data
touch "$out/stamp"

failed=0
[ "$what" = memory ] || instructions "$@"
[ "$what" = instructions ] || memory "$@"
exit $failed
