/*
 * sPAPR dispatch trace log (DTL): test mode
 *
 * Writes the entries that the machine property x-dtl-script asks for, so that
 * a test of a log reader can have bursts, every code, extreme times and an
 * index that runs on whenever it wants, with a sequence number that proves
 * order and completeness. Refuses to take a log, or to let go of it, as well,
 * and zeroes the index of one that it lets go of.
 *
 * See docs/specs/ppc-spapr-dtl.rst.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qapi/error.h"
#include "qemu/ctype.h"
#include "qemu/cutils.h"
#include "qemu/timer.h"
#include "hw/ppc/spapr.h"
#include "hw/ppc/spapr_cpu_core.h"
#include "hw/ppc/spapr_dtl.h"
#include "hw/qdev-core.h"
#include "sysemu/runstate.h"
#include "sysemu/tcg.h"
#include "trace.h"

/* A step holds the BQL for as long as it takes to write its burst. */
#define SCRIPT_BURST_MAX        1000000
#define SCRIPT_INTERVAL_MIN     1000
#define SCRIPT_INTERVAL_MAX     (1000 * NANOSECONDS_PER_SECOND)

#define SCRIPT_ALL_CPUS         UINT64_MAX

typedef enum SpaprDtlReasons {
    REASONS_FIXED,
    REASONS_WALK,
    REASONS_KINDS,
} SpaprDtlReasons;

typedef enum SpaprDtlTimes {
    TIMES_FIXED,
    TIMES_LIMITS,
} SpaprDtlTimes;

/* Where the script stands on one vCPU */
typedef struct SpaprDtlScriptCpu {
    uint64_t written;
    uint64_t seq;
    uint64_t turn;                      /* of the kinds */
} SpaprDtlScriptCpu;

/* Under the BQL */
struct SpaprDtlScript {
    char *str;                          /* as the user gave it */
    uint64_t cpu;                       /* cpu_index or SCRIPT_ALL_CPUS */
    uint64_t count;                     /* per vCPU, 0: no end */
    uint64_t burst;
    uint64_t interval;                  /* ns of virtual time */
    uint64_t skip;
    uint64_t reasons;                   /* SpaprDtlReasons */
    uint64_t times;                     /* SpaprDtlTimes */
    uint64_t refuse;                    /* SpaprDtlRefuse */
    uint64_t forget;                    /* the index, at deregistration */

    SpaprDtlScriptCpu *cpus;            /* by cpu_index */
    QEMUTimer *timer;
    int64_t next;                       /* ns of virtual time */
};
typedef struct SpaprDtlScript SpaprDtlScript;

static const char *const reasons_names[] = {
    [REASONS_FIXED] = "fixed",
    [REASONS_WALK] = "walk",
    [REASONS_KINDS] = "kinds",
    NULL
};

static const char *const times_names[] = {
    [TIMES_FIXED] = "fixed",
    [TIMES_LIMITS] = "limits",
    NULL
};

static const char *const refuse_names[] = {
    "none",
    [DTL_REFUSE_REGISTER] = "register",
    [DTL_REFUSE_DEREGISTER] = "deregister",
    [DTL_REFUSE_REGISTER | DTL_REFUSE_DEREGISTER] = "both",
    NULL
};

static const struct {
    const char *name;
    size_t offset;                      /* of a uint64_t of SpaprDtlScript */
    uint64_t min;
    uint64_t max;
    const char *const *names;           /* a number if NULL */
} fields[] = {
#define SCRIPT_FIELD(f) .name = #f, .offset = offsetof(SpaprDtlScript, f)
    { SCRIPT_FIELD(cpu), .max = INT_MAX },
    { SCRIPT_FIELD(count), .max = UINT64_MAX },
    { SCRIPT_FIELD(burst), .min = 1, .max = SCRIPT_BURST_MAX },
    { SCRIPT_FIELD(interval), .min = SCRIPT_INTERVAL_MIN,
                              .max = SCRIPT_INTERVAL_MAX },
    { SCRIPT_FIELD(skip), .max = UINT32_MAX },
    { SCRIPT_FIELD(reasons), .names = reasons_names },
    { SCRIPT_FIELD(times), .names = times_names },
    { SCRIPT_FIELD(refuse), .names = refuse_names },
    { SCRIPT_FIELD(forget), .max = 1 },
#undef SCRIPT_FIELD
};

