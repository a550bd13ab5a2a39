// SPDX-License-Identifier: GPL-2.0
/* The command line of dtlgen */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "dtlgen.h"

enum opt {
	OPT_SCRIPT = 256, OPT_LEDGER, OPT_SEED, OPT_BIG, OPT_MAINLINE, OPT_CPUS,
	OPT_EMPTY, OPT_ENTRIES, OPT_AUX_SIZE, OPT_CHUNK, OPT_CUT, OPT_INFO,
	OPT_FREQ, OPT_BOOT_TB, OPT_START, OPT_GAP, OPT_REASONS, OPT_WAITS,
	OPT_TASKS, OPT_PLACES, OPT_SWITCHES, OPT_SAMPLES, OPT_LOSE, OPT_LOSE_BY,
	OPT_HEADERS, OPT_HEADER_SHIFT, OPT_NO_HEADER, OPT_BACK,
	OPT_MISSING_FIRST, OPT_HOLE, OPT_NO_INDEX, OPT_NO_AUX, OPT_PIPE,
	OPT_ATTR_SIZE, OPT_DAMAGE, OPT_DAMAGE_SEED,
};

static const struct option options[] = {
	{ "output", required_argument, NULL, 'o' },
	{ "help", no_argument, NULL, 'h' },
	{ "script", required_argument, NULL, OPT_SCRIPT },
	{ "ledger", required_argument, NULL, OPT_LEDGER },
	{ "seed", required_argument, NULL, OPT_SEED },
	{ "big-endian", no_argument, NULL, OPT_BIG },
	{ "mainline", no_argument, NULL, OPT_MAINLINE },
	{ "cpus", required_argument, NULL, OPT_CPUS },
	{ "empty-every", required_argument, NULL, OPT_EMPTY },
	{ "entries", required_argument, NULL, OPT_ENTRIES },
	{ "aux-size", required_argument, NULL, OPT_AUX_SIZE },
	{ "chunk", required_argument, NULL, OPT_CHUNK },
	{ "cut", no_argument, NULL, OPT_CUT },
	{ "info", required_argument, NULL, OPT_INFO },
	{ "freq", required_argument, NULL, OPT_FREQ },
	{ "boot-tb", required_argument, NULL, OPT_BOOT_TB },
	{ "start-ns", required_argument, NULL, OPT_START },
	{ "gap-ns", required_argument, NULL, OPT_GAP },
	{ "reasons", required_argument, NULL, OPT_REASONS },
	{ "waits", required_argument, NULL, OPT_WAITS },
	{ "tasks", required_argument, NULL, OPT_TASKS },
	{ "places", required_argument, NULL, OPT_PLACES },
	{ "switch-every", required_argument, NULL, OPT_SWITCHES },
	{ "sample-every", required_argument, NULL, OPT_SAMPLES },
	{ "lose-every", required_argument, NULL, OPT_LOSE },
	{ "lose-by", required_argument, NULL, OPT_LOSE_BY },
	{ "headers-every", required_argument, NULL, OPT_HEADERS },
	{ "header-shift", required_argument, NULL, OPT_HEADER_SHIFT },
	{ "no-header", no_argument, NULL, OPT_NO_HEADER },
	{ "back-every", required_argument, NULL, OPT_BACK },
	{ "missing-first", required_argument, NULL, OPT_MISSING_FIRST },
	{ "hole-every", required_argument, NULL, OPT_HOLE },
	{ "no-index", no_argument, NULL, OPT_NO_INDEX },
	{ "no-aux-records", no_argument, NULL, OPT_NO_AUX },
	{ "pipe", no_argument, NULL, OPT_PIPE },
	{ "attr-size", required_argument, NULL, OPT_ATTR_SIZE },
	{ "damage", required_argument, NULL, OPT_DAMAGE },
	{ "damage-seed", required_argument, NULL, OPT_DAMAGE_SEED },
	{ }
};

