// SPDX-License-Identifier: GPL-2.0
/*
 * vpa_dtl: the hypervisor's dispatch trace log as a perf PMU
 *
 * A shared-processor partition runs on virtual processors, which the hypervisor
 * dispatches and preempts as it sees fit. For each it keeps a log: why the
 * processor had stopped, why it runs again, and how long it waited for what.
 * This driver carries the log into the AUX area of an event that samples, raw,
 * and counts its entries for an event that counts. User space interprets.
 *
 * The idea that makes it simple: all that touches a log (start, stop, poll)
 * runs on the processor that it is the log of, with interrupts off. There is
 * nobody to lock out but the hypervisor, and that writes only while the processor
 * is stopped; see vpa-dtl-ring.h. No lock is taken when a timer fires, and no
 * processor works for another.
 *
 * The log is registered with the hypervisor from start to stop of an event and
 * at no other time (unless the hypervisor refuses to let go: see @stuck). perf
 * stops events before a CPU goes offline and before kexec, so that nothing is
 * left to clean up; nothing registered is ever freed. With
 * VIRT_CPU_ACCOUNTING_NATIVE the log is registered from boot on for the stolen
 * time accounting. Then the events look at that log, beside the accounting.
 */
#define pr_fmt(fmt)	"vpa_dtl: " fmt

#include <linux/capability.h>
#include <linux/hrtimer.h>
#include <linux/irq_work.h>
#include <linux/kmemleak.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/mutex.h>
#include <linux/perf_event.h>
#include <linux/ratelimit.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include <asm/dtl.h>
#include <asm/firmware.h>
#include <asm/lppaca.h>
#include <asm/plpar_wrappers.h>
#include <asm/smp.h>
#include <asm/time.h>

#include "vpa-dtl-ring.h"

/* Nanoseconds: the bounds of sample_period, … */
#define VPA_DTL_SHORTEST	(100 * NSEC_PER_USEC)
#define VPA_DTL_LONGEST		(3600 * NSEC_PER_SEC)
/* … and the interval while the AUX area is full, when polling takes nothing. */
#define VPA_DTL_FULL		(10 * NSEC_PER_MSEC)

/* attr.config */
#define VPA_DTL_CONFIG_MASK	0xffULL		/* kinds of entries, DTL_LOG_* */
#define VPA_DTL_CONFIG_FIXED	BIT_ULL(8)	/* poll at sample_period, always */

/*
 * The first frame after each start. Frames have the size of a log entry, and
 * this one is known by a zero where an entry has its timebase. The magic says
 * that frames run on through the wraps of the AUX area without a gap. All in the
 * kernel's byte order; entries are big-endian, as the hypervisor wrote them.
 */
#define VPA_DTL_HEADER_MAGIC	0x56504144544c0001ULL	/* "VPADTL", version 1 */

struct vpa_dtl_header {
	u64	boot_tb;	/* timebase when sched_clock() was 0 */
	u64	tb_freq;	/* timebase ticks a second */
	u64	zero;
	u64	magic;
	u64	reserved[2];	/* zero */
};

#define VPA_DTL_FRAME		sizeof(struct dtl_entry)

static_assert(sizeof(struct vpa_dtl_header) == VPA_DTL_FRAME);
static_assert(offsetof(struct vpa_dtl_header, zero) ==
	      offsetof(struct dtl_entry, timebase));
static_assert(VPA_DTL_SLOTS == N_DISPATCH_LOG);

/* An AUX area; does not change while it lives */
struct vpa_dtl_aux {
	void		*base;		/* its pages, mapped side by side */
	unsigned long	size;		/* bytes, a power of two */
	bool		overwrite;	/* no reader to wait for: the newest wins */
};

/* The log of a CPU */
struct vpa_dtl_log {
	/* Under vpa_dtl_mutex */
	unsigned int		events;		/* that exist on this CPU */
	bool			sampled;	/* there is one, and it samples */