static const struct {
    uint8_t kind;
    uint8_t preempt;
    uint8_t dispatch;
} kinds[] = {
    { DTL_LOG_VOLUNTARY, DTL_PREEMPT_CEDE, DTL_DISPATCH_DECREMENTER },
    { DTL_LOG_VOLUNTARY, DTL_PREEMPT_CONFER, DTL_DISPATCH_PROD },
    { DTL_LOG_PREEMPT, DTL_PREEMPT_TIME_SLICE, DTL_DISPATCH_TIME_SLICE },
    { DTL_LOG_FAULT, DTL_PREEMPT_PAGE_FAULT, DTL_DISPATCH_PAGE_FAULT },
};

static const uint32_t limits[] = { 0, 1, INT32_MAX, 0x80000000, UINT32_MAX };

static void script_free(SpaprDtlScript *script)
{
    if (script) {
        timer_free(script->timer);
        g_free(script->cpus);
        g_free(script->str);
        g_free(script);
    }
}
G_DEFINE_AUTOPTR_CLEANUP_FUNC(SpaprDtlScript, script_free)

/* Set the field that @text, "name=value", gives. */
static bool script_parse_field(SpaprDtlScript *script, const char *text,
                               uint32_t *seen, Error **errp)
{
    const char *eq = strchr(text, '=');
    size_t len = eq ? eq - text : strlen(text);
    uint64_t value;
    int i;

    for (i = 0; i < ARRAY_SIZE(fields); i++) {
        if (strlen(fields[i].name) == len &&
            !memcmp(fields[i].name, text, len)) {
            break;
        }
    }
    if (i == ARRAY_SIZE(fields)) {
        error_setg(errp, "x-dtl-script: no field is named '%.*s'", (int)len,
                   text);
        error_append_hint(errp, "The fields are:");
        for (i = 0; i < ARRAY_SIZE(fields); i++) {
            error_append_hint(errp, " %s", fields[i].name);
        }
        error_append_hint(errp, "\n");
        return false;
    }
    if (!eq) {
        error_setg(errp, "x-dtl-script: field '%s' has no value", text);
        return false;
    }
    if (*seen & BIT(i)) {
        error_setg(errp, "x-dtl-script: field '%s' is given twice",
                   fields[i].name);
        return false;
    }
    *seen |= BIT(i);

    if (fields[i].names) {
        for (value = 0; fields[i].names[value]; value++) {
            if (!strcmp(fields[i].names[value], eq + 1)) {
                break;
            }
        }
        if (!fields[i].names[value]) {
            g_autofree char *names = g_strjoinv(", ",
                                                (char **)fields[i].names);

            error_setg(errp, "x-dtl-script: %s='%s' is none of %s",
                       fields[i].name, eq + 1, names);
            return false;
        }
    } else if (!qemu_isdigit(eq[1]) ||
               qemu_strtou64(eq + 1, NULL, 10, &value) ||
               value < fields[i].min || value > fields[i].max) {
        error_setg(errp, "x-dtl-script: %s='%s' is no number from %" PRIu64
                   " to %" PRIu64, fields[i].name, eq + 1, fields[i].min,
                   fields[i].max);
        return false;
    }
    *(uint64_t *)((char *)script + fields[i].offset) = value;
    return true;
}

/* What is known only once the machine is up: its accelerator and its CPUs */
static bool script_check_machine(SpaprMachineState *spapr,
                                 SpaprDtlScript *script, Error **errp)
{
    unsigned int max_cpus = MACHINE(spapr)->smp.max_cpus;

    /* Not beside a hypervisor that writes the log on its own */
    if (!tcg_enabled()) {
        error_setg(errp, "x-dtl-script: the log is written by QEMU under TCG"
                   " only");
        return false;
    }
    if (script->cpu != SCRIPT_ALL_CPUS && script->cpu >= max_cpus) {
        error_setg(errp, "x-dtl-script: cpu='%" PRIu64 "' is no number from 0"
                   " to %u, the last CPU of this machine", script->cpu,
                   max_cpus - 1);
        return false;
    }
    return true;
}

