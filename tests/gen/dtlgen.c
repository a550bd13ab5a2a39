// SPDX-License-Identifier: GPL-2.0
/* The command line of dtlgen */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include "dtlgen.h"

static const char * const reasons_words[] = { "kinds", "walk", "zero", NULL };
static const char * const waits_words[] = { "normal", "limits", "zero", NULL };
static const char * const lose_words[] = { "overwritten", "noroom", "both", NULL };

/* What belongs to the command line alone */
struct files {
	const char *output, *script, *ledger, *damage;
	u64 damage_seed;
};

/* What an option sets, in struct spec or (from FILE_NAME on) in struct files */
enum kind { FLAG, LAYOUT, NUMBER32, NUMBER64, WORD, FILE_NAME, FILE_NUMBER };

static const struct opt {
	const char *name;
	enum kind kind;
	size_t offset;
	const char * const *words;
} opts[] = {
#define SPEC(field)	offsetof(struct spec, field)
#define FILES(field)	offsetof(struct files, field)
	{ "output", FILE_NAME, FILES(output), NULL },
	{ "script", FILE_NAME, FILES(script), NULL },
	{ "ledger", FILE_NAME, FILES(ledger), NULL },
	{ "seed", NUMBER64, SPEC(seed), NULL },
	{ "big-endian", FLAG, SPEC(big), NULL },
	{ "mainline", LAYOUT, SPEC(layout), NULL },
	{ "cpus", NUMBER32, SPEC(cpus), NULL },
	{ "empty-every", NUMBER32, SPEC(empty_every), NULL },
	{ "entries", NUMBER64, SPEC(entries), NULL },
	{ "aux-size", NUMBER64, SPEC(aux_size), NULL },
	{ "chunk", NUMBER64, SPEC(chunk), NULL },
	{ "cut", FLAG, SPEC(cut), NULL },
	{ "info", NUMBER32, SPEC(info), NULL },
	{ "freq", NUMBER64, SPEC(freq), NULL },
	{ "boot-tb", NUMBER64, SPEC(boot_tb), NULL },
	{ "start-ns", NUMBER64, SPEC(start_ns), NULL },
	{ "gap-ns", NUMBER64, SPEC(gap_ns), NULL },
	{ "reasons", WORD, SPEC(reasons), reasons_words },
	{ "waits", WORD, SPEC(waits), waits_words },
	{ "tasks", NUMBER32, SPEC(tasks), NULL },
	{ "places", NUMBER32, SPEC(places), NULL },
	{ "switch-every", NUMBER32, SPEC(switch_every), NULL },
	{ "exit-every", NUMBER32, SPEC(exit_every), NULL },
	{ "sample-every", NUMBER32, SPEC(sample_every), NULL },
	{ "lose-every", NUMBER32, SPEC(lose_every), NULL },
	{ "lose-by", WORD, SPEC(lose), lose_words },
	{ "headers-every", NUMBER64, SPEC(headers_every), NULL },
	{ "header-shift", NUMBER64, SPEC(header_shift), NULL },
	{ "no-header", FLAG, SPEC(no_header), NULL },
	{ "back-every", NUMBER32, SPEC(back_every), NULL },
	{ "missing-first", NUMBER32, SPEC(missing_first), NULL },
	{ "hole-every", NUMBER32, SPEC(hole_every), NULL },
	{ "no-switches", FLAG, SPEC(no_switches), NULL },
	{ "no-index", FLAG, SPEC(no_index), NULL },
	{ "no-aux-records", FLAG, SPEC(no_aux_records), NULL },
	{ "pipe", FLAG, SPEC(pipe), NULL },
	{ "attr-size", NUMBER32, SPEC(attr_size), NULL },
	{ "damage", FILE_NAME, FILES(damage), NULL },
	{ "damage-seed", FILE_NUMBER, FILES(damage_seed), NULL },
};

