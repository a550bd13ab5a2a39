/*
 * QTest of the sPAPR dispatch trace log
 *
 * Runs under TCG with a guest of a few instructions in place of the firmware:
 * each vCPU waits at a mailbox in memory for the hypercall that the test puts
 * there. So the test holds the guest's side of H_REGISTER_VPA, and what it
 * reads in guest memory is what the hypervisor wrote.
 *
 * SPDX-License-Identifier: GPL-2.0-or-later
 */

#include "qemu/osdep.h"
#include "qemu/bswap.h"
#include "libqtest.h"
#include "libqos/libqos-spapr.h"
#include "qapi/qmp/qdict.h"
#include "qapi/qmp/qlist.h"
#include "qapi/qmp/qnum.h"

/* Hypercalls */
#define H_REGISTER_VPA          0xdc
#define H_CEDE                  0xe0
#define H_CONFER                0xe4
#define H_PROD                  0xe8
#define H_RTAS                  0xf000

#define H_SUCCESS               0
#define H_HARDWARE              (-1)
#define H_PARAMETER             (-4)
#define H_RESOURCE              (-16)

#define REGISTER_VPA            0x0000200000000000ULL
#define REGISTER_DTL            0x0000400000000000ULL
#define DEREGISTER_VPA          0x0000a00000000000ULL
#define DEREGISTER_DTL          0x0000c00000000000ULL

#define RTAS_START_CPU          0x2006
#define RTAS_SET_INDICATOR      0x201a
#define RTAS_SUCCESS            0
#define RTAS_HW_ERROR           (-1)
#define ISOLATION_STATE         9001    /* 0: isolated */
#define ALLOCATION_STATE        9003    /* 0: unusable */
#define DRC_CORE(core)          (0x10000000 + (core))

/* The guest's memory */
#define MAILBOX(cpu)            (0x100000 + (cpu) * 0x1000)
#define RTAS_ARGS               0x110000
#define VPA(cpu)                (0x120000 + (cpu) * 0x1000)
#define DTL(cpu)                (0x130000 + (cpu) * 0x1000)
#define RAM_SIZE                0x10000000ULL           /* 256 MiB */

#define VPA_SIZE                640
#define VPA_MASK                0xb8
#define VPA_YIELD_COUNT         0x100
#define VPA_INDEX               0x218

#define MASK_VOLUNTARY          1
#define MASK_PREEMPT            2
#define MASK_FAULT              4
#define MASK_ALL                7

/* Reasons */
#define DISPATCH_PROD           2
#define DISPATCH_DECREMENTER    3
#define DISPATCH_CONFERRED      6
#define DISPATCH_TIME_SLICE     7
#define DISPATCH_FAULT          8
#define PREEMPT_CEDE            2
#define PREEMPT_CONFER          3
#define PREEMPT_TIME_SLICE      4
#define PREEMPT_FAULT           6

#define DTL_ENTRY_SIZE          48
#define DTL_SIZE                4096
#define DTL_SLOTS               85

#define TB_FREQ                 512000000
#define MSR_EE                  0x8000
#define DECR_NEVER              0x7fffffff

/* A mailbox */
#define MB_GO                   0       /* the guest takes it when not 0 */
#define MB_R3                   8       /* r3 to r7 follow each other */
#define MB_RET                  48
#define MB_DECR                 56
#define MB_R5_FROM              64      /* if not 0, where to load r5 from */

#define FW_ENTRY                0x100
#define FW_START_CPU            0x108
#define FW_LOOP                 0x10c
#define FW_HCALL                0x144   /* the instruction after sc 1 */
#define FW_DECR                 0x900

static const struct {
    uint32_t addr;
    uint32_t insn;
} firmware[] = {
    { 0x100, 0x3fe00010 },      /* lis    r31, MAILBOX(0) >> 16         */
    { 0x104, 0x48000008 },      /* b      loop                          */
    { 0x108, 0x7c7f1b78 },      /* mr     r31, r3   (start-cpu's r3)    */
    { 0x10c, 0xe87f0000 },      /* loop: ld r3, MB_GO(r31)              */
    { 0x110, 0x2c230000 },      /* cmpdi  r3, 0                         */
    { 0x114, 0x4182fff8 },      /* beq    loop                          */
    { 0x118, 0xe95f0038 },      /* ld     r10, MB_DECR(r31)             */
    { 0x11c, 0xe87f0008 },      /* ld     r3, MB_R3(r31)                */
    { 0x120, 0xe89f0010 },      /* ld     r4, MB_R3 + 8(r31)            */
    { 0x124, 0xe8bf0018 },      /* ld     r5, MB_R3 + 16(r31)           */
    { 0x128, 0xe8df0020 },      /* ld     r6, MB_R3 + 24(r31)           */
    { 0x12c, 0xe97f0040 },      /* ld     r11, MB_R5_FROM(r31)          */
    { 0x130, 0x2c2b0000 },      /* cmpdi  r11, 0                        */
    { 0x134, 0x41820008 },      /* beq    1f                            */
    { 0x138, 0x80ab0000 },      /* lwz    r5, 0(r11)                    */
    { 0x13c, 0x7d5603a6 },      /* 1: mtdec r10                         */
    { 0x140, 0x44000022 },      /* sc     1                             */
    { 0x144, 0xf87f0030 },      /* std    r3, MB_RET(r31)               */
    { 0x148, 0x38600000 },      /* li     r3, 0                         */
    { 0x14c, 0x7c0004ac },      /* sync                                 */
    { 0x150, 0xf87f0000 },      /* std    r3, MB_GO(r31)                */
    { 0x154, 0x4bffffb8 },      /* b      loop                          */

    { 0x900, 0x3d407fff },      /* lis    r10, 0x7fff                   */
    { 0x904, 0x7d5603a6 },      /* mtdec  r10                           */
    { 0x908, 0x4c000024 },      /* rfid                                 */
};
#define FW_SIZE                 0x1000

typedef struct Entry {
    uint8_t dispatch_reason;
    uint8_t preempt_reason;
    uint16_t processor_id;
    uint32_t enqueue_to_dispatch;
    uint32_t ready_to_enqueue;
    uint32_t waiting_to_ready;
    uint64_t timebase;
    uint64_t fault_addr;
    uint64_t srr0;
    uint64_t srr1;
} Entry;
QEMU_BUILD_BUG_ON(sizeof(Entry) != DTL_ENTRY_SIZE);

static char *firmware_path;

static void firmware_write(void)
{
    g_autofree uint8_t *image = g_malloc0(FW_SIZE);
    int fd = g_file_open_tmp("spapr-dtl-test-XXXXXX", &firmware_path, NULL);
    int i;

    g_assert(fd >= 0);
    for (i = 0; i < ARRAY_SIZE(firmware); i++) {
        stl_be_p(image + firmware[i].addr, firmware[i].insn);
    }
    g_assert_cmpint(write(fd, image, FW_SIZE), ==, FW_SIZE);
    close(fd);
}

