/*
 * sPAPR dispatch trace log (DTL)
 *
 * The hypervisor's side of the log in which a shared-processor partition
 * reads when and why its virtual processors lost their physical processor.
 * Here the hypervisor is TCG's execution loop and the physical processor is
 * the host thread that runs vCPUs: a vCPU that leaves the loop has stopped if
 * it halted, or if the thread runs another vCPU before it comes back.
 *
 * See docs/specs/ppc-spapr-dtl.rst.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#ifdef CONFIG_LINUX
#include <sched.h>
#endif
#include "qapi/error.h"
#include "qapi/qapi-builtin-visit.h"
#include "qapi/util.h"
#include "qemu/main-loop.h"
#include "exec/address-spaces.h"
#include "hw/ppc/ppc.h"
#include "hw/ppc/spapr.h"
#include "hw/ppc/spapr_cpu_core.h"
#include "hw/ppc/spapr_dtl.h"
#include "migration/vmstate.h"
#include "sysemu/cpu-timers.h"
#include "sysemu/tcg.h"
#include "trace.h"

QEMU_BUILD_BUG_ON(DTL_ENTRY_SIZE != 48);

/*
 * The vCPU that this thread dispatched last, to tell an exit that hands the
 * processor straight back from one that gives it to another vCPU. Only
 * compared, never followed: it may have been unplugged.
 */
static __thread PowerPCCPU *dispatched;

/* The vCPU that the one that ran last on this thread has conferred to. */
static __thread PowerPCCPU *conferred_to;

/*
 * The timebase as the partition reads it. While an L2 guest runs, the
 * timebase of the vCPU is the L2's; the log is the L1's.
 */
uint64_t spapr_dtl_timebase(PowerPCCPU *cpu)
{
    SpaprCpuState *spapr_cpu = spapr_cpu_state(cpu);
    uint64_t tb = cpu_ppc_load_tbl(&cpu->env);

    return spapr_cpu->in_nested ? tb - spapr_cpu->nested_tb_offset : tb;
}

/*
 * The host processor that this thread is on, as KVM has it. Guest memory must
 * not depend on the host under icount.
 */
uint16_t spapr_dtl_processor_id(void)
{
#ifdef CONFIG_LINUX
    if (!icount_enabled()) {
        return MAX(sched_getcpu(), 0);
    }
#endif
    return 0;
}

/* True if @cpu has a log in which entries of one of @kinds are wanted. */
bool spapr_dtl_enabled(PowerPCCPU *cpu, uint8_t kinds)
{
    SpaprCpuState *spapr_cpu = spapr_cpu_state(cpu);

    return spapr_cpu->vpa_addr && spapr_cpu->dtl_addr &&
        (ldub_phys(CPU(cpu)->as, spapr_cpu->vpa_addr + VPA_DTL_ENABLE_MASK) &
         kinds);
}

/*
 * The guest may set the index at any time, so it is taken from the VPA anew,
 * never from a copy.
 */
static uint64_t dtl_index(PowerPCCPU *cpu)
{
    return ldq_be_phys(CPU(cpu)->as,
                       spapr_cpu_state(cpu)->vpa_addr + VPA_DTL_INDEX);
}

/* BQL, and @cpu has a VPA. */
void spapr_dtl_set_index(PowerPCCPU *cpu, uint64_t index)
{
    stq_be_phys(CPU(cpu)->as,
                spapr_cpu_state(cpu)->vpa_addr + VPA_DTL_INDEX, index);
}

static void dtl_count(PowerPCCPU *cpu, uint64_t n)
{
    SpaprMachineState *spapr = SPAPR_MACHINE(qdev_get_machine());

    spapr->dtl.written[CPU(cpu)->cpu_index] += n;
}

/*
 * Append @entry to the log of @cpu if its guest wants one of @kinds. Under
 * the BQL, which also keeps the log registered.
 */