static uint32_t script_limit(uint64_t n)
{
    return limits[n % ARRAY_SIZE(limits)];
}

/* Write the next entry of the script, or pass it if its kind is disabled. */
static void script_entry(SpaprDtlScript *script, SpaprDtlScriptCpu *sc,
                         PowerPCCPU *cpu)
{
    SpaprDtlEntry entry = {
        .processor_id = spapr_dtl_processor_id(),
        .timebase = spapr_dtl_timebase(cpu),
        .fault_addr = sc->seq,
        .srr0 = cpu->env.nip,
        .srr1 = cpu->env.msr,
    };
    uint8_t wanted = DTL_LOG_ANY;
    int kind;

    switch (script->reasons) {
    case REASONS_FIXED:
        entry.dispatch_reason = DTL_DISPATCH_TIME_SLICE;
        entry.preempt_reason = DTL_PREEMPT_TIME_SLICE;
        break;
    case REASONS_WALK:
        entry.dispatch_reason = sc->seq;
        entry.preempt_reason = (sc->seq >> 8) ^ sc->seq;
        break;
    case REASONS_KINDS:
        kind = sc->turn++ % ARRAY_SIZE(kinds);
        wanted = kinds[kind].kind;
        entry.dispatch_reason = kinds[kind].dispatch;
        entry.preempt_reason = kinds[kind].preempt;
        break;
    }

    switch (script->times) {
    case TIMES_FIXED:
        /* All different, so that a reader who swaps them is found out */
        entry.waiting_to_ready = 10;
        entry.ready_to_enqueue = 100;
        entry.enqueue_to_dispatch = 1000;
        break;
    case TIMES_LIMITS:
        entry.waiting_to_ready = script_limit(sc->seq);
        entry.ready_to_enqueue = script_limit(sc->seq / 5);
        entry.enqueue_to_dispatch = script_limit(sc->seq / 25);
        break;
    }

    if (spapr_dtl_write(cpu, wanted, &entry)) {
        sc->written++;
        sc->seq++;
    }
}

static bool script_is_for(SpaprDtlScript *script, CPUState *cs)
{
    return script->cpu == SCRIPT_ALL_CPUS || script->cpu == cs->cpu_index;
}

static bool script_done(SpaprDtlScript *script, SpaprDtlScriptCpu *sc)
{
    return script->count && sc->written >= script->count;
}

static bool script_wants(SpaprDtlScript *script, CPUState *cs)
{
    return script_is_for(script, cs) &&
        !script_done(script, &script->cpus[cs->cpu_index]) &&
        spapr_dtl_enabled(POWERPC_CPU(cs), DTL_LOG_ANY);
}

/*
 * One step of the script on @cs: work that its thread does while the guest
 * is not running on it, as at a dispatch. Much can have changed since it was
 * asked for.
 */
static void script_step(CPUState *cs, run_on_cpu_data data)
{
    SpaprMachineState *spapr = data.host_ptr;
    SpaprDtlScript *script = spapr->dtl.script;
    PowerPCCPU *cpu = POWERPC_CPU(cs);
    SpaprDtlScriptCpu *sc;
    uint64_t i;

    spapr_cpu_state(cpu)->dtl_script_queued = false;
    if (!script || !runstate_is_running() || !script_wants(script, cs)) {
        return;
    }

    sc = &script->cpus[cs->cpu_index];
    if (script->skip) {
        spapr_dtl_skip(cpu, script->skip);
        sc->seq += script->skip;
    }
    for (i = 0; i < script->burst && !script_done(script, sc); i++) {
        script_entry(script, sc, cpu);
    }
}

static void script_tick(void *opaque)
{
    SpaprMachineState *spapr = opaque;
    SpaprDtlScript *script = spapr->dtl.script;
    int64_t now = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL);
    CPUState *cs;

    CPU_FOREACH(cs) {
        SpaprCpuState *spapr_cpu = spapr_cpu_state(POWERPC_CPU(cs));

        /* At most one step at a time: a slow vCPU misses steps. */
        if (!spapr_cpu->dtl_script_queued && script_wants(script, cs)) {
            spapr_cpu->dtl_script_queued = true;
            async_run_on_cpu(cs, script_step, RUN_ON_CPU_HOST_PTR(spapr));
        }
    }

    /* Steps that could not be kept are left out. */
    script->next += script->interval;
    if (script->next <= now) {
        script->next = now + script->interval;
    }
    timer_mod_ns(script->timer, script->next);
}

