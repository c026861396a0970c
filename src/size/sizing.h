/*
 * One sizing from free memory to the plans of what came out: how many pages
 * and rows, what they cost in the table of mappings, what they serve, and
 * what would fit where that does not.
 */
#ifndef KVPLAN_SIZE_SIZING_H
#define KVPLAN_SIZE_SIZING_H

#include <kvplan/size.h>

#include "size/search.h"

/* What is asked of every sizing. */
struct sizing_wish {
	struct kvp_size_wish size;	/* but for the limit, of the sizing */
	struct kvp_cap_override override;
	uint64_t tokens;	/* pages for so many, not size.pages; 0 */
	uint64_t length;	/* tokens of a sequence to count; 0 */
};

/* What came out for one memory limit. */
struct sizing {
	const char *limit;	/* as given; NULL: free memory is not known */
	struct kvp_memory_limit memory_limit;
	bool fits;		/* or error says why not, and that is all */
	struct kvp_error error;
	struct kvp_size size;
	struct kvp_headroom headroom;	/* where size.bounded */
	uint64_t entries[KVP_MERGE_SPAN + 1];	/* of the fullest node, by
						   mode */
	struct kvp_concurrency concurrency;	/* with a length */
	struct plan_fit fit;	/* of mode row, which kvplan plan takes unless
				   it is told otherwise */
	bool lacks_rows;	/* fewer than were asked for */
	bool lacks_all_rows;	/* not one, and there are row_bytes */
	bool lacks_sequence;	/* not one of that length */
	bool lacks_driver_bytes;	/* less is left than the driver keeps */
	/* Where mode row is over the limit and the layout not too large; 0
	   or KVP_UNSTATED: none found. */
	uint64_t rows_in_row_mode, rows_in_span_mode;
	uint64_t tile_granules;	/* with which mode row fits */
};

/*
 * Size for s->memory_limit; *sized is the sized geometry, to be released, or
 * empty where it does not fit.  Errors, also in s->error: those of
 * kvp_size_find() and kvp_plan_make(); KVP_ENOMEM.
 */
int sizing_make(struct sizing *s, struct kvp_geometry *sized,
		const struct kvp_geometry *g, const struct sizing_wish *wish,
		struct kvp_error *err);

/* It fits, and yet nothing of what was asked for does. */
bool sizing_is_no(const struct sizing *s);

/* The first mode that fits the table; false: none does. */
bool sizing_mode(const struct sizing *s, enum kvp_merge *merge);

#endif