static void help(FILE *f)
{
	fputs("usage: dtlgen -o FILE [options]\n"
"Writes a perf.data file with a vpa_dtl trace, and its true contents.\n"
"\n"
"  -o, --output FILE    the perf.data file\n"
"  --script FILE        what `perf script --ns` must print of it\n"
"  --ledger FILE        sums of each CPU as JSON\n"
"  --seed N             everything random follows from it (1)\n"
"\n"
" the file\n"
"  --big-endian         recorded on a big-endian kernel\n"
"  --mainline           frames lie as mainline's driver writes them\n"
"  --aux-size BYTES     of the AUX area of a CPU (131072)\n"
"  --chunk BYTES        AUX data read at once, about (half of the area)\n"
"  --cut                buffers end at exactly that many bytes\n"
"  --info 0|1|4         numbers of private data in AUXTRACE_INFO (4)\n"
"  --missing-first N    the first buffer of the first N CPUs is not in the file\n"
"  --hole-every N       each Nth buffer of a CPU is not in the file\n"
"  --headers-every N    a header frame again after N entries\n"
"  --header-shift TICKS each moves the boot timebase on by so much\n"
"  --no-header          no header frames\n"
"  --no-index           no index of AUX buffers in the file's header\n"
"  --no-aux-records     no PERF_RECORD_AUX\n"
"  --pipe               as perf record writes it to a pipe\n"
"  --attr-size 128|136  of struct perf_event_attr (136)\n"
"\n"
" what happened\n"
"  --cpus N             (2)\n"
"  --empty-every N      each Nth CPU logs nothing\n"
"  --entries N          of each other CPU (100)\n"
"  --freq HZ            of the timebase (512000000)\n"
"  --boot-tb TICKS      timebase at boot\n"
"  --start-ns NS        from boot to the first entry (10000000000)\n"
"  --gap-ns NS          between two entries of a CPU, on average (100000)\n"
"  --reasons kinds|walk|zero   real pairs, all codes from 0 to 255, or 0\n"
"  --waits normal|limits|zero  plausible, the limits of their fields, or 0\n"
"  --tasks N            of each CPU, with swapper (4)\n"
"  --places N           addresses at which one is stopped, of tasks and kernel (64)\n"
"  --switch-every N     an entry in N follows a context switch (0: no records)\n"
"  --sample-every N     an entry in N is followed by a cpu-clock sample\n"
"  --lose-every N       an entry in N is followed by a loss\n"
"  --lose-by overwritten|noroom|both\n"
"  --back-every N       an entry in N is stamped up to 8 entries earlier\n"
"\n"
" damage, after the rest; --script and --ledger tell of the undamaged file\n"
"  --damage MODE[:N]    once, or N times:\n", f);
	damage_help(f);
	fputs("  --damage-seed N      where (1)\n", f);
}

static u64 number(const char *name, const char *arg)
{
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-') {
		fprintf(stderr, "dtlgen: --%s: '%s' is no number\n", name, arg);
		exit(2);
	}
	return v;
}

/* The index of @arg among @names */
static int word(const char *name, const char *arg, const char * const *names)
{
	int i;

	for (i = 0; names[i]; i++)
		if (!strcmp(arg, names[i]))
			return i;
	fprintf(stderr, "dtlgen: --%s: '%s' is none of its words\n", name, arg);
	exit(2);
}

static const char * const reasons_words[] = { "kinds", "walk", "zero", NULL };
static const char * const waits_words[] = { "normal", "limits", "zero", NULL };
static const char * const lose_words[] = { "overwritten", "noroom", "both", NULL };

static FILE *open_out(const char *path)
{
	FILE *f = fopen(path, "w");

	if (!f) {
		fprintf(stderr, "dtlgen: %s: %s\n", path, strerror(errno));
		exit(1);
	}
	return f;
}

