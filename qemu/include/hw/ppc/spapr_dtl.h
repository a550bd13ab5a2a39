/*
 * sPAPR dispatch trace log (DTL)
 *
 * Format and codes: LoPAPR, "Shared Processor LPAR Option", dispatch trace
 * log. Everything in guest memory is big-endian.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#ifndef HW_SPAPR_DTL_H
#define HW_SPAPR_DTL_H

#include "target/ppc/cpu-qom.h"

struct SpaprMachineState;

/* Fields of the virtual processor area that belong to the log */
#define VPA_DTL_ENABLE_MASK     0xb8    /* byte */
#define VPA_DTL_INDEX           0x218   /* doubleword */

/* Bits of the enable mask */
#define DTL_LOG_VOLUNTARY       0x01    /* H_CEDE, H_CONFER */
#define DTL_LOG_PREEMPT         0x02    /* end of the time slice */
#define DTL_LOG_FAULT           0x04    /* page faults of the partition */
#define DTL_LOG_ANY             0xff

typedef enum SpaprDtlDispatchReason {
    DTL_DISPATCH_EXTERNAL = 0,
    DTL_DISPATCH_FIRMWARE = 1,
    DTL_DISPATCH_PROD = 2,
    DTL_DISPATCH_DECREMENTER = 3,
    DTL_DISPATCH_SYSTEM_RESET = 4,
    DTL_DISPATCH_CONFERRED = 6,
    DTL_DISPATCH_TIME_SLICE = 7,
    DTL_DISPATCH_PAGE_FAULT = 8,
    DTL_DISPATCH_DOORBELL = 10,
} SpaprDtlDispatchReason;

typedef enum SpaprDtlPreemptReason {
    DTL_PREEMPT_NONE = 0,               /* unused code; here: not stopped */
    DTL_PREEMPT_FIRMWARE = 1,
    DTL_PREEMPT_CEDE = 2,
    DTL_PREEMPT_CONFER = 3,
    DTL_PREEMPT_TIME_SLICE = 4,
    DTL_PREEMPT_PAGE_FAULT = 6,
} SpaprDtlPreemptReason;

/* What the test mode can refuse to do with a log; bits */
typedef enum SpaprDtlRefuse {
    DTL_REFUSE_REGISTER = 1,
    DTL_REFUSE_DEREGISTER = 2,
} SpaprDtlRefuse;

/* One entry of the log, in the byte order of the host */
typedef struct SpaprDtlEntry {
    uint8_t dispatch_reason;
    uint8_t preempt_reason;
    uint16_t processor_id;
    uint32_t enqueue_to_dispatch;       /* timebase ticks */
    uint32_t ready_to_enqueue;          /* timebase ticks */
    uint32_t waiting_to_ready;          /* timebase ticks */
    uint64_t timebase;
    uint64_t fault_addr;
    uint64_t srr0;
    uint64_t srr1;
} SpaprDtlEntry;

#define DTL_ENTRY_SIZE          sizeof(SpaprDtlEntry)

/*
 * How a virtual processor stopped, kept from the stop to the next dispatch.
 * Set by the vCPU's thread. Of one that waits (not ready), whoever wakes it
 * sets ready, dispatch_reason and ready_tb; all that then is under the BQL.
 */
typedef struct SpaprDtlStop {
    uint8_t preempt_reason;             /* SpaprDtlPreemptReason */
    uint8_t dispatch_reason;            /* SpaprDtlDispatchReason */
    bool yielded;                       /* it waits for its next turn only */
    bool ready;
    uint64_t stop_tb;
    uint64_t ready_tb;
    uint64_t srr0;
    uint64_t srr1;
} SpaprDtlStop;

/* The machine's part, under the BQL */
typedef struct SpaprDtl {
    /*
     * Index increments since power-on, by cpu_index. Not in the vCPU, whose
     * unplug they outlive.
     */
    uint64_t *written;
    /* Test mode: while set, real dispatches are not logged */
    struct SpaprDtlScript *script;
} SpaprDtl;

void spapr_dtl_instance_init(struct SpaprMachineState *spapr);
void spapr_dtl_instance_finalize(struct SpaprMachineState *spapr);

void spapr_dtl_wait(PowerPCCPU *cpu, SpaprDtlPreemptReason reason);
void spapr_dtl_yield(PowerPCCPU *cpu, SpaprDtlPreemptReason reason);
void spapr_dtl_confer_to(PowerPCCPU *target);
void spapr_dtl_ready(PowerPCCPU *cpu, SpaprDtlDispatchReason reason);
void spapr_dtl_irq_ready(PowerPCCPU *cpu, int interrupt);
void spapr_dtl_exec_exit(PowerPCCPU *cpu);
void spapr_dtl_exec_enter(PowerPCCPU *cpu);

uint64_t spapr_dtl_timebase(PowerPCCPU *cpu);
uint16_t spapr_dtl_processor_id(void);
bool spapr_dtl_enabled(PowerPCCPU *cpu, uint8_t kinds);
bool spapr_dtl_write(PowerPCCPU *cpu, uint8_t kinds,
                     const SpaprDtlEntry *entry);
void spapr_dtl_set_index(PowerPCCPU *cpu, uint64_t index);
void spapr_dtl_skip(PowerPCCPU *cpu, uint64_t n);

void spapr_dtl_script_instance_init(struct SpaprMachineState *spapr);
void spapr_dtl_script_machine_init(struct SpaprMachineState *spapr,
                                   Error **errp);
void spapr_dtl_script_post_load(struct SpaprMachineState *spapr);
void spapr_dtl_script_clear(struct SpaprMachineState *spapr);
bool spapr_dtl_script_refuses(PowerPCCPU *cpu, SpaprDtlRefuse what);
void spapr_dtl_script_deregistered(PowerPCCPU *cpu);

int spapr_dtl_post_load(void *opaque, int version_id);
extern const VMStateDescription vmstate_spapr_cpu_dtl_stop;

#endif /* HW_SPAPR_DTL_H */