	/* Set under vpa_dtl_mutex while no event is started, or none exists */
	struct dtl_entry	*ring;

	/*
	 * All below: the CPU itself, interrupts off. Under vpa_dtl_mutex, while
	 * no event exists, @stuck is read, and @refused, @untold and @reset are
	 * set elsewhere.
	 */
	unsigned int		started;	/* events */
	u8			mask;		/* kinds they asked for, all the same */
	bool			stuck;		/* hypervisor did not let go of ring */
	bool			refused;	/* nor take it: not to be asked again */
	struct irq_work		complaint;	/* about the hypervisor */
	const char		*complaint_what;
	long			complaint_rc;

	/* The event that samples, while it is started */
	struct perf_event	*event;
	struct hrtimer		timer;
	u64			interval;	/* ns to the next poll */
	u64			shortest;	/* ns */
	u64			longest;	/* ns */
	u64			seen;		/* log count up to which all is told */
	u64			lost;		/* entries lost that no record tells yet */
	u64			untold;		/* and those that none ever will */
	bool			reset;		/* count set back, no record tells yet */
	bool			header_due;
	bool			full;		/* the AUX area had no room at last */
	bool			truncated;	/* and user space was told */
};

static DEFINE_PER_CPU(struct vpa_dtl_log, vpa_dtl_logs);

/* Which events exist; taken when they are opened and freed */
static DEFINE_MUTEX(vpa_dtl_mutex);

static struct vpa_dtl_header vpa_dtl_header __ro_after_init = {
	.magic	= VPA_DTL_HEADER_MAGIC,
};

/*
 * The hypervisor's side: register the log, and let go of it
 */

static void vpa_dtl_complaint(struct irq_work *work)
{
	struct vpa_dtl_log *log = container_of(work, struct vpa_dtl_log, complaint);

	pr_warn_ratelimited("CPU %d: the hypervisor %s the log (%ld)\n",
			    smp_processor_id(), log->complaint_what,
			    log->complaint_rc);
}

/*
 * The scheduler may have brought us here with its locks held: a console that
 * wakes someone up would wait for them for ever. Leave it to an interrupt.
 */
static void vpa_dtl_complain(struct vpa_dtl_log *log, const char *what, long rc)
{
	log->complaint_what = what;
	log->complaint_rc = rc;
	irq_work_queue(&log->complaint);
}

/*
 * Make the hypervisor log the kinds of @mask on this CPU. The event that starts
 * first calls it.
 */
static int vpa_dtl_log_open(struct vpa_dtl_log *log, u8 mask)
{
	struct lppaca *vpa = get_lppaca();
	long rc;

	if (IS_ENABLED(CONFIG_VIRT_CPU_ACCOUNTING_NATIVE)) {
		log->seen = lppaca_dtl_written();
		WRITE_ONCE(vpa->dtl_enable_mask, mask | DTL_LOG_PREEMPT);
		return 0;
	}

	/* One that kept the log must not write to it while we do */
	WRITE_ONCE(vpa->dtl_enable_mask, 0);
	barrier();

	/*
	 * The hypervisor lets its count run on in its own time. A slot of the
	 * first lap that it skips must not hold an entry of the last session:
	 * it would be taken for a new one.
	 */
	memset(log->ring, 0, DISPATCH_LOG_BYTES);

	/* The count before the registration: KVM logs as soon as it is done */
	vpa->dtl_idx = 0;
	log->seen = 0;

	/* The hypervisor reads the length of the log in its second word */
	log->ring->enqueue_to_dispatch_time = cpu_to_be32(DISPATCH_LOG_BYTES);
	rc = register_dtl(hard_smp_processor_id(), __pa(log->ring));
	if (rc) {
		if (log->stuck)
			WRITE_ONCE(vpa->dtl_enable_mask, log->mask);
		log->refused = true;
		vpa_dtl_complain(log, "refuses", rc);
		return -EIO;
	}
	WRITE_ONCE(vpa->dtl_enable_mask, mask);

	return 0;
}