/*
 * Start a machine whose vCPU 0 waits at its mailbox. @args continue a -machine
 * option.
 */
static QTestState *machine_start(const char *thread, const char *args)
{
    return qtest_initf("-accel tcg,thread=%s -smp 2 -m 256M -nodefaults"
                       " -vga none -bios %s -machine pseries,"
                       PSERIES_DEFAULT_CAPABILITIES "%s",
                       thread, firmware_path, args);
}

static void hcall_start(QTestState *qts, int cpu, uint64_t opcode, uint64_t r4,
                        uint64_t r5, uint64_t r6, uint64_t decr)
{
    qtest_writeq(qts, MAILBOX(cpu) + MB_R3, opcode);
    qtest_writeq(qts, MAILBOX(cpu) + MB_R3 + 8, r4);
    qtest_writeq(qts, MAILBOX(cpu) + MB_R3 + 16, r5);
    qtest_writeq(qts, MAILBOX(cpu) + MB_R3 + 24, r6);
    qtest_writeq(qts, MAILBOX(cpu) + MB_DECR, decr);
    qtest_writeq(qts, MAILBOX(cpu) + MB_GO, 1);
}

static bool hcall_done(QTestState *qts, int cpu)
{
    return qtest_readq(qts, MAILBOX(cpu) + MB_GO) == 0;
}

/* Wait for @condition; a minute without it is a failure. */
#define wait_until(condition)                                               \
    do {                                                                    \
        int64_t end_ = g_get_monotonic_time() + 60 * G_USEC_PER_SEC;        \
        while (!(condition)) {                                              \
            g_assert_cmpint(g_get_monotonic_time(), <, end_);               \
            g_usleep(1000);                                                 \
        }                                                                   \
    } while (0)

static int64_t hcall_wait(QTestState *qts, int cpu)
{
    wait_until(hcall_done(qts, cpu));
    return qtest_readq(qts, MAILBOX(cpu) + MB_RET);
}

static int64_t hcall(QTestState *qts, int cpu, uint64_t opcode, uint64_t r4,
                     uint64_t r5, uint64_t r6)
{
    hcall_start(qts, cpu, opcode, r4, r5, r6, DECR_NEVER);
    return hcall_wait(qts, cpu);
}

static int64_t register_vpa(QTestState *qts, int cpu)
{
    qtest_memset(qts, VPA(cpu), 0, 4096);
    qtest_writew(qts, VPA(cpu) + 4, VPA_SIZE);
    return hcall(qts, 0, H_REGISTER_VPA, REGISTER_VPA, cpu, VPA(cpu));
}

static int64_t register_dtl(QTestState *qts, int cpu, uint64_t addr,
                            uint32_t size)
{
    qtest_writel(qts, addr + 4, size);
    return hcall(qts, 0, H_REGISTER_VPA, REGISTER_DTL, cpu, addr);
}

static int64_t deregister_dtl(QTestState *qts, int cpu)
{
    return hcall(qts, 0, H_REGISTER_VPA, DEREGISTER_DTL, cpu, 0);
}

static void set_mask(QTestState *qts, int cpu, uint8_t mask)
{
    qtest_writeb(qts, VPA(cpu) + VPA_MASK, mask);
}

static uint64_t get_index(QTestState *qts, int cpu)
{
    return qtest_readq(qts, VPA(cpu) + VPA_INDEX);
}

static void set_index(QTestState *qts, int cpu, uint64_t index)
{
    qtest_writeq(qts, VPA(cpu) + VPA_INDEX, index);
}

/* Register VPA and log of @cpu, with @slots entries, and enable @mask. */
static void log_start(QTestState *qts, int cpu, int slots, uint8_t mask)
{
    g_assert_cmpint(register_vpa(qts, cpu), ==, H_SUCCESS);
    qtest_memset(qts, DTL(cpu), 0, DTL_SIZE);
    g_assert_cmpint(register_dtl(qts, cpu, DTL(cpu), slots * DTL_ENTRY_SIZE),
                    ==, H_SUCCESS);
    set_mask(qts, cpu, mask);
}

static Entry get_slot(QTestState *qts, int cpu, int slot)
{
    Entry entry;

    qtest_memread(qts, DTL(cpu) + slot * DTL_ENTRY_SIZE, &entry,
                  sizeof(entry));
    entry.processor_id = be16_to_cpu(entry.processor_id);
    entry.enqueue_to_dispatch = be32_to_cpu(entry.enqueue_to_dispatch);
    entry.ready_to_enqueue = be32_to_cpu(entry.ready_to_enqueue);
    entry.waiting_to_ready = be32_to_cpu(entry.waiting_to_ready);
    entry.timebase = be64_to_cpu(entry.timebase);
    entry.fault_addr = be64_to_cpu(entry.fault_addr);
    entry.srr0 = be64_to_cpu(entry.srr0);
    entry.srr1 = be64_to_cpu(entry.srr1);
    return entry;
}

static uint64_t written(QTestState *qts, int cpu)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': {"
                           " 'path': '/machine',"
                           " 'property': 'x-dtl-written' } }");
    const QListEntry *entry = qlist_first(qdict_get_qlist(rsp, "return"));
    uint64_t value;

    while (cpu--) {
        entry = qlist_next(entry);
    }
    value = qnum_get_uint(qobject_to(QNum, qlist_entry_obj(entry)));
    qobject_unref(rsp);
    return value;
}

static void set_script(QTestState *qts, const char *script)
{
    qtest_qmp_assert_success(qts, "{ 'execute': 'qom-set', 'arguments': {"
                             " 'path': '/machine',"
                             " 'property': 'x-dtl-script',"
                             " 'value': %s } }", script);
}

static char *get_script(QTestState *qts)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-get', 'arguments': {"
                           " 'path': '/machine',"
                           " 'property': 'x-dtl-script' } }");
    char *script = g_strdup(qdict_get_str(rsp, "return"));

    qobject_unref(rsp);
    return script;
}

/* An RTAS call of @cpu with three arguments: its status */
static int32_t rtas(QTestState *qts, int cpu, uint32_t token, uint32_t arg0,
                    uint32_t arg1, uint32_t arg2)
{
    qtest_writel(qts, RTAS_ARGS, token);
    qtest_writel(qts, RTAS_ARGS + 4, 3);
    qtest_writel(qts, RTAS_ARGS + 8, 1);
    qtest_writel(qts, RTAS_ARGS + 12, arg0);
    qtest_writel(qts, RTAS_ARGS + 16, arg1);
    qtest_writel(qts, RTAS_ARGS + 20, arg2);
    g_assert_cmpint(hcall(qts, cpu, H_RTAS, RTAS_ARGS, 0, 0), ==, H_SUCCESS);
    return qtest_readl(qts, RTAS_ARGS + 24);
}

