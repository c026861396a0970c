/*
 * Marks: every owner writes its own into its planes, every importer reads
 * them, in any state in which memory is held.
 */
#ifndef TESTS_SHARE_MARKS_H
#define TESTS_SHARE_MARKS_H

#include "share/launch.h"
#include "share/state.h"

/* Launch hooks: write into one granule of each own plane; count in r->wrong
   what is not there to be read. */
static inline uint32_t mark_of(uint32_t rank, size_t plane)
{
	return rank << 16 | (uint32_t)plane << 1 | 1;
}

static inline void write_marks(struct kvp_share *s, const struct member *m,
			       struct report *r)
{
	struct kvp_backend *b;
	uint32_t i;
	size_t plane;

	(void)m;
	if (r->state != KVP_PUBLISHED && r->state != KVP_IN_DOUBT)
		return;
	b = backend_of(s->r);
	for (i = 0; i < s->r->nranks; i++) {
		for (plane = 0; plane < geometry_of(s->r)->nplanes; plane++)
			r->wrong += b->mapping.fill(b, s->r->ranks[i].device,
				s->r->ranks[i].planes[plane], 4096,
				mark_of(s->r->ranks[i].rank, plane), NULL) != 0;
		r->wrong += b->device.synchronize(b, s->r->ranks[i].device,
						  NULL) != 0;
	}
}

static inline void read_marks(struct kvp_share *s, const struct member *m,
			      struct report *r)
{
	struct kvp_backend *b;
	const struct import *from;
	size_t plane, i;
	uint64_t same;

	(void)m;
	if (r->state != KVP_PUBLISHED && r->state != KVP_IN_DOUBT)
		return;
	b = backend_of(s->r);
	for (from = s->r->imports; from < s->r->imports + s->r->nimports;
	     from++)
		for (plane = 0; plane < geometry_of(s->r)->nplanes; plane++)
			for (i = 0; i < from->nreaders; i++)
				r->wrong += b->mapping.match(b,
					from->devices[i], from->planes[plane],
					4096, mark_of(from->rank, plane),
					&same, NULL) || same != 4096;
}

#endif