/*
 * Undo vpa_dtl_log_open(). When it returns, what the log's count says can be
 * read. The count stands still then, unless the accounting has the log as well,
 * or the hypervisor did not let go of it.
 */
static void vpa_dtl_log_close(struct vpa_dtl_log *log)
{
	struct lppaca *vpa = get_lppaca();
	u64 before;
	long rc;

	if (IS_ENABLED(CONFIG_VIRT_CPU_ACCOUNTING_NATIVE)) {
		WRITE_ONCE(vpa->dtl_enable_mask, DTL_LOG_PREEMPT);
		return;
	}

	/* KVM does not look at the mask, hence first this and then the rest */
	WRITE_ONCE(vpa->dtl_enable_mask, 0);
	before = lppaca_dtl_written();
	rc = unregister_dtl(hard_smp_processor_id());
	/* Nothing forbids it to zero the count, which tells of what came last */
	if (lppaca_dtl_written() < before)
		vpa->dtl_idx = cpu_to_be64(before);
	if (rc) {
		/* kexec tries again to unregister a log that has a mask */
		WRITE_ONCE(vpa->dtl_enable_mask, log->mask);
		vpa_dtl_complain(log, "keeps", rc);
	}
	log->stuck = rc;
}

/*
 * The AUX area's side
 */

static void *vpa_dtl_setup_aux(struct perf_event *event, void **pages,
			       int nr_pages, bool overwrite)
{
	struct vpa_dtl_aux *aux;
	struct page **list;
	int i;

	if (!is_sampling_event(event))
		return NULL;

	aux = kzalloc_node(sizeof(*aux), GFP_KERNEL, cpu_to_node(event->cpu));
	if (!aux)
		return NULL;

	list = kvmalloc_array(nr_pages, sizeof(*list), GFP_KERNEL);
	if (!list)
		goto err;
	for (i = 0; i < nr_pages; i++)
		list[i] = virt_to_page(pages[i]);
	aux->base = vmap(list, nr_pages, VM_MAP, PAGE_KERNEL);
	kvfree(list);
	if (!aux->base)
		goto err;

	aux->size = (unsigned long)nr_pages << PAGE_SHIFT;
	aux->overwrite = overwrite;

	return aux;

err:
	kfree(aux);
	return NULL;
}

static void vpa_dtl_free_aux(void *data)
{
	struct vpa_dtl_aux *aux = data;

	vunmap(aux->base);
	kfree(aux);
}

/* Where entries go: the end of an AUX area's stream */
struct vpa_dtl_sink {
	const struct dtl_entry		*ring;
	const struct vpa_dtl_aux	*aux;
	unsigned long			head;	/* stream offset, bytes */
};

static void vpa_dtl_write(const struct vpa_dtl_sink *sink, unsigned long at,
			  const void *data, size_t size)
{
	const struct vpa_dtl_aux *aux = sink->aux;
	size_t part;

	at = (sink->head + at) & (aux->size - 1);
	part = min(size, aux->size - at);
	memcpy(aux->base + at, data, part);
	if (part < size)
		memcpy(aux->base, data + part, size - part);
}

/*
 * For vpa_dtl_take(). Often the ring wraps within what is copied, but seldom the
 * area: without that, this is as much as a memcpy() or two.
 */
static void vpa_dtl_copy(void *arg, u64 first, u32 count)
{
	const struct vpa_dtl_sink *sink = arg;
	const struct vpa_dtl_aux *aux = sink->aux;
	unsigned long at = sink->head & (aux->size - 1);
	u32 slot = first % VPA_DTL_SLOTS;
	size_t part = min(count, VPA_DTL_SLOTS - slot) * VPA_DTL_FRAME;
	size_t size = count * VPA_DTL_FRAME;
	void *to = aux->base + at;

	if (likely(size <= aux->size - at)) {
		memcpy(to, sink->ring + slot, part);
		if (part < size)
			memcpy(to + part, sink->ring, size - part);
	} else {
		vpa_dtl_write(sink, 0, sink->ring + slot, part);
		vpa_dtl_write(sink, part, sink->ring, size - part);
	}
}

