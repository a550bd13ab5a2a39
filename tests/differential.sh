#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Differential test of perf's vpa_dtl decoder: for each generated file, perf
# script must print what the generator's oracle prints, byte for byte.
#
# usage: PERF=path/to/perf tests/differential.sh [NAME...]
#   NAME: run only these; a failed one leaves its files in build/tests/differential/

set -u

top=$(cd "$(dirname "$0")/.." && pwd)
: "${PERF:=$top/build/perf/perf}"
out=$top/build/tests/differential
dtlgen=$top/build/tests/dtlgen

# name | options of dtlgen | expected number of trace errors: none, some, any
table='
two              |                                                              | none
two-be           | --big-endian                                                 | none
two-main         | --mainline --info 1                                          | none
two-main-be      | --mainline --info 1 --big-endian                             | none
one              | --cpus 1 --entries 1                                         | none
one-main         | --cpus 1 --entries 1 --mainline --info 0                     | none
no-entries       | --entries 0                                                  | none
events           | --switch-every 3 --sample-every 4                            | none
events-be        | --switch-every 3 --sample-every 4 --big-endian               | none
events-main      | --switch-every 3 --sample-every 4 --mainline --info 1        | none
laps             | --entries 3000 --aux-size 4096 --switch-every 9              | none
laps-64k         | --entries 9000 --aux-size 65536                              | none
laps-main        | --entries 3000 --aux-size 4096 --mainline --info 1           | none
laps-main-64k    | --entries 9000 --aux-size 65536 --mainline --info 1          | none
laps-main-128k   | --entries 9000 --mainline --info 1 --switch-every 9          | none
laps-main-be     | --entries 9000 --mainline --info 0 --big-endian              | none
laps-main-4m     | --entries 200000 --cpus 1 --aux-size 4194304 --mainline --info 1 | none
laps-main-small-reads | --entries 3000 --aux-size 8192 --chunk 64 --mainline --info 1 | none
laps-main-info   | --entries 3000 --aux-size 8192 --mainline --info 4           | none
laps-main-zeros  | --entries 3000 --aux-size 4096 --mainline --info 1 --reasons zero --waits zero | none
cut              | --entries 500 --cut --chunk 64                               | none
cut-200          | --entries 500 --cut --chunk 200 --switch-every 5             | none
codes            | --entries 70000 --reasons walk                               | none
limits           | --entries 500 --waits limits                                 | none
limits-be        | --entries 500 --waits limits --reasons walk --big-endian     | none
cpus-656         | --cpus 656 --entries 60 --switch-every 5 --sample-every 9    | none
cpus-656-main    | --cpus 656 --entries 60 --mainline --info 1                  | none
cpus-1024        | --cpus 1024 --entries 40 --switch-every 5                    | none
cpus-1024-be     | --cpus 1024 --entries 40 --switch-every 5 --big-endian       | none
empty            | --cpus 8 --empty-every 2 --switch-every 3                    | none
empty-all        | --cpus 4 --empty-every 1                                     | none
back             | --entries 1000 --back-every 20                               | none
back-cpus        | --cpus 64 --entries 300 --back-every 10 --sample-every 5 --switch-every 5 | none
back-main        | --entries 5000 --aux-size 4096 --back-every 20 --mainline --info 1 | none
missing-first    | --entries 1000 --aux-size 4096 --missing-first 2             | any
missing-first-be | --entries 1000 --aux-size 4096 --missing-first 2 --big-endian | any
missing-cut      | --entries 1000 --aux-size 4096 --missing-first 2 --cut --chunk 200 | any
missing-main     | --entries 1000 --aux-size 8192 --missing-first 2 --mainline --info 1 | some
missing-one      | --entries 1000 --aux-size 8192 --missing-first 1 --info 1    | any
missing-one-main | --entries 1000 --aux-size 8192 --missing-first 1 --mainline --info 1 | any
missing-headers  | --entries 1000 --aux-size 8192 --missing-first 1 --cpus 1 --info 1 --headers-every 99 | some
holes            | --entries 3000 --aux-size 4096 --hole-every 5                | some
holes-cut        | --entries 3000 --cut --chunk 200 --hole-every 5 --switch-every 7 | some
holes-main       | --entries 3000 --aux-size 4096 --chunk 600 --hole-every 9 --mainline --info 1 | some
headers          | --entries 1000 --headers-every 33                            | none
headers-shift    | --entries 1000 --headers-every 33 --header-shift 300000      | none
before-boot      | --entries 1000 --headers-every 33 --header-shift 987654321   | some
headers-main     | --entries 3000 --aux-size 4096 --headers-every 33 --mainline --info 1 | none
no-header        | --entries 500 --no-header                                    | none
no-header-be     | --entries 500 --no-header --big-endian                       | none
no-clock         | --entries 500 --no-header --info 1 --sample-every 5          | some
freq-1           | --freq 1 --entries 300                                       | none
freq-1-be        | --freq 1 --entries 300 --big-endian --switch-every 4         | none
freq-3           | --freq 3 --entries 300                                       | none
freq-1e9         | --freq 1000000000                                            | none
freq-odd         | --freq 512345679 --entries 1000                              | none
freq-2-63        | --freq 9223372036854775808 --gap-ns 1000                     | none
freq-max         | --freq 18446744073709551615 --gap-ns 1000                    | none
freq-0           | --freq 0 --sample-every 5                                    | some
freq-0-main      | --freq 0 --mainline --info 1                                 | some
boot-0           | --boot-tb 0                                                  | none
boot-high        | --boot-tb 0xf000000000000000                                 | none
lost             | --entries 1000 --lose-every 20 --switch-every 5              | none
lost-noroom      | --entries 1000 --lose-every 20 --lose-by noroom              | none
no-index         | --entries 1000 --no-index --switch-every 5 --sample-every 5  | none
no-index-be      | --entries 1000 --no-index --big-endian                       | none
no-aux-records   | --entries 1000 --no-aux-records                              | none
attr-128         | --attr-size 128 --sample-every 5                             | none
pipe             | --pipe --entries 1000 --switch-every 5 --sample-every 5      | none
pipe-main        | --pipe --entries 9000 --mainline --info 1                    | none
pipe-cpus        | --pipe --entries 100 --cpus 100 --switch-every 5             | none
long             | --entries 100000 --switch-every 50 --sample-every 100 --lose-every 1000 | none
'