#define NR_OPTS	ARRAY_SIZE(opts)

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
"  --no-switches        recorded without context switches\n"
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
"  --exit-every N       after an entry in N the task exits, and runs on until a switch\n"
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

static u64 number(const struct opt *opt, const char *arg, u64 max)
{
	char *end;
	u64 v;

	errno = 0;
	v = strtoull(arg, &end, 0);
	if (errno || end == arg || *end || *arg == '-' || v > max) {
		fprintf(stderr, "dtlgen: --%s: '%s' is not a number up to %llu\n",
			opt->name, arg, (unsigned long long)max);
		exit(2);
	}
	return v;
}

/* The index of @arg among the words of @opt */
static unsigned int word(const struct opt *opt, const char *arg)
{
	unsigned int i;

	for (i = 0; opt->words[i]; i++)
		if (!strcmp(arg, opt->words[i]))
			return i;
	fprintf(stderr, "dtlgen: --%s: '%s' is none of its words\n", opt->name, arg);
	exit(2);
}

static void set(const struct opt *opt, const char *arg, struct spec *s,
		struct files *f)
{
	void *p = (char *)(opt->kind >= FILE_NAME ? (void *)f : (void *)s) + opt->offset;

	switch (opt->kind) {
	case FLAG:
		*(bool *)p = true;
		break;
	case LAYOUT:
		*(enum layout *)p = LAYOUT_MAINLINE;
		break;
	case NUMBER32:
		*(u32 *)p = number(opt, arg, UINT32_MAX);
		break;
	case NUMBER64:
	case FILE_NUMBER:
		*(u64 *)p = number(opt, arg, UINT64_MAX);
		break;
	case WORD:
		*(unsigned int *)p = word(opt, arg);
		break;
	case FILE_NAME:
		*(const char **)p = arg;
		break;
	}
}

/* Reads the command line; ends the program where it is wrong. */
static void parse(int argc, char **argv, struct spec *s, struct files *f)
{
	struct option options[NR_OPTS + 2] = { };
	int c, index = 0;
	size_t i;

	for (i = 0; i < NR_OPTS; i++) {
		options[i].name = opts[i].name;
		options[i].has_arg = opts[i].kind == FLAG || opts[i].kind == LAYOUT ?
				     no_argument : required_argument;
	}
	options[i].name = "help";
	options[i].val = 'h';

	while ((c = getopt_long(argc, argv, "o:h", options, &index)) != -1) {
		switch (c) {
		case 0:
			set(&opts[index], optarg, s, f);
			break;
		case 'o':
			f->output = optarg;
			break;
		case 'h':
			help(stdout);
			exit(0);
		default:
			help(stderr);
			exit(2);
		}
	}
	if (optind != argc || !f->output) {
		help(stderr);
		exit(2);
	}
}

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
	static struct written written;
	struct files f = { .damage_seed = 1 };
	const char *wrong;
	struct spec s;
	int err;

	spec_defaults(&s);
	parse(argc, argv, &s, &f);
	if (!s.chunk)
		s.chunk = s.aux_size / 2;
	wrong = spec_check(&s);
	if (wrong) {
		fprintf(stderr, "dtlgen: %s\n", wrong);
		return 2;
	}

	err = write_perf_data(&s, f.output, &written);
	if (!err && (f.script || f.ledger)) {
		FILE *script = f.script ? open_out(f.script) : NULL;
		FILE *ledger = f.ledger ? open_out(f.ledger) : NULL;

		err = write_oracle(&s, &written, script, ledger);
		if ((script && fclose(script)) || (ledger && fclose(ledger)))
			err = -EIO;
	}
	if (!err && f.damage)
		err = damage_file(&s, f.output, &written, f.damage, f.damage_seed);
	if (err == -EINVAL) {
		fprintf(stderr, "dtlgen: --damage: '%s' is none of its modes\n", f.damage);
		return 2;
	}
	if (err) {
		fprintf(stderr, "dtlgen: %s: %s\n", f.output, strerror(-err));
		return 1;
	}
	return 0;
}