static void start_cpu1(QTestState *qts)
{
    g_assert_cmpint(rtas(qts, 0, RTAS_START_CPU, 1, FW_START_CPU, MAILBOX(1)),
                    ==, RTAS_SUCCESS);
    /* It is up when it takes its first call. */
    g_assert_cmpint(hcall(qts, 1, H_PROD, 1, 0, 0), ==, H_SUCCESS);
}

static void test_register(void)
{
    static const struct {
        uint64_t addr;
        uint32_t size;
        int64_t ret;
    } cases[] = {
        { DTL(0), 4096, H_SUCCESS },
        { DTL(0), 48, H_SUCCESS },
        { DTL(0), 47, H_PARAMETER },
        { DTL(0), 0, H_PARAMETER },
        { DTL(0), 4097, H_PARAMETER },
        { DTL(0), UINT32_MAX, H_PARAMETER },
        { DTL(0) + 128, 4096 - 128, H_SUCCESS },
        { DTL(0) + 128, 4096, H_PARAMETER },
        { DTL(0) + 4096 - 128, 128, H_SUCCESS },
        { DTL(0) + 4096 - 128, 129, H_PARAMETER },
        { DTL(0) + 48, 48, H_PARAMETER },
        { RAM_SIZE - 4096, 4096, H_SUCCESS },
        { RAM_SIZE, 4096, H_PARAMETER },
        { 0x200000000000ULL, 4096, H_PARAMETER },
        { ~0xfffULL, 4096, H_PARAMETER },
        { 0, 4096, H_HARDWARE },
    };
    QTestState *qts = machine_start("single", "");
    int i;

    /* Not without a VPA, however good the buffer */
    g_assert_cmpint(register_dtl(qts, 0, DTL(0), 4096), ==, H_RESOURCE);
    g_assert_cmpint(register_vpa(qts, 0), ==, H_SUCCESS);

    for (i = 0; i < ARRAY_SIZE(cases); i++) {
        g_test_message("addr 0x%" PRIx64 " size %u", cases[i].addr,
                       cases[i].size);
        if (cases[i].addr == 0) {
            /* Where the guest's code is, but not these bytes of it */
            g_assert_cmpint(hcall(qts, 0, H_REGISTER_VPA, REGISTER_DTL, 0, 0),
                            ==, cases[i].ret);
            continue;
        }
        g_assert_cmpint(register_dtl(qts, 0, cases[i].addr, cases[i].size),
                        ==, cases[i].ret);
    }

    g_assert_cmpint(hcall(qts, 0, H_REGISTER_VPA, REGISTER_DTL, 7, DTL(0)),
                    ==, H_PARAMETER);
    g_assert_cmpint(hcall(qts, 0, H_REGISTER_VPA, DEREGISTER_VPA, 0, 0),
                    ==, H_RESOURCE);
    g_assert_cmpint(deregister_dtl(qts, 0), ==, H_SUCCESS);
    g_assert_cmpint(hcall(qts, 0, H_REGISTER_VPA, DEREGISTER_VPA, 0, 0),
                    ==, H_SUCCESS);
    qtest_quit(qts);
}

/* A wait of @decr ticks on vCPU 0 */
static void cede(QTestState *qts, uint32_t decr)
{
    hcall_start(qts, 0, H_CEDE, 0, 0, 0, decr);
    g_assert_cmpint(hcall_wait(qts, 0), ==, H_SUCCESS);
}

static void test_cede(const void *thread)
{
    const uint32_t decr = TB_FREQ / 5;
    QTestState *qts = machine_start(thread, "");
    Entry entry;

    log_start(qts, 0, DTL_SLOTS, MASK_ALL);
    cede(qts, decr);
    g_assert_cmpint(get_index(qts, 0), ==, 1);
    g_assert_cmpint(written(qts, 0), ==, 1);
    entry = get_slot(qts, 0, 0);
    g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_CEDE);
    g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_DECREMENTER);
    g_assert_cmpint(entry.fault_addr, ==, 0);
    g_assert_cmphex(entry.srr0, ==, FW_HCALL);
    g_assert_cmphex(entry.srr1 & MSR_EE, ==, MSR_EE);
    /* The time between mtdec and sc is not in it, a late timer is. */
    g_assert_cmpint(entry.waiting_to_ready, >, decr / 10);
    g_assert_cmpint(entry.ready_to_enqueue, ==, 0);
    g_assert_cmpint(entry.timebase, >,
                    (uint64_t)entry.waiting_to_ready +
                    entry.enqueue_to_dispatch);

    /* The other kinds are not logged, nor is anything without a kind. */
    set_mask(qts, 0, MASK_PREEMPT | MASK_FAULT);
    cede(qts, decr / 10);
    set_mask(qts, 0, 0);
    cede(qts, decr / 10);
    g_assert_cmpint(get_index(qts, 0), ==, 1);
    g_assert_cmpint(written(qts, 0), ==, 1);
    qtest_quit(qts);
}

/* Entry n is in slot n modulo the length as registered, whatever n is. */
static void test_ring(void)
{
    static const uint64_t start[] = { 0, 6, 84, 85, 1ULL << 32, UINT64_MAX };
    QTestState *qts = machine_start("single", "");
    int slots = 7;
    int i, slot;

    log_start(qts, 0, slots, MASK_VOLUNTARY);
    /* What does not make a whole entry is left alone. */
    g_assert_cmpint(register_dtl(qts, 0, DTL(0),
                                 slots * DTL_ENTRY_SIZE + DTL_ENTRY_SIZE - 1),
                    ==, H_SUCCESS);
    for (i = 0; i < ARRAY_SIZE(start); i++) {
        qtest_memset(qts, DTL(0), 0, DTL_SIZE);
        set_index(qts, 0, start[i]);
        cede(qts, TB_FREQ / 20);
        g_assert_cmphex(get_index(qts, 0), ==, start[i] + 1);
        g_assert_cmpint(written(qts, 0), ==, i + 1);
        for (slot = 0; slot < DTL_SLOTS; slot++) {
            g_assert_cmpint(get_slot(qts, 0, slot).timebase != 0, ==,
                            slot == start[i] % slots);
        }
    }
    qtest_quit(qts);
}