trim()
{
	local s=$1

	s=${s#"${s%%[![:space:]]*}"}
	printf '%s' "${s%"${s##*[![:space:]]}"}"
}

# Lines of trace errors, out of the way of the samples
readonly error_line='^ instruction trace error'

run_one()
{
	local name=$1 options=$2 errors=$3
	local base=$out/$name input nr_errors

	# shellcheck disable=SC2086 # words
	"$dtlgen" -o "$base.data" --script "$base.expected" $options || return

	input=(-i "$base.data")
	if [[ " $options " == *" --pipe "* ]]; then
		input=(-i -)
		exec 3<"$base.data"
	else
		exec 3</dev/null
	fi
	if ! timeout 120 "$PERF" script --ns "${input[@]}" <&3 \
	     >"$base.all" 2>"$base.err"; then
		echo "# perf script failed: $(head -n 3 "$base.err" | tr '\n' ' ')"
		return 1
	fi

	grep -av "$error_line" "$base.all" >"$base.got"
	nr_errors=$(grep -ac "$error_line" "$base.all")
	if ! cmp -s "$base.expected" "$base.got"; then
		echo "# $(wc -l <"$base.expected") lines expected, $(wc -l <"$base.got") printed; the first that differ:"
		diff "$base.expected" "$base.got" | head -n 6 | sed 's/^/# /'
		return 1
	fi
	case $errors in
	none)
		[ "$nr_errors" -eq 0 ] && return 0
		echo "# $nr_errors trace errors where nothing is wrong"
		grep -a "$error_line" "$base.all" | head -n 3 | sed 's/^/# /'
		return 1
		;;
	some)
		[ "$nr_errors" -gt 0 ] && return 0
		echo "# no trace error though data is missing or unusable"
		return 1
		;;
	esac
	return 0
}

if [ ! -x "$PERF" ]; then
	echo "Bail out! no perf at $PERF (make perf, or set PERF)"
	exit 1
fi
mkdir -p "$out"
make -s -C "$top/tests/gen" || exit

# Nothing on the host may answer for the file: no symbols, no settings
export PERF_CONFIG=/dev/null
export PERF_BUILDID_DIR=$out/buildid
export PAGER=cat

nr=0
failed=0
while IFS='|' read -r name options errors; do
	name=$(trim "$name")
	[ -n "$name" ] || continue
	[ $# -eq 0 ] || [[ " $* " == *" $name "* ]] || continue
	nr=$((nr + 1))
	if notes=$(run_one "$name" "$(trim "$options")" "$(trim "$errors")"); then
		echo "ok $nr - $name"
		rm -f "$out/$name".*
	else
		echo "not ok $nr - $name"
		[ -z "$notes" ] || echo "$notes"
		failed=$((failed + 1))
	fi
done <<<"$table"

echo "1..$nr"
if [ "$nr" -eq 0 ]; then
	echo "# no test of that name"
	exit 1
fi
[ "$failed" -eq 0 ] || echo "# $failed of $nr failed; files in $out"
exit $((failed != 0))
