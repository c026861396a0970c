/*
 * The addresses in a published file, as the files of a realization see them.
 */
#ifndef KVPLAN_REALIZE_ADDRESSES_H
#define KVPLAN_REALIZE_ADDRESSES_H

#include <stdint.h>

#include <kvplan/addresses.h>
#include <kvplan/geometry.h>

struct addresses_plane {
	char name[KVP_PLANE_NAME_MAX + 1];
	uint64_t address;
	uint64_t stride;
};

struct addresses_rank {
	uint32_t rank;
	struct addresses_plane *planes;
	size_t nplanes;
	uint64_t arena;		/* 0: none */
	uint64_t arena_stride;
};

/* Find the recorded addresses of a rank, or NULL.  addresses may be NULL. */
const struct addresses_rank *
addresses_find(const struct kvp_addresses *addresses, uint32_t rank);

#endif