static void test_prod(const void *thread)
{
    QTestState *qts = machine_start(thread, "");
    Entry entry;

    start_cpu1(qts);
    log_start(qts, 0, DTL_SLOTS, MASK_VOLUNTARY);
    hcall_start(qts, 0, H_CEDE, 0, 0, 0, DECR_NEVER);
    /* Ceded when its yield count stays odd */
    g_usleep(300 * 1000);
    g_assert(!hcall_done(qts, 0));
    g_assert_cmpint(qtest_readl(qts, VPA(0) + VPA_YIELD_COUNT) & 1, ==, 1);
    g_assert_cmpint(get_index(qts, 0), ==, 0);

    g_assert_cmpint(hcall(qts, 1, H_PROD, 0, 0, 0), ==, H_SUCCESS);
    g_assert_cmpint(hcall_wait(qts, 0), ==, H_SUCCESS);
    g_assert_cmpint(get_index(qts, 0), ==, 1);
    entry = get_slot(qts, 0, 0);
    g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_CEDE);
    g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_PROD);
    g_assert_cmpint(entry.waiting_to_ready, >, TB_FREQ / 10);
    qtest_quit(qts);
}

/*
 * An exit that hands the processor straight back is no stop, not even if it
 * was to confer the processor: neither of a vCPU that is alone on its thread,
 * nor of two that have a thread each.
 */
static void test_alone(const void *thread)
{
    QTestState *qts = machine_start(thread, "");
    int nr_cpus = strcmp(thread, "multi") ? 1 : 2;
    int cpu, i;

    if (nr_cpus > 1) {
        start_cpu1(qts);
    }
    for (cpu = 0; cpu < nr_cpus; cpu++) {
        log_start(qts, cpu, DTL_SLOTS, MASK_ALL);
    }
    for (i = 0; i < 10; i++) {
        qtest_qmp_assert_success(qts, "{ 'execute': 'stop' }");
        qtest_qmp_assert_success(qts, "{ 'execute': 'cont' }");
        g_usleep(50 * 1000);
        for (cpu = 0; cpu < nr_cpus; cpu++) {
            hcall(qts, cpu, H_CONFER, -1, 0, 0);
        }
    }
    for (cpu = 0; cpu < nr_cpus; cpu++) {
        /* Not for lack of exits: each counts as two yields. */
        g_assert_cmpint(qtest_readl(qts, VPA(cpu) + VPA_YIELD_COUNT), >, 2);
        g_assert_cmpint(get_index(qts, cpu), ==, 0);
        g_assert_cmpint(written(qts, cpu), ==, 0);
    }
    qtest_quit(qts);
}

/* Two busy vCPUs on one thread take turns. */
static void test_time_slice(void)
{
    QTestState *qts = machine_start("single", "");
    uint64_t index[2], last_tb[2] = { 0, 0 };
    Entry entry;
    int cpu, i;

    start_cpu1(qts);
    for (cpu = 0; cpu < 2; cpu++) {
        log_start(qts, cpu, DTL_SLOTS, MASK_PREEMPT);
    }
    /* vCPU 0 is preempted when vCPU 1 prods it, so it has no need of that. */
    for (i = 0; i < 3; i++) {
        g_assert_cmpint(hcall(qts, 1, H_PROD, 0, 0, 0), ==, H_SUCCESS);
    }
    wait_until(get_index(qts, 0) >= 5 && get_index(qts, 1) >= 5);
    for (cpu = 0; cpu < 2; cpu++) {
        index[cpu] = get_index(qts, cpu);
        g_assert_cmpint(index[cpu], <, DTL_SLOTS);
        for (i = 0; i < index[cpu]; i++) {
            entry = get_slot(qts, cpu, i);
            g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_TIME_SLICE);
            g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_TIME_SLICE);
            g_assert_cmpint(entry.waiting_to_ready, ==, 0);
            g_assert_cmpint(entry.ready_to_enqueue, ==, 0);
            g_assert_cmpint(entry.enqueue_to_dispatch, >, 0);
            g_assert_cmphex(entry.srr0, >=, FW_ENTRY);
            g_assert_cmphex(entry.srr0, <, FW_DECR + 16);
            /* It was away no longer than since it last came back. */
            if (i) {
                g_assert_cmpint(entry.enqueue_to_dispatch, <=,
                                entry.timebase - last_tb[cpu]);
            }
            last_tb[cpu] = entry.timebase;
        }
    }
    /* The log of the vCPUs, not of the exits: their turns alternate. */
    g_assert_cmpint(ABS((int64_t)(index[0] - index[1])), <=, 2);
    qtest_quit(qts);
}

static void test_confer(void)
{
    QTestState *qts = machine_start("single", "");
    uint64_t index;
    Entry entry;

    start_cpu1(qts);
    log_start(qts, 0, DTL_SLOTS, MASK_PREEMPT);
    log_start(qts, 1, DTL_SLOTS, MASK_VOLUNTARY);

    /* To all */
    hcall(qts, 1, H_CONFER, -1, 0, 0);
    g_assert_cmpint(get_index(qts, 1), ==, 1);
    entry = get_slot(qts, 1, 0);
    g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_CONFER);
    g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_TIME_SLICE);
    g_assert_cmpint(entry.waiting_to_ready, ==, 0);
    g_assert_cmphex(entry.srr0, ==, FW_HCALL);

    /* To vCPU 0, which is preempted while vCPU 1 reads its yield count */
    set_index(qts, 0, 0);
    qtest_writeq(qts, MAILBOX(1) + MB_R5_FROM, VPA(0) + VPA_YIELD_COUNT);
    hcall(qts, 1, H_CONFER, 0, 0, 0);
    g_assert_cmpint(get_index(qts, 1), ==, 2);
    entry = get_slot(qts, 1, 1);
    g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_CONFER);
    index = get_index(qts, 0);
    g_assert_cmpint(index, >, 0);
    g_assert_cmpint(index, <, DTL_SLOTS);
    while (index--) {
        entry = get_slot(qts, 0, index);
        if (entry.dispatch_reason == DISPATCH_CONFERRED) {
            break;
        }
    }
    g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_CONFERRED);
    g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_TIME_SLICE);
    qtest_quit(qts);
}

static const char endless[] = "burst=10,interval=100000";

/* True if nothing writes to the log's memory any more. */
static void check_silent(QTestState *qts, int cpu)
{
    g_autofree uint8_t *buf = g_malloc(DTL_SIZE);
    uint64_t count = written(qts, cpu);
    int i;

    qtest_memset(qts, DTL(cpu), 0x5a, DTL_SIZE);
    g_usleep(100 * 1000);
    qtest_memread(qts, DTL(cpu), buf, DTL_SIZE);
    for (i = 0; i < DTL_SIZE; i++) {
        g_assert_cmphex(buf[i], ==, 0x5a);
    }
    g_assert_cmpint(written(qts, cpu), ==, count);
}