static u64 vpa_dtl_written(void *arg)
{
	return lppaca_dtl_written();
}

/*
 * Move what the log holds to the AUX area, and tell what was lost. The last time
 * (@last, the log is closed), what there is no room for is lost as well.
 */
static void vpa_dtl_drain(struct vpa_dtl_log *log, bool last)
{
	struct vpa_dtl_sink sink = { .ring = log->ring };
	struct perf_event *event = log->event;
	struct perf_output_handle handle;
	struct vpa_dtl_span span;
	unsigned long start = 0;
	u64 room = 0, flags = 0;
	u64 left;

	/* NULL: not mapped, or on its way out */
	sink.aux = perf_aux_output_begin(&handle, event);
	if (sink.aux) {
		start = handle.head;
		sink.head = start;
		room = sink.aux->overwrite ? U64_MAX : handle.size / VPA_DTL_FRAME;
		if (unlikely(log->header_due) && room) {
			vpa_dtl_write(&sink, 0, &vpa_dtl_header, VPA_DTL_FRAME);
			sink.head += VPA_DTL_FRAME;
			log->header_due = false;
			room--;
		}
	}

	span = vpa_dtl_take(log->seen, room, vpa_dtl_written, vpa_dtl_copy, &sink);
	sink.head += span.count * VPA_DTL_FRAME;
	log->seen = span.first + span.count;
	log->lost += span.lost;
	left = vpa_dtl_left(&span);

	if (unlikely(span.reset))
		log->reset = true;
	if (unlikely(log->reset) && sink.aux) {
		flags |= PERF_AUX_FLAG_PARTIAL;
		log->reset = false;
	}

	if (unlikely(left || log->full)) {
		if (last) {
			log->seen += left;
			log->lost += left;
		}
		/* Once, as long as the area is full */
		if (log->lost && !log->truncated) {
			flags |= PERF_AUX_FLAG_TRUNCATED;
			log->truncated = sink.aux;
		}
		log->full = left;
		if (!left)
			log->truncated = false;
	}

	/*
	 * A loss is told before the entries that it stands in front of. While
	 * the area is full it only grows; let the record not take the data
	 * area's room as well.
	 */
	if (unlikely(log->lost) && (!log->full || last) &&
	    perf_log_lost_samples(event, log->lost))
		log->lost = 0;

	if (!sink.aux)
		return;

	if (sink.aux->overwrite) {
		/*
		 * An attempt to copy more went over the oldest frames there;
		 * put frames in their place that say nothing new.
		 */
		for (; unlikely(span.count < span.copied); span.count++) {
			vpa_dtl_write(&sink, 0, &vpa_dtl_header, VPA_DTL_FRAME);
			sink.head += VPA_DTL_FRAME;
		}
		handle.head = sink.head;
		start = sink.head;
	}

	/* The data before the head; pairs with user space's reading of them */
	smp_wmb();
	if (flags)
		perf_aux_output_flag(&handle, flags);
	perf_aux_output_end(&handle, sink.head - start);
}

static enum hrtimer_restart vpa_dtl_poll(struct hrtimer *timer)
{
	struct vpa_dtl_log *log = container_of(timer, struct vpa_dtl_log, timer);
	u64 found = vpa_dtl_since(log->seen, lppaca_dtl_written());

	if (found)
		vpa_dtl_drain(log, false);

	log->interval = vpa_dtl_next_interval(log->interval, found,
					      log->shortest, log->longest);
	if (unlikely(log->full))
		log->interval = clamp(VPA_DTL_FULL, log->shortest, log->longest);
	hrtimer_forward_now(timer, ns_to_ktime(log->interval));