bool spapr_dtl_write(PowerPCCPU *cpu, uint8_t kinds,
                     const SpaprDtlEntry *entry)
{
    SpaprCpuState *spapr_cpu = spapr_cpu_state(cpu);
    SpaprDtlEntry be = {
        .dispatch_reason = entry->dispatch_reason,
        .preempt_reason = entry->preempt_reason,
        .processor_id = cpu_to_be16(entry->processor_id),
        .enqueue_to_dispatch = cpu_to_be32(entry->enqueue_to_dispatch),
        .ready_to_enqueue = cpu_to_be32(entry->ready_to_enqueue),
        .waiting_to_ready = cpu_to_be32(entry->waiting_to_ready),
        .timebase = cpu_to_be64(entry->timebase),
        .fault_addr = cpu_to_be64(entry->fault_addr),
        .srr0 = cpu_to_be64(entry->srr0),
        .srr1 = cpu_to_be64(entry->srr1),
    };
    uint64_t index;
    hwaddr slot;

    if (!spapr_dtl_enabled(cpu, kinds)) {
        return false;
    }

    index = dtl_index(cpu);
    slot = index % (spapr_cpu->dtl_size / DTL_ENTRY_SIZE);
    if (address_space_write(CPU(cpu)->as,
                            spapr_cpu->dtl_addr + slot * DTL_ENTRY_SIZE,
                            MEMTXATTRS_UNSPECIFIED, &be, sizeof(be))) {
        /* The memory has been unplugged. */
        return false;
    }
    /*
     * The entry before the index that announces it. Pairs with the read
     * barrier of a guest that reads the log of a vCPU from another one.
     */
    smp_wmb();
    spapr_dtl_set_index(cpu, index + 1);
    dtl_count(cpu, 1);

    trace_spapr_dtl_write(CPU(cpu)->cpu_index, index, entry->dispatch_reason,
                          entry->preempt_reason, entry->timebase,
                          entry->waiting_to_ready, entry->ready_to_enqueue,
                          entry->enqueue_to_dispatch);
    return true;
}

/* Let the index of @cpu's log run on by @n with no entry written. BQL. */
void spapr_dtl_skip(PowerPCCPU *cpu, uint64_t n)
{
    spapr_dtl_set_index(cpu, dtl_index(cpu) + n);
    dtl_count(cpu, n);
}

/*
 * Under the BQL unless @yielded: a waker that sees the preempt reason, which
 * is set last, then sees as well that this vCPU is ready, and leaves it alone.
 */
static void dtl_stop(PowerPCCPU *cpu, SpaprDtlPreemptReason reason,
                     bool yielded)
{
    SpaprDtlStop *stop = &spapr_cpu_state(cpu)->dtl_stop;
    uint64_t now;

    if (!tcg_enabled()) {
        /* An H_JOIN under KVM. The host has the log, no dispatch ends this. */
        return;
    }
    now = spapr_dtl_timebase(cpu);
    stop->dispatch_reason = DTL_DISPATCH_TIME_SLICE;
    stop->yielded = yielded;
    stop->ready = yielded;
    stop->stop_tb = now;
    stop->ready_tb = now;
    stop->srr0 = cpu->env.nip;
    stop->srr1 = cpu->env.msr;
    qatomic_store_release(&stop->preempt_reason, reason);
}

/*
 * @cpu stops for @reason until something wakes it; in its own thread, BQL.
 * Its next instruction and its machine state are those of now: an interrupt
 * that comes before the loop is left moves them on.
 */
void spapr_dtl_wait(PowerPCCPU *cpu, SpaprDtlPreemptReason reason)
{
    dtl_stop(cpu, reason, false);
}

/*
 * It waits for nothing but its next turn; in its own thread, with or without
 * the BQL. Whether it has stopped at all shows then: not if no other vCPU has
 * had a turn in between.
 */
void spapr_dtl_yield(PowerPCCPU *cpu, SpaprDtlPreemptReason reason)
{
    dtl_stop(cpu, reason, true);
}