/* The memory of a log is the guest's again when it is deregistered. */
static void test_deregister(const void *thread)
{
    QTestState *qts = machine_start(thread, "");
    uint64_t index;
    int i;

    log_start(qts, 0, DTL_SLOTS, MASK_ALL);
    set_script(qts, endless);
    for (i = 0; i < 5; i++) {
        index = get_index(qts, 0);
        wait_until(get_index(qts, 0) > index + 100);
        g_assert_cmpint(deregister_dtl(qts, 0), ==, H_SUCCESS);
        check_silent(qts, 0);
        /* Registered again, it goes on. */
        g_assert_cmpint(register_dtl(qts, 0, DTL(0), DTL_SIZE), ==, H_SUCCESS);
    }
    qtest_quit(qts);
}

static void test_reset(const void *thread)
{
    QTestState *qts = machine_start(thread, "");
    uint64_t count;

    log_start(qts, 0, DTL_SLOTS, MASK_ALL);
    set_script(qts, endless);
    wait_until(get_index(qts, 0) > 100);
    qtest_qmp_assert_success(qts, "{ 'execute': 'system_reset' }");
    qtest_qmp_eventwait(qts, "RESET");
    check_silent(qts, 0);
    count = written(qts, 0);
    g_assert_cmpint(count, >, 100);

    /* A VPA alone does not bring the log back. */
    g_assert_cmpint(register_vpa(qts, 0), ==, H_SUCCESS);
    set_mask(qts, 0, MASK_ALL);
    check_silent(qts, 0);

    /* The guest comes up again and has its log. */
    log_start(qts, 0, DTL_SLOTS, MASK_ALL);
    wait_until(get_index(qts, 0) > 100);
    g_assert_cmpint(written(qts, 0), >, count + 100);
    qtest_quit(qts);
}

static char *core_path(QTestState *qts, int core)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'query-hotpluggable-cpus' }");
    char *path = NULL;
    QListEntry *entry;

    QLIST_FOREACH_ENTRY(qdict_get_qlist(rsp, "return"), entry) {
        QDict *cpu = qobject_to(QDict, qlist_entry_obj(entry));

        if (qdict_get_int(qdict_get_qdict(cpu, "props"), "core-id") == core) {
            path = g_strdup(qdict_get_str(cpu, "qom-path"));
        }
    }
    qobject_unref(rsp);
    g_assert_nonnull(path);
    return path;
}

/*
 * A core goes while its log is written. It cannot release itself, however it
 * asks for it.
 */
static void test_unplug(const void *thread)
{
    QTestState *qts = machine_start(thread, "");
    g_autofree char *path = core_path(qts, 1);

    start_cpu1(qts);
    log_start(qts, 1, DTL_SLOTS, MASK_ALL);
    set_script(qts, endless);
    wait_until(get_index(qts, 1) > 100);
    qtest_qmp_assert_success(qts, "{ 'execute': 'device_del',"
                             " 'arguments': { 'id': %s } }", path);
    g_assert_cmpint(rtas(qts, 1, RTAS_SET_INDICATOR, ISOLATION_STATE,
                         DRC_CORE(1), 0), ==, RTAS_SUCCESS);
    g_assert_cmpint(rtas(qts, 1, RTAS_SET_INDICATOR, ALLOCATION_STATE,
                         DRC_CORE(1), 0), ==, RTAS_HW_ERROR);
    g_assert_cmpint(rtas(qts, 0, RTAS_SET_INDICATOR, ALLOCATION_STATE,
                         DRC_CORE(1), 0), ==, RTAS_SUCCESS);
    qtest_qmp_eventwait(qts, "DEVICE_DELETED");
    check_silent(qts, 1);
    g_assert_cmpint(written(qts, 1), >, 100);
    qtest_quit(qts);
}

static void migrate_to_file(QTestState *qts, const char *path)
{
    g_autofree char *uri = g_strdup_printf("exec:cat > %s", path);
    bool completed = false;
    QDict *rsp, *ret;

    qtest_qmp_assert_success(qts, "{ 'execute': 'migrate',"
                             " 'arguments': { 'uri': %s } }", uri);
    while (!completed) {
        rsp = qtest_qmp(qts, "{ 'execute': 'query-migrate' }");
        ret = qdict_get_qdict(rsp, "return");
        g_assert_cmpstr(qdict_get_try_str(ret, "status"), !=, "failed");
        completed = !g_strcmp0(qdict_get_try_str(ret, "status"), "completed");
        qobject_unref(rsp);
        g_usleep(1000);
    }
}

static bool is_running(QTestState *qts)
{
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'query-status' }");
    bool running = qdict_get_bool(qdict_get_qdict(rsp, "return"), "running");

    qobject_unref(rsp);
    return running;
}

/* A wait goes on where the vCPU goes, and so does the log. */
static void test_migrate(const void *thread)
{
    QTestState *qts = machine_start(thread, "");
    g_autofree char *path = NULL;
    g_autofree char *incoming = NULL;
    int fd = g_file_open_tmp("spapr-dtl-test-XXXXXX", &path, NULL);
    uint64_t before;
    Entry entry;

    g_assert(fd >= 0);
    close(fd);
    start_cpu1(qts);
    log_start(qts, 0, DTL_SLOTS, MASK_VOLUNTARY);
    cede(qts, TB_FREQ / 5);
    before = get_slot(qts, 0, 0).timebase;
    hcall_start(qts, 0, H_CEDE, 0, 0, 0, DECR_NEVER);
    g_usleep(300 * 1000);
    g_assert(!hcall_done(qts, 0));
    migrate_to_file(qts, path);
    g_assert_cmpint(get_index(qts, 0), ==, 1);
    qtest_quit(qts);

    incoming = g_strdup_printf(" -incoming 'exec:cat %s'", path);
    qts = machine_start(thread, incoming);
    /* Until then the guest's memory is the source's to write. */
    wait_until(is_running(qts));
    g_assert_cmpint(hcall(qts, 1, H_PROD, 0, 0, 0), ==, H_SUCCESS);
    g_assert_cmpint(hcall_wait(qts, 0), ==, H_SUCCESS);
    g_assert_cmpint(get_index(qts, 0), ==, 2);
    entry = get_slot(qts, 0, 1);
    g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_CEDE);
    g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_PROD);
    g_assert_cmpint(entry.waiting_to_ready, >, TB_FREQ / 10);
    g_assert_cmpint(entry.waiting_to_ready, <, entry.timebase - before);
    qtest_quit(qts);
    unlink(path);
}