	return HRTIMER_RESTART;
}

/*
 * perf's side
 */

/*
 * Any event counts the entries that the hypervisor wrote, here up to @now; the
 * event is stopped.
 */
static void vpa_dtl_count(struct perf_event *event, u64 now)
{
	u64 then = local64_read(&event->hw.prev_count);

	local64_add(vpa_dtl_since(then, now), &event->count);
}

/* A BPF program in an NMI may read the event at any time, also within this */
static void vpa_dtl_read(struct perf_event *event)
{
	u64 then, now;

	if (event->hw.state & PERF_HES_STOPPED)
		return;

	do {
		then = local64_read(&event->hw.prev_count);
		now = lppaca_dtl_written();
	} while (local64_cmpxchg(&event->hw.prev_count, then, now) != then);

	local64_add(vpa_dtl_since(then, now), &event->count);
}

static void vpa_dtl_sampling_start(struct vpa_dtl_log *log,
				   struct perf_event *event)
{
	log->event = event;
	log->longest = clamp_t(u64, event->hw.sample_period,
			       VPA_DTL_SHORTEST, VPA_DTL_LONGEST);
	log->shortest = VPA_DTL_SHORTEST;
	if (event->attr.config & VPA_DTL_CONFIG_FIXED)
		log->shortest = log->longest;
	/* No rate is known yet */
	log->interval = log->shortest;
	log->header_due = true;
	log->full = false;
	log->truncated = false;
	vpa_dtl_drain(log, false);
	hrtimer_start(&log->timer, ns_to_ktime(log->interval),
		      HRTIMER_MODE_REL_PINNED_HARD);
}

static void vpa_dtl_sampling_stop(struct vpa_dtl_log *log)
{
	hrtimer_cancel(&log->timer);
	vpa_dtl_drain(log, true);

	/*
	 * The core counts each record that found no room in the data area as a
	 * lost sample. What is lost here are entries: let PERF_FORMAT_LOST give
	 * the number of those that no record could tell.
	 */
	log->untold += log->lost;
	log->lost = 0;
	perf_event_set_lost_samples(log->event, log->untold);
	log->event = NULL;
}

static int vpa_dtl_event_start(struct perf_event *event)
{
	struct vpa_dtl_log *log = this_cpu_ptr(&vpa_dtl_logs);
	u8 mask = event->attr.config & VPA_DTL_CONFIG_MASK;
	u64 from;
	int rc;

	/* The log is on for other kinds: perf lets the events take turns */
	if (log->started && log->mask != mask)
		return -EAGAIN;

	if (log->started) {
		from = lppaca_dtl_written();
	} else {
		/* The core tries again at each tick, for ever: say it once */
		rc = log->refused ? -EIO : vpa_dtl_log_open(log, mask);
		if (rc) {
			/* and no further PERF_RECORD_ITRACE_START either */
			event->attach_state |= PERF_ATTACH_ITRACE;
			return rc;
		}
		log->mask = mask;
		from = log->seen;
	}
	log->started++;

	/* From here on vpa_dtl_read() counts, in an NMI as well */
	local64_set(&event->hw.prev_count, from);
	barrier();
	event->hw.state = 0;
	if (is_sampling_event(event))
		vpa_dtl_sampling_start(log, event);

	return 0;
}

static void vpa_dtl_event_stop(struct perf_event *event)
{
	struct vpa_dtl_log *log = this_cpu_ptr(&vpa_dtl_logs);

	if (event->hw.state & PERF_HES_STOPPED)
		return;
	/* From here on vpa_dtl_read() does not count */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	barrier();

	if (!--log->started)
		vpa_dtl_log_close(log);

	if (is_sampling_event(event)) {
		vpa_dtl_sampling_stop(log);
		vpa_dtl_count(event, log->seen);
	} else {
		vpa_dtl_count(event, lppaca_dtl_written());
	}
}

