// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * QEMU TCG plugin: guest instructions of each call of one function, with all
 * that it calls
 *
 *   -plugin calls.so,entry=ADDR,caller=FROM-TO,vectors=END,mark=ADDR,out=FILE
 *
 * A call starts with the instruction at @entry and ends where an instruction
 * of its @caller (from FROM, up to but not including TO) is next on the same
 * vCPU; that one is not counted. FILE gets one line a call, when it ends:
 *
 *   call VCPU INSTRUCTIONS INTERRUPTED
 *
 * INTERRUPTED is 1 if the call was at an address below @vectors, where nothing
 * but an interrupt or an exception leads: powerpc masks interrupts in software,
 * so one may come, and leave again, in code that runs with interrupts off. Each
 * time that the instruction at @mark is executed, which may be left out, gives
 * a line "mark VCPU". The last line is "end"; without it, the file is not whole.
 *
 * Inline code at each instruction counts in one place for all vCPUs. That is
 * exact, and cheap, with -accel tcg,thread=single, where vCPUs take turns in one
 * thread; each block of instructions tells whose turn it is. An instruction that
 * faults is counted when it starts, and again when it is done over.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <qemu-plugin.h>

#define MAX_VCPUS 64

QEMU_PLUGIN_EXPORT int qemu_plugin_version = QEMU_PLUGIN_VERSION;

struct vcpu {
	uint64_t	executed;	/* instructions, up to when its turn ended */
	uint64_t	start;		/* @executed at the start of the call */
	bool		in_call;
	bool		interrupted;
};

static struct vcpu vcpus[MAX_VCPUS];
static struct vcpu *current = vcpus;
static uint64_t executed;		/* by all */
static uint64_t turn;			/* @executed when @current's turn began */

static uint64_t entry, caller_from, caller_to, vectors, mark;
static FILE *out;

static uint64_t executed_by_current(void)
{
	return current->executed + executed - turn;
}

static void at_block(unsigned int vcpu, void *data)
{
	if (current == &vcpus[vcpu])
		return;
	current->executed += executed - turn;
	turn = executed;
	current = &vcpus[vcpu];
}

/* These come before the instruction itself is counted. */
static void at_entry(unsigned int vcpu, void *data)
{
	current->in_call = true;
	current->start = executed_by_current();
	current->interrupted = false;
}

static void at_caller(unsigned int vcpu, void *data)
{
	if (!current->in_call)
		return;
	current->in_call = false;
	fprintf(out, "call %u %" PRIu64 " %d\n", vcpu,
		executed_by_current() - current->start, current->interrupted);
}

static void at_vector(unsigned int vcpu, void *data)
{
	current->interrupted = true;
}

static void at_mark(unsigned int vcpu, void *data)
{
	fprintf(out, "mark %u\n", vcpu);
}

static void translated(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	size_t i, n = qemu_plugin_tb_n_insns(tb);

	qemu_plugin_register_vcpu_tb_exec_cb(tb, at_block, QEMU_PLUGIN_CB_NO_REGS, NULL);

	for (i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(tb, i);
		uint64_t addr = qemu_plugin_insn_vaddr(insn);
		qemu_plugin_vcpu_udata_cb_t cb = NULL;

		if (addr == entry)
			cb = at_entry;
		else if (addr >= caller_from && addr < caller_to)
			cb = at_caller;
		else if (mark && addr == mark)
			cb = at_mark;
		/* The two top bits: the kernel's addresses, and those in real mode */
		else if ((addr & ~(3ULL << 62)) < vectors)
			cb = at_vector;
		if (cb)
			qemu_plugin_register_vcpu_insn_exec_cb(insn, cb, QEMU_PLUGIN_CB_NO_REGS,
							       NULL);
		qemu_plugin_register_vcpu_insn_exec_inline(insn, QEMU_PLUGIN_INLINE_ADD_U64,
							   &executed, 1);
	}
}

static void at_exit(qemu_plugin_id_t id, void *data)
{
	fprintf(out, "end\n");
	fclose(out);
}

QEMU_PLUGIN_EXPORT int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info,
					   int argc, char **argv)
{
	const char *path = NULL;
	int i;

	for (i = 0; i < argc; i++) {
		char *end = NULL, *value = strchr(argv[i], '=');

		if (!value)
			goto usage;
		*value++ = 0;
		if (!strcmp(argv[i], "out")) {
			path = value;
			continue;
		} else if (!strcmp(argv[i], "entry")) {
			entry = strtoull(value, &end, 0);
		} else if (!strcmp(argv[i], "mark")) {
			mark = strtoull(value, &end, 0);
		} else if (!strcmp(argv[i], "vectors")) {
			vectors = strtoull(value, &end, 0) & ~(3ULL << 62);
		} else if (!strcmp(argv[i], "caller")) {
			caller_from = strtoull(value, &end, 0);
			if (*end != '-')
				goto usage;
			caller_to = strtoull(end + 1, &end, 0);
		}
		if (!end || end == value || *end)
			goto usage;
	}
	if (!entry || caller_from >= caller_to || !vectors || !path ||
	    info->system.max_vcpus > MAX_VCPUS)
		goto usage;
	out = fopen(path, "w");
	if (!out) {
		perror(path);
		return 1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, translated);
	qemu_plugin_register_atexit_cb(id, at_exit, NULL);
	return 0;

usage:
	fprintf(stderr,
		"calls.so,entry=ADDR,caller=FROM-TO,vectors=END[,mark=ADDR],out=FILE, up to %d vCPUs\n",
		MAX_VCPUS);
	return 1;
}