/* An older version of the machine does not send what its QEMU cannot load. */
static void test_migrate_compat(void)
{
    static const struct {
        const char *machine;
        bool sent;
    } cases[] = {
        { "pseries-7.2", true },
        { "pseries-7.1", false },
    };
    static const char name[] = "spapr_cpu/vpa/dtl/stop";
    int i;

    for (i = 0; i < ARRAY_SIZE(cases); i++) {
        g_autofree char *path = NULL;
        g_autofree char *args = g_strdup_printf(" -machine %s",
                                                cases[i].machine);
        g_autofree char *stream = NULL;
        int fd = g_file_open_tmp("spapr-dtl-test-XXXXXX", &path, NULL);
        QTestState *qts = machine_start("single", args);
        gsize len;

        g_assert(fd >= 0);
        close(fd);
        log_start(qts, 0, DTL_SLOTS, MASK_VOLUNTARY);
        hcall_start(qts, 0, H_CEDE, 0, 0, 0, DECR_NEVER);
        wait_until(qtest_readq(qts, MAILBOX(0) + MB_GO) &&
                   qtest_readl(qts, VPA(0) + VPA_YIELD_COUNT) & 1);
        migrate_to_file(qts, path);
        qtest_quit(qts);

        g_assert_true(g_file_get_contents(path, &stream, &len, NULL));
        g_assert_cmpint(!!memmem(stream, len, name, strlen(name)), ==,
                        cases[i].sent);
        unlink(path);
    }
}

/* Run the job that @fmt starts, by the name of "job". */
static void G_GNUC_PRINTF(2, 3) run_job(QTestState *qts, const char *fmt, ...)
{
    const char *status = "";
    QDict *rsp, *job;
    va_list ap;

    va_start(ap, fmt);
    rsp = qtest_vqmp(qts, fmt, ap);
    va_end(ap);
    g_assert(qdict_haskey(rsp, "return"));
    while (strcmp(status, "concluded")) {
        qobject_unref(rsp);
        rsp = qtest_qmp(qts, "{ 'execute': 'query-jobs' }");
        job = qobject_to(QDict, qlist_peek(qdict_get_qlist(rsp, "return")));
        status = qdict_get_str(job, "status");
        g_usleep(1000);
    }
    g_assert_cmpstr(qdict_get_try_str(job, "error"), ==, NULL);
    qobject_unref(rsp);
    qtest_qmp_assert_success(qts, "{ 'execute': 'job-dismiss',"
                             " 'arguments': { 'id': 'job' } }");
}

/* A disk for snapshots, in the file @path */
static void add_disk(QTestState *qts, const char *path)
{
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-add', 'arguments': {"
                             " 'driver': 'file', 'node-name': 'file',"
                             " 'filename': %s } }", path);
    run_job(qts, "{ 'execute': 'blockdev-create', 'arguments': {"
            " 'job-id': 'job', 'options': { 'driver': 'qcow2',"
            " 'file': 'file', 'size': 1048576 } } }");
    qtest_qmp_assert_success(qts, "{ 'execute': 'blockdev-add', 'arguments': {"
                             " 'driver': 'qcow2', 'node-name': 'disk',"
                             " 'file': 'file' } }");
}

static void snapshot(QTestState *qts, const char *command, const char *tag)
{
    run_job(qts, "{ 'execute': %s, 'arguments': { 'job-id': 'job',"
            " 'tag': %s, 'vmstate': 'disk', 'devices': [ 'disk' ] } }",
            command, tag);
}

/*
 * Back in a wait, the vCPU ends it as it would have, whatever it did since. The
 * clock goes back as well, but the test mode does not wait for what it was.
 */
static void test_snapshot(const void *thread)
{
    QTestState *qts = machine_start(thread, "");
    g_autofree char *path = NULL;
    int fd = g_file_open_tmp("spapr-dtl-test-XXXXXX", &path, NULL);
    int64_t saved, loaded;
    uint64_t count;
    Entry entry;

    g_assert(fd >= 0);
    close(fd);
    add_disk(qts, path);
    log_start(qts, 0, DTL_SLOTS, MASK_VOLUNTARY);
    hcall_start(qts, 0, H_CEDE, 0, 0, 0, TB_FREQ);
    g_usleep(100 * 1000);
    g_assert(!hcall_done(qts, 0));
    snapshot(qts, "snapshot-save", "wait");
    g_assert_cmpint(hcall_wait(qts, 0), ==, H_SUCCESS);
    g_assert_cmpint(get_index(qts, 0), ==, 1);
    /* It yields */
    qtest_qmp_assert_success(qts, "{ 'execute': 'stop' }");
    snapshot(qts, "snapshot-load", "wait");
    g_assert_cmpint(get_index(qts, 0), ==, 0);
    qtest_qmp_assert_success(qts, "{ 'execute': 'cont' }");
    g_assert_cmpint(hcall_wait(qts, 0), ==, H_SUCCESS);
    g_assert_cmpint(get_index(qts, 0), ==, 1);
    entry = get_slot(qts, 0, 0);
    g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_CEDE);
    g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_DECREMENTER);
    g_assert_cmpint(entry.waiting_to_ready, >, TB_FREQ / 10);

    set_script(qts, endless);
    snapshot(qts, "snapshot-save", "script");
    saved = g_get_monotonic_time();
    g_usleep(4 * G_USEC_PER_SEC);
    snapshot(qts, "snapshot-load", "script");
    loaded = g_get_monotonic_time();
    count = written(qts, 0);
    wait_until(written(qts, 0) > count + 10);
    g_assert_cmpint(g_get_monotonic_time() - loaded, <, (loaded - saved) / 2);
    qtest_quit(qts);
    unlink(path);
}

/* Not where another hypervisor writes the log, or none */
static void test_script_accel(void)
{
    QTestState *qts = qtest_initf("-nodefaults -vga none -bios %s"
                                  " -machine pseries,"
                                  PSERIES_DEFAULT_CAPABILITIES, firmware_path);
    QDict *rsp = qtest_qmp(qts, "{ 'execute': 'qom-set', 'arguments': {"
                           " 'path': '/machine', 'property': 'x-dtl-script',"
                           " 'value': 'burst=1' } }");

    g_assert_true(qdict_haskey(rsp, "error"));
    g_assert_cmpstr(qdict_get_str(qdict_get_qdict(rsp, "error"), "desc"), ==,
                    "x-dtl-script: the log is written by QEMU under TCG only");
    qobject_unref(rsp);
    qtest_quit(qts);
}