/* The vCPU that runs in this thread confers its cycles to @target. */
void spapr_dtl_confer_to(PowerPCCPU *target)
{
    conferred_to = target;
}

/* @reason wakes @cpu. The first that comes is why it runs again. BQL. */
void spapr_dtl_ready(PowerPCCPU *cpu, SpaprDtlDispatchReason reason)
{
    SpaprDtlStop *stop = &spapr_cpu_state(cpu)->dtl_stop;

    if (qatomic_load_acquire(&stop->preempt_reason) && !stop->ready) {
        stop->ready = true;
        stop->dispatch_reason = reason;
        stop->ready_tb = spapr_dtl_timebase(cpu);
    }
}

/* @interrupt (PPC_INTERRUPT_*) wakes the halted @cpu. BQL. */
void spapr_dtl_irq_ready(PowerPCCPU *cpu, int interrupt)
{
    switch (interrupt) {
    case PPC_INTERRUPT_EXT:
        spapr_dtl_ready(cpu, DTL_DISPATCH_EXTERNAL);
        break;
    case PPC_INTERRUPT_DECR:
        spapr_dtl_ready(cpu, DTL_DISPATCH_DECREMENTER);
        break;
    case PPC_INTERRUPT_DOORBELL:
        spapr_dtl_ready(cpu, DTL_DISPATCH_DOORBELL);
        break;
    default:
        spapr_dtl_ready(cpu, DTL_DISPATCH_FIRMWARE);
        break;
    }
}

/* @cpu leaves the execution loop. Not under the BQL. */
void spapr_dtl_exec_exit(PowerPCCPU *cpu)
{
    if (spapr_cpu_state(cpu)->dtl_stop.preempt_reason) {
        /* A hypercall has said why. */
    } else if (CPU(cpu)->halted) {
        /* RTAS stop-self */
        qemu_mutex_lock_iothread();
        spapr_dtl_wait(cpu, DTL_PREEMPT_FIRMWARE);
        qemu_mutex_unlock_iothread();
    } else {
        spapr_dtl_yield(cpu, DTL_PREEMPT_TIME_SLICE);
    }
}

static uint32_t dtl_ticks(uint64_t from, uint64_t to)
{
    return to < from ? 0 : MIN(to - from, UINT32_MAX);
}

static uint8_t dtl_kind(uint8_t preempt_reason)
{
    switch (preempt_reason) {
    case DTL_PREEMPT_CEDE:
    case DTL_PREEMPT_CONFER:
        return DTL_LOG_VOLUNTARY;
    case DTL_PREEMPT_TIME_SLICE:
        return DTL_LOG_PREEMPT;
    default:
        return 0;
    }
}

static void dtl_dispatch(PowerPCCPU *cpu, bool conferred)
{
    SpaprMachineState *spapr = SPAPR_MACHINE(qdev_get_machine());
    SpaprDtlStop *stop = &spapr_cpu_state(cpu)->dtl_stop;
    uint64_t now = spapr_dtl_timebase(cpu);
    SpaprDtlEntry entry = {
        .preempt_reason = stop->preempt_reason,
        .processor_id = spapr_dtl_processor_id(),
        .timebase = now,
        .srr0 = stop->srr0,
        .srr1 = stop->srr1,
    };

    if (!stop->ready) {
        /* What woke it gave no notice, so the wait ends now. */
        spapr_dtl_ready(cpu, DTL_DISPATCH_FIRMWARE);
    } else if (stop->yielded && conferred) {
        stop->dispatch_reason = DTL_DISPATCH_CONFERRED;
    }
    entry.dispatch_reason = stop->dispatch_reason;
    /* Ready is enqueued: the loop looks at all its vCPUs in turn. */
    entry.waiting_to_ready = dtl_ticks(stop->stop_tb, stop->ready_tb);
    entry.enqueue_to_dispatch = dtl_ticks(stop->ready_tb, now);

    if (!spapr->dtl.script) {
        spapr_dtl_write(cpu, dtl_kind(stop->preempt_reason), &entry);
    }
}

