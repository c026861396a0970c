/*
 * Operators that break a good plan in one place.  They return false where
 * they do not apply; the plan is then half changed and to be thrown away.
 * `arg` picks the variant: one of the enum above an operator, or a sign.
 */
#ifndef TESTS_FAKE_MUTATE_H
#define TESTS_FAKE_MUTATE_H

#include <kvplan/kvplan.h>

#include "fake/gen.h"

typedef struct kvp_plan plan_t;
typedef struct gen_rng rng_t;
typedef bool mutate(plan_t *p, rng_t *r, int arg);

/* mutate_chunks.c */
mutate swap_planes;

enum { ACROSS, WITHIN, FIXED };
mutate swap_places;
mutate swap_equal_in_none;
mutate shift_place;
mutate misalign;
mutate resize;
mutate drop_chunk;
mutate duplicate_chunk;
mutate split_chunk;
mutate merge_illegally;
mutate absorb_tail;

enum { AMONG_ALIASED, AMONG_UNALIASED, BETWEEN };
mutate reorder_list;
mutate no_such_plane;
mutate unalias;
mutate alias_more;
mutate alias_instead;

/* mutate_plan.c */

enum { BASE, CHUNKS, BOUND, PHYSICAL, TOKENS, LIMIT, RANK, NODE };
mutate change_number;
mutate dedicated;

enum { GROW, GROW_DOWN, SHRINK, SPLIT, REORDER, ADD, REMOVE };
mutate change_spans;

enum { DROP, REPEAT, RENUMBER, EXCHANGE };
mutate change_rows;

enum { LOSE, LOSE_OWNER, GAIN, UNSORT, NO_RANK, RELABEL };
mutate change_access;
mutate flip_optimal;
mutate drop_count;

enum { NO_HEADROOM, NEW_HEADROOM, FREE, CAP, UNBOUNDED, GREEDY };
mutate change_headroom;
mutate change_mode;

enum { PAGE_TOKENS, ENTRY_LIMIT, STATIC_ENTRIES, TIGHT, FEWER_ROWS, IMPORT,
       FAR_PLANE, FAR_ARENA };
mutate change_geometry;

#endif