/*
 * Between add and del the core starts and stops an event for a new period, and
 * stops it for a change of its buffers: any event of a PMU with an AUX area, but
 * one that counts has none. It would stay stopped, and say nothing.
 */
static void vpa_dtl_stop(struct perf_event *event, int flags)
{
	if (is_sampling_event(event))
		vpa_dtl_event_stop(event);
}

/*
 * Without room in the AUX area as well, which the poll waits for: nobody would
 * start the event when there is some. There is nobody to tell of an error either:
 * the event stays stopped.
 */
static void vpa_dtl_start(struct perf_event *event, int flags)
{
	if (event->hw.state & PERF_HES_STOPPED)
		vpa_dtl_event_start(event);
}

static int vpa_dtl_add(struct perf_event *event, int flags)
{
	struct perf_output_handle handle;

	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;
	if (!(flags & PERF_EF_START))
		return 0;

	if (is_sampling_event(event)) {
		/* No AUX area to write to: not now, the core tries again */
		if (!perf_aux_output_begin(&handle, event))
			return -ENOBUFS;
		perf_aux_output_end(&handle, 0);
	}

	return vpa_dtl_event_start(event);
}

static void vpa_dtl_del(struct perf_event *event, int flags)
{
	vpa_dtl_event_stop(event);
}

/*
 * The log of @log's CPU. It is allocated for the first event there ever and kept
 * until the driver goes: in a secure guest each page that dtl_cache takes is
 * shared with the hypervisor for good.
 */
static int vpa_dtl_get_ring(struct vpa_dtl_log *log, int cpu)
{
	if (IS_ENABLED(CONFIG_VIRT_CPU_ACCOUNTING_NATIVE)) {
		log->ring = paca_ptrs[cpu]->dispatch_log;
		return log->ring ? 0 : -ENOMEM;
	}

	if (!log->ring)
		log->ring = kmem_cache_alloc_node(dtl_cache, GFP_KERNEL,
						  cpu_to_node(cpu));

	return log->ring ? 0 : -ENOMEM;
}

/* What the hypervisor may still write to is never freed, and that is no leak. */
static void vpa_dtl_free_ring(struct vpa_dtl_log *log)
{
	if (IS_ENABLED(CONFIG_VIRT_CPU_ACCOUNTING_NATIVE) || !log->ring)
		return;
	if (log->stuck)
		kmemleak_not_leak(log->ring);
	else
		kmem_cache_free(dtl_cache, log->ring);
}

static void vpa_dtl_event_destroy(struct perf_event *event)
{
	struct vpa_dtl_log *log = per_cpu_ptr(&vpa_dtl_logs, event->cpu);

	mutex_lock(&vpa_dtl_mutex);
	if (!--log->events)
		log->sampled = false;
	mutex_unlock(&vpa_dtl_mutex);

	/* A log that is stuck may still be written, but is not freed either */
	dtl_put(DTL_USER_PERF);
}

/*
 * One event that samples has the log of a CPU to itself, as it decides when the
 * log is read. Any number of events that count share it.
 */
static int vpa_dtl_event_create(struct perf_event *event)
{
	struct vpa_dtl_log *log = per_cpu_ptr(&vpa_dtl_logs, event->cpu);
	int rc;

	rc = dtl_get(DTL_USER_PERF);
	if (rc)
		return rc;

	mutex_lock(&vpa_dtl_mutex);
	if (log->events && (log->sampled || is_sampling_event(event)))
		rc = -EBUSY;
	else
		rc = vpa_dtl_get_ring(log, event->cpu);
	if (!rc) {
		if (!log->events++) {
			log->refused = false;
			log->untold = 0;
			log->reset = false;
		}
		log->sampled = is_sampling_event(event);
		event->destroy = vpa_dtl_event_destroy;
	}
	mutex_unlock(&vpa_dtl_mutex);

	if (rc)
		dtl_put(DTL_USER_PERF);

	return rc;
}

