/*
 * What kinds of geometries a run has met, so that a generator that no
 * longer makes some kind does not pass unseen.
 */
#ifndef TESTS_FAKE_SHAPE_H
#define TESTS_FAKE_SHAPE_H

#include <kvplan/geometry.h>

/* From OVER_LIMIT on, planning tells. */
enum feature {
	MIXED_BPP, BPP_SMALLER, BPP_EQUAL, BPP_MULTIPLE, BPP_UNRELATED,
	BPP_HUGE, UNALIASED, PADDED, SMALL_ROWS, ALIGNED_ROWS, GRANULE_ROWS,
	TILE_2, TILE_3, NO_ROWS, NO_SNAPSHOTS, NO_EXECUTION,
	ONE_PLANE, ONE_PAGE, D_CUTS_ROW, D_SWALLOWS_ROW, NODES, LISTS,
	READWRITE, STATICS, HEADROOM, RECORDED, OVER_LIMIT, INFEASIBLE,
	CROSSING, ROW_SAVES, SPAN_SAVES, OFF_BOUND, FEATURES
};

extern const char *const feature_names[FEATURES];

/* The bits, 1 << feature, of all before OVER_LIMIT. */
uint64_t shape_of(const struct kvp_geometry *g);

#endif