int main(int argc, char **argv)
{
	const char *output = NULL, *script = NULL, *ledger = NULL;
	const char *damage = NULL, *wrong;
	static struct written written;
	u64 damage_seed = 1;
	struct spec s;
	int opt, index = 0, err;

	spec_defaults(&s);
	while ((opt = getopt_long(argc, argv, "o:h", options, &index)) != -1) {
		const char *name = options[index].name;

		switch (opt) {
		case 'o': output = optarg; break;
		case 'h': help(stdout); return 0;
		case OPT_SCRIPT: script = optarg; break;
		case OPT_LEDGER: ledger = optarg; break;
		case OPT_SEED: s.seed = number(name, optarg); break;
		case OPT_BIG: s.big = true; break;
		case OPT_MAINLINE: s.layout = LAYOUT_MAINLINE; break;
		case OPT_CPUS: s.cpus = number(name, optarg); break;
		case OPT_EMPTY: s.empty_every = number(name, optarg); break;
		case OPT_ENTRIES: s.entries = number(name, optarg); break;
		case OPT_AUX_SIZE: s.aux_size = number(name, optarg); break;
		case OPT_CHUNK: s.chunk = number(name, optarg); break;
		case OPT_CUT: s.cut = true; break;
		case OPT_INFO: s.info = number(name, optarg); break;
		case OPT_FREQ: s.freq = number(name, optarg); break;
		case OPT_BOOT_TB: s.boot_tb = number(name, optarg); break;
		case OPT_START: s.start_ns = number(name, optarg); break;
		case OPT_GAP: s.gap_ns = number(name, optarg); break;
		case OPT_REASONS: s.reasons = word(name, optarg, reasons_words); break;
		case OPT_WAITS: s.waits = word(name, optarg, waits_words); break;
		case OPT_TASKS: s.tasks = number(name, optarg); break;
		case OPT_PLACES: s.places = number(name, optarg); break;
		case OPT_SWITCHES: s.switch_every = number(name, optarg); break;
		case OPT_SAMPLES: s.sample_every = number(name, optarg); break;
		case OPT_LOSE: s.lose_every = number(name, optarg); break;
		case OPT_LOSE_BY: s.lose = word(name, optarg, lose_words); break;
		case OPT_HEADERS: s.headers_every = number(name, optarg); break;
		case OPT_HEADER_SHIFT: s.header_shift = number(name, optarg); break;
		case OPT_NO_HEADER: s.no_header = true; break;
		case OPT_BACK: s.back_every = number(name, optarg); break;
		case OPT_MISSING_FIRST: s.missing_first = number(name, optarg); break;
		case OPT_HOLE: s.hole_every = number(name, optarg); break;
		case OPT_NO_INDEX: s.no_index = true; break;
		case OPT_NO_AUX: s.no_aux_records = true; break;
		case OPT_PIPE: s.pipe = true; break;
		case OPT_ATTR_SIZE: s.attr_size = number(name, optarg); break;
		case OPT_DAMAGE: damage = optarg; break;
		case OPT_DAMAGE_SEED: damage_seed = number(name, optarg); break;
		default: help(stderr); return 2;
		}
	}
	if (optind != argc || !output) {
		help(stderr);
		return 2;
	}
	if (!s.chunk)
		s.chunk = s.aux_size / 2;
	wrong = spec_check(&s);
	if (wrong) {
		fprintf(stderr, "dtlgen: %s\n", wrong);
		return 2;
	}

	err = write_perf_data(&s, output, &written);
	if (!err && (script || ledger)) {
		FILE *sf = script ? open_out(script) : NULL;
		FILE *lf = ledger ? open_out(ledger) : NULL;

		err = write_oracle(&s, &written, sf, lf);
		if ((sf && fclose(sf)) || (lf && fclose(lf)))
			err = -EIO;
	}
	if (!err && damage)
		err = damage_file(&s, output, &written, damage, damage_seed);
	if (err == -EINVAL) {
		fprintf(stderr, "dtlgen: --damage: '%s' is none of its modes\n", damage);
		return 2;
	}
	if (err) {
		fprintf(stderr, "dtlgen: %s: %s\n", output, strerror(-err));
		return 1;
	}
	return 0;
}