/* Whether the log can be on for @event and @other at once */
static bool vpa_dtl_compatible(struct perf_event *event, struct perf_event *other)
{
	return other->pmu != event->pmu ||
	       !((event->attr.config ^ other->attr.config) & VPA_DTL_CONFIG_MASK);
}

/* A group is on together or not at all. The core has the leader's context locked. */
static bool vpa_dtl_group_possible(struct perf_event *event)
{
	struct perf_event *leader = event->group_leader, *sibling;

	if (leader == event)
		return true;
	if (!vpa_dtl_compatible(event, leader))
		return false;
	for_each_sibling_event(sibling, leader)
		if (!vpa_dtl_compatible(event, sibling))
			return false;

	return true;
}

static int vpa_dtl_event_init(struct perf_event *event)
{
	struct perf_event_attr *attr = &event->attr;
	u64 mask = attr->config & ~VPA_DTL_CONFIG_FIXED;

	if (attr->type != event->pmu->type)
		return -ENOENT;

	/* The log tells where the kernel and all tasks were stopped */
	if (!perfmon_capable())
		return -EACCES;

	/* A log belongs to a CPU, whatever runs there */
	if (event->cpu < 0 || event->attach_state & PERF_ATTACH_TASK)
		return -EINVAL;

	if (!mask || mask & ~(u64)DTL_LOG_ALL) {
		pr_info_ratelimited("config %#llx: kinds of entries are 1 to 7, and 0x100 is for a fixed interval\n",
				    attr->config);
		return -EINVAL;
	}

	if (!vpa_dtl_group_possible(event))
		return -EINVAL;

	/* For a vpa_dtl_read() in an NMI just before the first vpa_dtl_add() */
	event->hw.state = PERF_HES_STOPPED | PERF_HES_UPTODATE;

	if (has_branch_stack(event) || attr->precise_ip)
		return -EOPNOTSUPP;

	if (is_sampling_event(event)) {
		/* An interval is all that a frequency can mean here */
		if (attr->freq) {
			attr->sample_period = max_t(u64, 1,
						    div64_u64(NSEC_PER_SEC,
							      attr->sample_freq));
			attr->freq = 0;
			event->hw.sample_period = attr->sample_period;
			event->hw.last_period = attr->sample_period;
		}
	} else if (IS_ENABLED(CONFIG_VIRT_CPU_ACCOUNTING_NATIVE) &&
		   !(mask & DTL_LOG_PREEMPT)) {
		/* The accounting has preemptions in the log, and in its count */
		return -EOPNOTSUPP;
	}

	return vpa_dtl_event_create(event);
}

/*
 * sysfs
 */

PMU_FORMAT_ATTR(event, "config:0-7");
PMU_FORMAT_ATTR(fixed, "config:8");

static struct attribute *vpa_dtl_format_attrs[] = {
	&format_attr_event.attr,
	&format_attr_fixed.attr,
	NULL
};

static const struct attribute_group vpa_dtl_format_group = {
	.name	= "format",
	.attrs	= vpa_dtl_format_attrs,
};

PMU_EVENT_ATTR_STRING(dtl_cede, vpa_dtl_event_cede, "event=0x1");
PMU_EVENT_ATTR_STRING(dtl_preempt, vpa_dtl_event_preempt, "event=0x2");
PMU_EVENT_ATTR_STRING(dtl_fault, vpa_dtl_event_fault, "event=0x4");
PMU_EVENT_ATTR_STRING(dtl_all, vpa_dtl_event_all, "event=0x7");

static struct attribute *vpa_dtl_event_attrs[] = {
	&vpa_dtl_event_cede.attr.attr,
	&vpa_dtl_event_preempt.attr.attr,
	&vpa_dtl_event_fault.attr.attr,
	&vpa_dtl_event_all.attr.attr,
	NULL
};