static void script_start(SpaprDtlScript *script)
{
    script->next = qemu_clock_get_ns(QEMU_CLOCK_VIRTUAL) + script->interval;
    timer_mod_ns(script->timer, script->next);
}

static char *script_get(Object *obj, Error **errp)
{
    SpaprDtlScript *script = SPAPR_MACHINE(obj)->dtl.script;

    return g_strdup(script ? script->str : "");
}

static void script_set(Object *obj, const char *value, Error **errp)
{
    SpaprMachineState *spapr = SPAPR_MACHINE(obj);
    g_autoptr(SpaprDtlScript) script = NULL;
    g_auto(GStrv) texts = NULL;
    uint32_t seen = 0;
    int i;

    if (!*value) {
        spapr_dtl_script_clear(spapr);
        trace_spapr_dtl_script("");
        return;
    }

    script = g_new0(SpaprDtlScript, 1);
    script->cpu = SCRIPT_ALL_CPUS;
    script->burst = 1;
    script->interval = SCALE_MS;
    texts = g_strsplit(value, ",", -1);
    for (i = 0; texts[i]; i++) {
        if (!script_parse_field(script, texts[i], &seen, errp)) {
            return;
        }
    }
    if (phase_check(PHASE_MACHINE_INITIALIZED) &&
        !script_check_machine(spapr, script, errp)) {
        return;
    }

    spapr_dtl_script_clear(spapr);
    script->str = g_strdup(value);
    script->cpus = g_new0(SpaprDtlScriptCpu, MACHINE_GET_CLASS(obj)->max_cpus);
    script->timer = timer_new_ns(QEMU_CLOCK_VIRTUAL, script_tick, spapr);
    spapr->dtl.script = g_steal_pointer(&script);
    if (phase_check(PHASE_MACHINE_INITIALIZED)) {
        script_start(spapr->dtl.script);
    }
    trace_spapr_dtl_script(value);
}

/* Whether the script refuses to do @what with the log of @cpu. BQL. */
bool spapr_dtl_script_refuses(PowerPCCPU *cpu, SpaprDtlRefuse what)
{
    SpaprDtlScript *script = SPAPR_MACHINE(qdev_get_machine())->dtl.script;

    return script && script->refuse & what && script_is_for(script, CPU(cpu));
}

/* The log of @cpu is gone, and with it the index if the script says so. BQL. */
void spapr_dtl_script_deregistered(PowerPCCPU *cpu)
{
    SpaprDtlScript *script = SPAPR_MACHINE(qdev_get_machine())->dtl.script;

    if (script && script->forget && script_is_for(script, CPU(cpu)) &&
        spapr_cpu_state(cpu)->vpa_addr) {
        spapr_dtl_set_index(cpu, 0);
    }
}

/* Back to real dispatches. */
void spapr_dtl_script_clear(SpaprMachineState *spapr)
{
    script_free(spapr->dtl.script);
    spapr->dtl.script = NULL;
}

void spapr_dtl_script_instance_init(SpaprMachineState *spapr)
{
    Object *obj = OBJECT(spapr);

    object_property_add_str(obj, "x-dtl-script", script_get, script_set);
    object_property_set_description(obj, "x-dtl-script",
                                    "Test mode of the dispatch trace log:"
                                    " the entries to write instead of the"
                                    " real ones, and what to refuse"
                                    " (empty: off)");
}

/* Start the script that came with -machine. */
void spapr_dtl_script_machine_init(SpaprMachineState *spapr, Error **errp)
{
    SpaprDtlScript *script = spapr->dtl.script;

    if (script && script_check_machine(spapr, script, errp)) {
        script_start(script);
    }
}

/* The clock of a snapshot is another one; a script has to start from there. */
void spapr_dtl_script_post_load(SpaprMachineState *spapr)
{
    if (spapr->dtl.script) {
        script_start(spapr->dtl.script);
    }
}
