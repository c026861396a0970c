/*
 * Fuzz targets and what replays them.  Each fuzz_*.c is a libFuzzer target:
 * compile it and the sources of base, model, plan, check and import (all but
 * kvcheck_main.c), for fuzz_capacity.c and fuzz_share_blob.c of all rooms but
 * cli, with
 *
 *     clang -fsanitize=fuzzer,address,undefined -D_XOPEN_SOURCE=700
 *         -DKVP_VERSION='"0"' -Iinclude -Isrc -Itests ...
 *
 * Linked with replay.c it is a test that runs over the files of the tree and
 * over small changes to them.
 */
#ifndef TESTS_FUZZ_FUZZ_H
#define TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

#include <kvplan/geometry.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* Larger layouts are read and written, but not planned or verified. */
extern uint64_t fuzz_chunks;

/* Whether a geometry's layout is small enough. */
static inline int fuzz_is_small(const struct kvp_geometry *g)
{
	const uint64_t tile = g->granularity * g->tile_granules;
	const uint64_t rows = g->execution_rows + g->snapshot_rows;
	uint64_t tiles = 2 * g->nplanes + rows * g->row_stride / tile;

	return tiles <= fuzz_chunks && rows <= fuzz_chunks &&
	       g->nbase_chunks <= fuzz_chunks && g->ranks <= 64;
}

#endif