static const struct attribute_group vpa_dtl_event_group = {
	.name	= "events",
	.attrs	= vpa_dtl_event_attrs,
};

static ssize_t boot_tb_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%llu\n", vpa_dtl_header.boot_tb);
}
static DEVICE_ATTR_RO(boot_tb);

static ssize_t tb_freq_show(struct device *dev, struct device_attribute *attr,
			    char *buf)
{
	return sysfs_emit(buf, "%llu\n", vpa_dtl_header.tb_freq);
}
static DEVICE_ATTR_RO(tb_freq);

static ssize_t min_interval_show(struct device *dev,
				 struct device_attribute *attr, char *buf)
{
	return sysfs_emit(buf, "%lu\n", VPA_DTL_SHORTEST);
}
static DEVICE_ATTR_RO(min_interval);

static struct attribute *vpa_dtl_caps_attrs[] = {
	&dev_attr_boot_tb.attr,
	&dev_attr_tb_freq.attr,
	&dev_attr_min_interval.attr,
	NULL
};

static const struct attribute_group vpa_dtl_caps_group = {
	.name	= "caps",
	.attrs	= vpa_dtl_caps_attrs,
};

static const struct attribute_group *vpa_dtl_attr_groups[] = {
	&vpa_dtl_format_group,
	&vpa_dtl_event_group,
	&vpa_dtl_caps_group,
	NULL
};

static struct pmu vpa_dtl_pmu = {
	.module		= THIS_MODULE,
	.task_ctx_nr	= perf_invalid_context,
	/* ITRACE: tells the task that runs at the start, which may never switch */
	.capabilities	= PERF_PMU_CAP_NO_EXCLUDE | PERF_PMU_CAP_NO_NMI |
			  PERF_PMU_CAP_ITRACE | PERF_PMU_CAP_AUX_WAITS,
	.attr_groups	= vpa_dtl_attr_groups,

	.event_init	= vpa_dtl_event_init,
	.add		= vpa_dtl_add,
	.del		= vpa_dtl_del,
	.start		= vpa_dtl_start,
	.stop		= vpa_dtl_stop,
	.read		= vpa_dtl_read,
	.setup_aux	= vpa_dtl_setup_aux,
	.free_aux	= vpa_dtl_free_aux,
};

static int __init vpa_dtl_init(void)
{
	int cpu;

	if (!firmware_has_feature(FW_FEATURE_SPLPAR)) {
		pr_info("no dispatch trace log: the firmware does not offer shared processors\n");
		return -ENODEV;
	}
	if (!dtl_cache)
		return -ENOMEM;

	vpa_dtl_header.boot_tb = sched_clock_boot_tb();
	vpa_dtl_header.tb_freq = tb_ticks_per_sec;

	for_each_possible_cpu(cpu) {
		struct vpa_dtl_log *log = per_cpu_ptr(&vpa_dtl_logs, cpu);

		hrtimer_init(&log->timer, CLOCK_MONOTONIC,
			     HRTIMER_MODE_REL_PINNED_HARD);
		log->timer.function = vpa_dtl_poll;
		init_irq_work(&log->complaint, vpa_dtl_complaint);
	}

	return perf_pmu_register(&vpa_dtl_pmu, "vpa_dtl", -1);
}
module_init(vpa_dtl_init);

static void __exit vpa_dtl_exit(void)
{
	int cpu;

	perf_pmu_unregister(&vpa_dtl_pmu);
	for_each_possible_cpu(cpu) {
		struct vpa_dtl_log *log = per_cpu_ptr(&vpa_dtl_logs, cpu);

		irq_work_sync(&log->complaint);
		vpa_dtl_free_ring(log);
	}
}
module_exit(vpa_dtl_exit);

MODULE_DESCRIPTION("Dispatch trace log of shared-processor partitions as a perf PMU");
MODULE_LICENSE("GPL");
