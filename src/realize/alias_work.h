/*
 * What the files of the alias check share.
 *
 * Patterns: the top bit of each byte is clear in what is written through the
 * planes and set in what is written to rows, so that one shared byte of a row
 * and a page is enough to see a difference.  The other 28 bits are a mixed
 * counter, never 0.
 */
#ifndef KVPLAN_REALIZE_ALIAS_WORK_H
#define KVPLAN_REALIZE_ALIAS_WORK_H

#include "realize/alias_check.h"

/* Longest text of alias_describe_byte(). */
#define ALIAS_TEXT_MAX 160

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
	uint64_t last;		/* the pattern of plane 0 in the last
				   overwrite; those of the others follow */
};

/* The n-th pattern; distinct for 2^28 - 1 successive n. */
uint32_t alias_page_pattern(uint64_t n);
uint32_t alias_row_pattern(uint64_t n);

/*
 * Write these bytes, or read them as `device` and compare; with depth quick
 * only those around the borders of granules, the same ones in both functions.
 * *same is the number of bytes before the first wrong one, `bytes` if all are
 * right.
 */
int alias_fill(const struct alias *a, uint64_t address, uint64_t bytes,
	       uint32_t pattern, struct kvp_error *err);
int alias_match(const struct alias *a, uint32_t device, uint64_t address,
		uint64_t bytes, uint32_t pattern, uint64_t *same,
		struct kvp_error *err);

/* Wait until all writes are done, before memory is read at other addresses. */
int alias_synchronize(const struct alias *a, struct kvp_error *err);

/* Read the pages of every plane; they must hold the last overwrite. */
int alias_match_pages(const struct alias *a, uint32_t device,
		      struct kvp_error *err);

/* Write which byte the plan has at a byte of the arena. */
void alias_describe_byte(const struct kvp_plan *plan, uint64_t byte,
			 char *text);

/* alias_rows.c: rows stay unchanged while pages are overwritten. */
int alias_rows(struct alias *a, struct kvp_error *err);

#endif
