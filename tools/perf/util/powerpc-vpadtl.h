/* SPDX-License-Identifier: GPL-2.0 */
/*
 * PowerPC dispatch trace log (vpa_dtl) support
 */
#ifndef INCLUDE__PERF_POWERPC_VPADTL_H__
#define INCLUDE__PERF_POWERPC_VPADTL_H__

#include <linux/bits.h>

#define POWERPC_VPADTL_PMU_NAME		"vpa_dtl"

/* Private data of PERF_RECORD_AUXTRACE_INFO; a file can have less of it */
enum {
	POWERPC_VPADTL_PMU_TYPE,
	POWERPC_VPADTL_BOOT_TB,
	POWERPC_VPADTL_TB_FREQ,
	POWERPC_VPADTL_FLAGS,
	POWERPC_VPADTL_AUXTRACE_PRIV_MAX,
};

#define POWERPC_VPADTL_AUXTRACE_PRIV_SIZE (POWERPC_VPADTL_AUXTRACE_PRIV_MAX * sizeof(u64))

/* POWERPC_VPADTL_FLAGS: frames run on without gaps through AUX laps */
#define POWERPC_VPADTL_FLAG_CONTIGUOUS	BIT_ULL(0)

struct perf_session;
union perf_event;

int powerpc_vpadtl_process_auxtrace_info(union perf_event *event, struct perf_session *session);

#endif
