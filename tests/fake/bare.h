/*
 * The backend calls that realizing makes, and nothing else: what the speed of
 * realizing is compared with.  A call that fails ends the program.
 */
#ifndef TESTS_FAKE_BARE_H
#define TESTS_FAKE_BARE_H

#include <kvplan/kvplan.h>

/* One rank's addresses and handles, or those imported from a rank. */
struct bare {
	struct kvp_backend *b;
	const struct kvp_plan *plan;
	uint32_t ranks;		/* of this process, on devices 0, 1, ... */
	enum kvp_handle_type handle_type;
	size_t *order;		/* the chunks by plane, as they are mapped */
	uint64_t *planes;
	uint64_t *plane_bytes;
	uint64_t arena, arena_bytes;
	kvp_handle *handles;	/* of chunks, then of the dedicated backing */
};

double bare_now(void);		/* seconds */
void bare_must(int code, const struct kvp_error *err);
/* Read a plan, and prove it. */
struct kvp_verdict *bare_read(struct kvp_plan *plan, const char *path);

/* Find the order, and the sizes of planes and arena, for all that is copied of
   x. */
void bare_measure(struct bare *x);

/* Make all ranks of this process, [x->ranks], up to GRANTED. */
struct bare *bare_make(const struct bare *x);
void bare_undo(const struct bare *x, struct bare *ranks);

/* Import the planes of a rank in another process: reserve the addresses,
   then import, map and grant one chunk after the other to device 0; `index`
   counts in the order. */
struct bare *bare_import_begin(const struct bare *x);
void bare_import(struct bare *from, size_t index,
		 const struct kvp_shared *shared);
/* `count` chunks were imported. */
void bare_import_undo(struct bare *from, size_t count);

/* Read the free memory as often as a plane's grants do, for all ranks. */
void bare_read_free(const struct bare *x);

#endif
