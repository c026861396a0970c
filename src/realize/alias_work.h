/*
 * What the files of the alias check share.
 *
 * Patterns: whatever goes through the planes has the top bit of each byte
 * clear, whatever goes into rows has it set, so that a row and a page that
 * share as little as one byte are told apart.  The other 28 bits are a mixed
 * counter, never 0.
 */
#ifndef KVPLAN_REALIZE_ALIAS_WORK_H
#define KVPLAN_REALIZE_ALIAS_WORK_H

#include "realize/alias_check.h"

/* Longest text of alias_place(). */
#define ALIAS_PLACE_MAX 160

struct alias {
	struct kvp_backend *backend;
	const struct kvp_plan *plan;
	const struct check_rank *rank;
	bool full;
	/* Granules are numbered: those of plane 0, plane 1, ..., then those
	   of the dedicated backing from first[nplanes] on. */
	uint64_t *first;	/* [nplanes + 1] */
	uint64_t granules;
	uint64_t patterns;	/* page patterns used so far */
	uint64_t last;		/* the last overwrite: of plane 0, 1, ... */
};

/* The n-th pattern; distinct for 2^28 - 1 successive n. */
uint32_t alias_page_pattern(uint64_t n);
uint32_t alias_row_pattern(uint64_t n);

/*
 * Write, or read as `device` and compare, what the depth looks at of these
 * bytes.  *same is where the first wrong byte is, from address on, `bytes`
 * if there is none.  Both forms of one call look at the same bytes.
 */
int alias_fill(const struct alias *a, uint64_t address, uint64_t bytes,
	       uint32_t pattern, struct kvp_error *err);
int alias_match(const struct alias *a, uint32_t device, uint64_t address,
		uint64_t bytes, uint32_t pattern, uint64_t *same,
		struct kvp_error *err);

/* Before the other view is used: all that was written is there. */
int alias_settle(const struct alias *a, struct kvp_error *err);

/* The pages of every plane, as the last overwrite left them. */
int alias_match_pages(const struct alias *a, uint32_t device,
		      struct kvp_error *err);

/* What the plan has at a place of the arena, as text. */
void alias_place(const struct kvp_plan *plan, uint64_t place, char *text);

/* alias_rows.c: rows stand while pages are overwritten. */
int alias_rows(struct alias *a, struct kvp_error *err);

#endif
