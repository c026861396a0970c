/*
 * One sizing: how many pages and rows fit into free memory, how many table
 * entries their plans need, how many sequences they hold, and, if mode row
 * does not fit the table of mappings, what would.
 */
#ifndef KVPLAN_SIZE_SIZING_H
#define KVPLAN_SIZE_SIZING_H

#include <kvplan/size.h>

#include "size/search.h"

/* What is wanted of every sizing. */
struct sizing_wish {
	struct kvp_size_wish size;	/* its limit is not used: each sizing
					   has its own */
	struct kvp_cap_override override;
	uint64_t tokens;	/* tokens to find the pages for; 0: size.pages
				   counts */
	uint64_t length;	/* tokens of a sequence; 0: sequences are not
				   counted */
};

/* The result for one memory limit. */
struct sizing {
	const char *limit;	/* as given; NULL: free memory is not known */
	struct kvp_memory_limit memory_limit;
	bool fits;		/* false: only limit and error are valid */
	struct kvp_error error;
	struct kvp_size size;
	struct kvp_headroom headroom;	/* valid if size.bounded */
	uint64_t entries[KVP_MERGE_SPAN + 1];	/* of the fullest node, by
						   mode */
	struct kvp_concurrency concurrency;	/* valid with a length */
	struct plan_fit fit;	/* of mode row, the default of kvplan plan */
	bool lacks_rows;	/* fewer fit than were asked for */
	bool lacks_all_rows;	/* none fits, and there are row_bytes */
	bool lacks_sequence;	/* no sequence of `length` fits */
	bool lacks_driver_bytes;	/* less is left than the driver keeps */
	/* Found if mode row is over the limit and the layout is not too large
	   to search: the most rows that fit; KVP_UNSTATED: none. */
	uint64_t rows_in_row_mode, rows_in_span_mode;
	uint64_t tile_granules;	/* with which mode row fits; 0: none found */
};

/*
 * Size for s->memory_limit; the caller releases *sized, the sized geometry,
 * which is empty on failure.  Errors, also in s->error: those of
 * kvp_size_find() and kvp_plan_make(); KVP_ENOMEM.
 */
int sizing_make(struct sizing *s, struct kvp_geometry *sized,
		const struct kvp_geometry *g, const struct sizing_wish *wish,
		struct kvp_error *err);

/* Pages fit, and yet no row or no sequence of those that were asked for. */
bool sizing_falls_short(const struct sizing *s);

/* Find the first mode that fits the table; false: none does. */
bool sizing_find_mode(const struct sizing *s, enum kvp_merge *merge);

#endif
