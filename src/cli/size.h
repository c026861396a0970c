/*
 * What kvplan size's files share: cmd_size.c reads the command line,
 * size_run.c reads free memory, sizes and warns, size_report.c makes the
 * report.
 */
#ifndef KVPLAN_CLI_SIZE_H
#define KVPLAN_CLI_SIZE_H

#include "cli/gpus.h"
#include "size/sizing.h"

#define SIZE_LIMITS_MAX 32

/* Free memory of the ranks, and the GPUs it was read from. */
struct size_memory {
	uint64_t free_bytes[KVP_RANKS_MAX];
	size_t count;			/* 0: not known */
	struct gpu_reading *gpus;	/* [ngpus], with --gpus: of rank i */
	size_t ngpus;
};

struct size_settings {
	struct size_memory memory;
	bool gpus;
	uint32_t gpu[KVP_RANKS_MAX];
	size_t ngpus;		/* 0: all visible ones */
	struct sizing sizings[SIZE_LIMITS_MAX];
	size_t nlimits;
	uint64_t tokens, pages, length;	/* 0: not given */
	uint64_t tile_granules;	/* 0: the geometry's */
	uint64_t snapshots;	/* KVP_UNSTATED: not given */
	bool reserve_cache;
	uint64_t cap_bytes;	/* of --reserve-cache; 0: not given */
	uint64_t cache_bytes;	/* kept free for that cap */
	struct kvp_cap_override override;
	const char *output;
	bool json;
	const char *input;
};

/* What the report is made of. */
struct size_result {
	const struct kvp_geometry *geometry;
	const struct size_memory *memory;
	uint64_t length;	/* tokens of a sequence; 0: not asked */
	const struct sizing *sizings;
	size_t count;
};

/* size_run.c: does the sized geometry go to standard output? */
bool size_to_stdout(const struct size_settings *s);

/* Size for every limit, write the geometry, print the report; the exit
   status. */
int size_run(struct size_settings *s);

/* size_report.c: make the report; the caller frees it.  Errors: KVP_ENOMEM. */
int size_report(const struct size_result *a, bool as_json, char **text,
		size_t *len, struct kvp_error *err);

#endif
