#!/bin/bash
# SPDX-License-Identifier: GPL-2.0
#
# Damaged files through whole runs of perf: never a crash, a hang, or memory
# without bound.
#
# usage: tests/fuzz/perf-fuzz.sh corpus         each file of corpus-perf/, as TAP;
#                                               *.pipe as a standard input
#        tests/fuzz/perf-fuzz.sh fuzz SECONDS [SEED]
#   PERF: the perf to run, best one with the sanitizers: lab/perf asan
#   WRAP: a command to run it under, say "valgrind -q --error-exitcode=99"
#   COMMAND: only this one of the commands below, as "script --ns -i"
#   MODES: only these modes of dtlgen's --damage
#   ONE_TIMEOUT: seconds for one run (20)
#
# What fails in fuzz stays in build/tests/fuzz-perf/; it belongs into corpus-perf/
# under a name that tells what was wrong.

set -u

here=$(cd "$(dirname "$0")" && pwd)
top=$(cd "$here/../.." && pwd)
: "${PERF:=$top/build/perf/perf}"
: "${WRAP:=}"
: "${COMMAND:=}"
: "${MODES:=}"
: "${ONE_TIMEOUT:=20}"
out=$top/build/tests/fuzz-perf
dtlgen=$top/build/tests/dtlgen

export PERF_CONFIG=/dev/null
export PERF_BUILDID_DIR=$out/buildid
export PAGER=cat
# More memory than there is ends malloc() as it does without the sanitizers.
export ASAN_OPTIONS=detect_leaks=0:exitcode=99:allocator_may_return_null=1
export UBSAN_OPTIONS=halt_on_error=1:exitcode=99:suppressions=$here/ubsan.suppressions

# What is run on each file; the file comes last.
commands=(
	"script --ns -i"
	"script --itrace=e -v -i"
	"script --no-itrace -i"
	"report --stdio -i"
	"report -D -i"
	"report --header-only -I -i"
	"stat report -i"
	"inject --itrace -o /dev/null -i"
	"dtl report --json -i"
	"dtl latency --by function -i"
	"dtl timehist -i"
	"dtl interval --every 1s -i"
	"dtl timechart -o /dev/null -i"
)
[ -z "$COMMAND" ] || commands=("$COMMAND")

# Status of one run: 0 where perf said yes or no as it should
run_one()
{
	local file=$1 command=$2 log=$3 stdin=/dev/null status

	if [ "${file%.pipe}" != "$file" ]; then
		stdin=$file
		file=-
	fi
	# Messages without end are an end, too: 20 MB of them.
	# shellcheck disable=SC2086 # words
	(
		ulimit -f 20000
		exec timeout -k 5 "$ONE_TIMEOUT" $WRAP "$PERF" $command "$file" \
			>/dev/null 2>"$log" <"$stdin"
	)
	status=$?
	case $status in
	99)	echo "a sanitizer or valgrind found an error" ;;
	124|137) echo "no end within $ONE_TIMEOUT s" ;;
	12[5-7]) echo "perf was not run" ;;
	153)	echo "no end of messages" ;;
	*)
		# Above the signals are the negative error numbers perf exits with.
		[ $status -gt 128 ] && [ $status -le 160 ] || return 0
		echo "killed by signal $((status - 128))"
		;;
	esac
	return 1
}

# All commands on one file, up to the first that goes wrong; says what
run_file()
{
	local file=$1 command why

	for command in "${commands[@]}"; do
		if ! why=$(run_one "$file" "$command" "$out/log"); then
			echo "perf $command $file: $why"
			grep -m 3 -aE 'ERROR|runtime error|SUMMARY' "$out/log"
			return 1
		fi
	done
}

corpus()
{
	local nr=0 failed=0 file notes

	for file in "$here"/corpus-perf/*.data "$here"/corpus-perf/*.pipe; do
		[ -e "$file" ] || continue
		nr=$((nr + 1))
		if notes=$(run_file "$file"); then
			echo "ok $nr - $(basename "$file")${WRAP:+, ${WRAP%% *}}"
		else
			failed=$((failed + 1))
			echo "not ok $nr - $(basename "$file")${WRAP:+, ${WRAP%% *}}"
			while IFS= read -r line; do
				echo "# $line"
			done <<<"$notes"
		fi
	done
	echo "1..$nr"
	if [ $nr -eq 0 ]; then
		echo "# the corpus is empty"
		return 1
	fi
	return $((failed != 0))
}

# Options of small files of every kind, to be damaged
kinds=(
	""
	"--big-endian --switch-every 3 --sample-every 4"
	"--mainline --info 1 --aux-size 4096"
	"--mainline --info 0 --aux-size 4096 --big-endian"
	"--switch-every 3 --sample-every 4 --lose-every 10"
	"--cut --chunk 200 --headers-every 9"
	"--no-index --switch-every 3"
	"--info 1 --hole-every 2 --chunk 512"
	"--cpus 9 --entries 10 --empty-every 3"
	"--back-every 5 --waits limits --reasons walk"
	"--switch-every 3 --sample-every 4 --exit-every 5 --lose-every 9"
	"--pipe --switch-every 3 --sample-every 4 --exit-every 5 --lose-every 9"
	"--pipe --big-endian --switch-every 3 --sample-every 4 --exit-every 5"
	"--pipe --mainline --info 1 --aux-size 4096 --cpus 4"
)

fuzz()
{
	local seconds=$1 seed=${2:-$RANDOM} end runs=0 bad=0 kind mode modes why
	local suffix

	if [ -n "$MODES" ]; then
		read -ra modes <<<"$MODES"
	else
		mapfile -t modes < <("$dtlgen" --help |
				     sed -n 's/^      \([a-z][a-z-]*\)  *.*/\1/p')
	fi
	end=$((SECONDS + seconds))
	RANDOM=$((seed % 32768))
	echo "seed $seed"
	while [ $SECONDS -lt $end ]; do
		kind=${kinds[RANDOM % ${#kinds[@]}]}
		mode=${modes[RANDOM % ${#modes[@]}]}:$((1 + RANDOM % 4))
		seed=$((RANDOM * 32768 + RANDOM))
		suffix=data
		[[ " $kind " != *" --pipe "* ]] || suffix=pipe
		# shellcheck disable=SC2086 # words
		"$dtlgen" -o "$out/input.$suffix" --entries 90 --seed $seed $kind \
			--damage "$mode" --damage-seed $seed || return
		runs=$((runs + ${#commands[@]}))
		if ! why=$(run_file "$out/input.$suffix"); then
			bad=$((bad + 1))
			echo "$why"
			cp "$out/input.$suffix" "$out/bad-$seed.$suffix"
			echo "kept as $out/bad-$seed.$suffix: dtlgen --entries 90 --seed $seed $kind --damage $mode --damage-seed $seed"
		fi
	done
	echo "$runs runs of perf in $seconds s, $bad files with a fault"
	return $((bad != 0))
}

if [ ! -x "$PERF" ]; then
	echo "Bail out! no perf at $PERF (make perf, or set PERF)"
	exit 1
fi
mkdir -p "$out"
case ${1-} in
corpus)
	corpus
	;;
fuzz)
	make -s -C "$top/tests/gen" || exit
	fuzz "${2:?seconds}" "${3-}"
	;;
*)
	sed -n '/^# usage/,/^$/s/^# \?//p' "$0"
	exit 2
	;;
esac