static void test_script_errors(void)
{
    static const struct {
        const char *script;
        const char *error;
    } cases[] = {
        { "count", "x-dtl-script: field 'count' has no value" },
        { "=1", "x-dtl-script: no field is named ''" },
        { "burst=1,", "x-dtl-script: no field is named ''" },
        { ",", "x-dtl-script: no field is named ''" },
        { "counts=1", "x-dtl-script: no field is named 'counts'" },
        { "coun=1", "x-dtl-script: no field is named 'coun'" },
        { "skip=1,skip=1", "x-dtl-script: field 'skip' is given twice" },
        { "burst=0",
          "x-dtl-script: burst='0' is no number from 1 to 1000000" },
        { "burst=1000001",
          "x-dtl-script: burst='1000001' is no number from 1 to 1000000" },
        { "burst=1x",
          "x-dtl-script: burst='1x' is no number from 1 to 1000000" },
        { "burst=-1",
          "x-dtl-script: burst='-1' is no number from 1 to 1000000" },
        { "burst= 1",
          "x-dtl-script: burst=' 1' is no number from 1 to 1000000" },
        { "interval=999", "x-dtl-script: interval='999' is no number"
          " from 1000 to 1000000000000" },
        { "skip=4294967296", "x-dtl-script: skip='4294967296' is no number"
          " from 0 to 4294967295" },
        { "count=18446744073709551616",
          "x-dtl-script: count='18446744073709551616' is no number"
          " from 0 to 18446744073709551615" },
        { "cpu=2", "x-dtl-script: cpu='2' is no number from 0 to 1,"
          " the last CPU of this machine" },
        { "reasons=Walk",
          "x-dtl-script: reasons='Walk' is none of fixed, walk, kinds" },
        { "times=", "x-dtl-script: times='' is none of fixed, limits" },
        { "refuse=all", "x-dtl-script: refuse='all' is none of none, register,"
          " deregister, both" },
    };
    QTestState *qts = machine_start("single", "x-dtl-script=cpu=1,,count=3");
    g_autofree char *script = NULL;
    QDict *rsp, *error;
    int i;

    for (i = 0; i < ARRAY_SIZE(cases); i++) {
        rsp = qtest_qmp(qts, "{ 'execute': 'qom-set', 'arguments': {"
                        " 'path': '/machine', 'property': 'x-dtl-script',"
                        " 'value': %s } }", cases[i].script);
        error = qdict_get_qdict(rsp, "error");
        g_assert_nonnull(error);
        g_assert_cmpstr(qdict_get_str(error, "desc"), ==, cases[i].error);
        qobject_unref(rsp);
    }

    /* The one before is still in force. */
    script = get_script(qts);
    g_assert_cmpstr(script, ==, "cpu=1,count=3");
    qtest_quit(qts);
}

/* Run @script on vCPU 0, which is to count @count entries in all. */
static void run_script(QTestState *qts, const char *script, uint64_t count)
{
    uint64_t base = written(qts, 0);

    set_index(qts, 0, 0);
    qtest_memset(qts, DTL(0), 0, DTL_SIZE);
    set_script(qts, script);
    wait_until(get_index(qts, 0) >= count);
    g_usleep(20 * 1000);
    g_assert_cmpint(get_index(qts, 0), ==, count);
    g_assert_cmpint(written(qts, 0), ==, base + count);
}

static void test_script(const void *thread)
{
    static const uint32_t limits[] = {
        0, 1, 0x7fffffff, 0x80000000, 0xffffffff
    };
    QTestState *qts = machine_start(thread, "");
    g_autofree bool *seen = g_new0(bool, 2 * 256);
    uint64_t base, last_tb = 0;
    Entry entry;
    int i, n, seq;

    start_cpu1(qts);
    log_start(qts, 0, DTL_SLOTS, MASK_FAULT);

    /* Overrun: the newest are there, in order, the last in its place. */
    run_script(qts, "count=1000,burst=300", 1000);
    for (i = 1000 - DTL_SLOTS; i < 1000; i++) {
        entry = get_slot(qts, 0, i % DTL_SLOTS);
        g_assert_cmpint(entry.fault_addr, ==, i);
        g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_TIME_SLICE);
        g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_TIME_SLICE);
        g_assert_cmpint(entry.waiting_to_ready, ==, 10);
        g_assert_cmpint(entry.ready_to_enqueue, ==, 100);
        g_assert_cmpint(entry.enqueue_to_dispatch, ==, 1000);
        g_assert_cmpint(entry.timebase, >=, last_tb);
        last_tb = entry.timebase;
    }

    /* Every code of both, every limit of every time */
    for (n = 0; n < 256; n += 64) {
        g_autofree char *script = g_strdup_printf("count=%d,burst=%d,"
                                                  "reasons=walk,times=limits",
                                                  n + 64, n + 64);

        run_script(qts, script, n + 64);
        for (seq = n; seq < n + 64; seq++) {
            entry = get_slot(qts, 0, seq % DTL_SLOTS);
            g_assert_cmpint(entry.fault_addr, ==, seq);
            seen[entry.dispatch_reason] = true;
            seen[256 + entry.preempt_reason] = true;
            g_assert_cmphex(entry.waiting_to_ready, ==, limits[seq % 5]);
            g_assert_cmphex(entry.ready_to_enqueue, ==, limits[seq / 5 % 5]);
            g_assert_cmphex(entry.enqueue_to_dispatch, ==,
                            limits[seq / 25 % 5]);
        }
    }
    for (i = 0; i < 2 * 256; i++) {
        g_assert_true(seen[i]);
    }

    /* The index runs on: 3 steps of 1000, with 4 entries after each */
    run_script(qts, "count=12,burst=4,skip=1000", 3 * 1004);
    for (i = 0; i < 12; i++) {
        seq = i / 4 * 1004 + 1000 + i % 4;
        g_assert_cmpint(get_slot(qts, 0, seq % DTL_SLOTS).fault_addr, ==, seq);
    }

    /* Only kinds that are enabled */
    run_script(qts, "count=40,burst=7,reasons=kinds", 40);
    for (i = 0; i < 40; i++) {
        entry = get_slot(qts, 0, i);
        g_assert_cmpint(entry.fault_addr, ==, i);
        g_assert_cmpint(entry.preempt_reason, ==, PREEMPT_FAULT);
        g_assert_cmpint(entry.dispatch_reason, ==, DISPATCH_FAULT);
    }
    set_mask(qts, 0, MASK_VOLUNTARY | MASK_PREEMPT);
    run_script(qts, "count=40,burst=7,reasons=kinds", 40);
    for (i = 0; i < 40; i++) {
        entry = get_slot(qts, 0, i);
        g_assert_cmpint(entry.fault_addr, ==, i);
        g_assert_cmpint(entry.preempt_reason, ==,
                        ((int []) { PREEMPT_CEDE, PREEMPT_CONFER,
                                    PREEMPT_TIME_SLICE })[i % 3]);
    }

    /* No real entries while a script is set, none for the other vCPU */
    set_mask(qts, 0, MASK_ALL);
    base = written(qts, 0);
    set_index(qts, 0, 0);
    set_script(qts, "cpu=1");
    cede(qts, TB_FREQ / 20);
    g_assert_cmpint(get_index(qts, 0), ==, 0);
    set_script(qts, "");
    cede(qts, TB_FREQ / 20);
    wait_until(written(qts, 0) > base);
    g_assert_cmpint(written(qts, 1), ==, 0);
    qtest_quit(qts);
}