/* @cpu enters the execution loop. Not under the BQL. */
void spapr_dtl_exec_enter(PowerPCCPU *cpu)
{
    SpaprDtlStop *stop = &spapr_cpu_state(cpu)->dtl_stop;
    bool back = dispatched == cpu;
    bool conferred = conferred_to == cpu;

    dispatched = cpu;
    conferred_to = NULL;

    /* An exit that gave the processor straight back is no stop. */
    if (stop->yielded && back) {
        qatomic_set(&stop->preempt_reason, DTL_PREEMPT_NONE);
    }
    if (stop->preempt_reason) {
        qemu_mutex_lock_iothread();
        dtl_dispatch(cpu, conferred);
        stop->preempt_reason = DTL_PREEMPT_NONE;
        qemu_mutex_unlock_iothread();
    }
}

/*
 * A vCPU that waits is migrated with its wait. One that yielded is not: who
 * ran in between is known to the source's thread only.
 */
static bool dtl_stop_needed(void *opaque)
{
    SpaprMachineClass *smc = SPAPR_MACHINE_GET_CLASS(qdev_get_machine());
    SpaprCpuState *spapr_cpu = opaque;

    return !smc->pre_7_2_dtl_migration &&
        dtl_kind(spapr_cpu->dtl_stop.preempt_reason) &&
        !spapr_cpu->dtl_stop.yielded;
}

/* What a damaged stream says must not make a log of no entries. */
int spapr_dtl_post_load(void *opaque, int version_id)
{
    SpaprCpuState *spapr_cpu = opaque;

    return spapr_cpu->dtl_size < DTL_ENTRY_SIZE ? -EINVAL : 0;
}

const VMStateDescription vmstate_spapr_cpu_dtl_stop = {
    .name = "spapr_cpu/vpa/dtl/stop",
    .version_id = 1,
    .minimum_version_id = 1,
    .needed = dtl_stop_needed,
    .fields = (VMStateField[]) {
        VMSTATE_UINT8(dtl_stop.preempt_reason, SpaprCpuState),
        VMSTATE_UINT8(dtl_stop.dispatch_reason, SpaprCpuState),
        VMSTATE_BOOL(dtl_stop.ready, SpaprCpuState),
        VMSTATE_UINT64(dtl_stop.stop_tb, SpaprCpuState),
        VMSTATE_UINT64(dtl_stop.ready_tb, SpaprCpuState),
        VMSTATE_UINT64(dtl_stop.srr0, SpaprCpuState),
        VMSTATE_UINT64(dtl_stop.srr1, SpaprCpuState),
        VMSTATE_END_OF_LIST()
    }
};

static void dtl_get_written(Object *obj, Visitor *v, const char *name,
                            void *opaque, Error **errp)
{
    SpaprMachineState *spapr = SPAPR_MACHINE(obj);
    g_autoptr(uint64List) list = NULL;
    uint64List **tail = &list;
    unsigned int i;

    for (i = 0; i < MACHINE(obj)->smp.max_cpus; i++) {
        QAPI_LIST_APPEND(tail, spapr->dtl.written[i]);
    }
    visit_type_uint64List(v, name, &list, errp);
}

void spapr_dtl_instance_init(SpaprMachineState *spapr)
{
    Object *obj = OBJECT(spapr);

    /* Before -smp is known */
    spapr->dtl.written = g_new0(uint64_t, MACHINE_GET_CLASS(obj)->max_cpus);

    object_property_add(obj, "x-dtl-written", "uint64List", dtl_get_written,
                        NULL, NULL, NULL);
    object_property_set_description(obj, "x-dtl-written",
                                    "Dispatch trace log entries written since"
                                    " power-on, by cpu-index");
}

void spapr_dtl_instance_finalize(SpaprMachineState *spapr)
{
    g_free(spapr->dtl.written);
}