/* The test mode refuses what it is told to, of the vCPUs it is for. */
static void test_script_refuse(const void *thread)
{
    static const struct {
        const char *script;
        int64_t register_ret, deregister_ret;
    } cases[] = {
        { "refuse=none", H_SUCCESS, H_SUCCESS },
        { "refuse=register", H_RESOURCE, H_SUCCESS },
        { "refuse=deregister", H_SUCCESS, H_RESOURCE },
        { "refuse=both", H_RESOURCE, H_RESOURCE },
        { "refuse=both,cpu=0", H_RESOURCE, H_RESOURCE },
        { "refuse=both,cpu=1", H_SUCCESS, H_SUCCESS },
        { "burst=1", H_SUCCESS, H_SUCCESS },
        { "", H_SUCCESS, H_SUCCESS },
    };
    QTestState *qts = machine_start(thread, "x-dtl-script=refuse=both");
    uint64_t count;
    int i;

    g_assert_cmpint(register_vpa(qts, 0), ==, H_SUCCESS);
    for (i = 0; i < ARRAY_SIZE(cases); i++) {
        g_test_message("%s", cases[i].script);
        set_script(qts, cases[i].script);
        g_assert_cmpint(register_dtl(qts, 0, DTL(0), DTL_SIZE), ==,
                        cases[i].register_ret);
        g_assert_cmpint(deregister_dtl(qts, 0), ==, cases[i].deregister_ret);
        /* A bad buffer is still one. */
        g_assert_cmpint(register_dtl(qts, 0, DTL(0), DTL_ENTRY_SIZE - 1), ==,
                        H_PARAMETER);
    }

    /* What was refused is not written. */
    g_assert_cmpint(deregister_dtl(qts, 0), ==, H_SUCCESS);
    set_mask(qts, 0, MASK_ALL);
    set_script(qts, "refuse=register,burst=10,interval=100000");
    g_assert_cmpint(register_dtl(qts, 0, DTL(0), DTL_SIZE), ==, H_RESOURCE);
    check_silent(qts, 0);

    /* What is kept goes on, and its VPA is kept with it. */
    set_script(qts, "refuse=deregister,burst=10,interval=100000");
    g_assert_cmpint(register_dtl(qts, 0, DTL(0), DTL_SIZE), ==, H_SUCCESS);
    g_assert_cmpint(deregister_dtl(qts, 0), ==, H_RESOURCE);
    count = written(qts, 0);
    wait_until(written(qts, 0) > count + 100);
    g_assert_cmpint(hcall(qts, 0, H_REGISTER_VPA, DEREGISTER_VPA, 0, 0), ==,
                    H_RESOURCE);
    g_assert_cmpint(deregister_dtl(qts, 0), ==, H_RESOURCE);

    /* Another log replaces it. */
    qtest_memset(qts, DTL(1), 0, DTL_SIZE);
    g_assert_cmpint(register_dtl(qts, 0, DTL(1), DTL_SIZE), ==, H_SUCCESS);
    count = written(qts, 0);
    wait_until(written(qts, 0) > count + 100);
    g_assert_cmpint(get_slot(qts, 1, 0).fault_addr, >, 0);

    /* A reset takes the log and leaves the script. */
    qtest_qmp_assert_success(qts, "{ 'execute': 'system_reset' }");
    qtest_qmp_eventwait(qts, "RESET");
    check_silent(qts, 0);
    log_start(qts, 0, DTL_SLOTS, MASK_ALL);
    g_assert_cmpint(deregister_dtl(qts, 0), ==, H_RESOURCE);
    set_script(qts, endless);
    g_assert_cmpint(deregister_dtl(qts, 0), ==, H_SUCCESS);
    check_silent(qts, 0);
    qtest_quit(qts);
}

/* The test mode forgets an index with its log, of the vCPUs it is for. */
static void test_script_forget(const void *thread)
{
    static const struct {
        const char *script;
        uint64_t index;
    } cases[] = {
        { "forget=1", 0 },
        { "forget=1,cpu=0", 0 },
        { "forget=1,cpu=1", 7 },
        { "forget=1,refuse=deregister", 7 },
        { "forget=0", 7 },
        { "", 7 },
    };
    QTestState *qts = machine_start(thread, "");
    int i;

    /* There is no index to forget without a VPA. */
    set_script(qts, "forget=1");
    deregister_dtl(qts, 0);

    g_assert_cmpint(register_vpa(qts, 0), ==, H_SUCCESS);
    for (i = 0; i < ARRAY_SIZE(cases); i++) {
        g_test_message("%s", cases[i].script);
        set_script(qts, cases[i].script);
        g_assert_cmpint(register_dtl(qts, 0, DTL(0), DTL_SIZE), ==, H_SUCCESS);
        set_index(qts, 0, 7);
        deregister_dtl(qts, 0);
        g_assert_cmpint(get_index(qts, 0), ==, cases[i].index);
    }
    qtest_quit(qts);
}

int main(int argc, char *argv[])
{
    static const char *const threads[] = { "single", "multi" };
    int i, ret;

    g_test_init(&argc, &argv, NULL);

    if (!qtest_has_accel("tcg")) {
        g_test_skip("the log is written under TCG");
        return 0;
    }
    firmware_write();

    qtest_add_func("spapr-dtl/register", test_register);
    qtest_add_func("spapr-dtl/ring", test_ring);
    qtest_add_func("spapr-dtl/time-slice", test_time_slice);
    qtest_add_func("spapr-dtl/confer", test_confer);
    qtest_add_func("spapr-dtl/migrate-compat", test_migrate_compat);
    qtest_add_func("spapr-dtl/script-accel", test_script_accel);
    qtest_add_func("spapr-dtl/script-errors", test_script_errors);
    for (i = 0; i < ARRAY_SIZE(threads); i++) {
        static const struct {
            const char *name;
            void (*func)(const void *thread);
        } tests[] = {
            { "alone", test_alone },
            { "cede", test_cede },
            { "prod", test_prod },
            { "deregister", test_deregister },
            { "reset", test_reset },
            { "unplug", test_unplug },
            { "migrate", test_migrate },
            { "snapshot", test_snapshot },
            { "script", test_script },
            { "script-refuse", test_script_refuse },
            { "script-forget", test_script_forget },
        };
        int j;

        for (j = 0; j < ARRAY_SIZE(tests); j++) {
            g_autofree char *path = g_strdup_printf("spapr-dtl/%s/%s",
                                                    tests[j].name, threads[i]);

            qtest_add_data_func(path, threads[i], tests[j].func);
        }
    }
    ret = g_test_run();

    unlink(firmware_path);
    g_free(firmware_path);
    return ret;
}
