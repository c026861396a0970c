/*
 * Things with an address, found by it: a hash table whose buckets are chains
 * through the things themselves.
 *
 * Room is made first, where there may be no memory; adding, finding and
 * removing never fail.  All take constant time, but that making room doubles
 * the table now and then.
 */
#ifndef KVPLAN_BASE_ADDRESS_TABLE_H
#define KVPLAN_BASE_ADDRESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kvplan/error.h>

/* First in every thing. */
struct address_node {
	uint64_t address;
	struct address_node *chain;	/* the next one in its bucket */
};

/* Zeroed: empty. */
struct address_table {
	struct address_node **buckets;
	size_t nbuckets;	/* 0, or a power of two */
	size_t count;
};

/* Room for one more.  Errors: KVP_ENOMEM. */
int address_table_room(struct address_table *t, struct kvp_error *err);

/* There is room, and none of that address. */
void address_table_add(struct address_table *t, struct address_node *node);
void address_table_remove(struct address_table *t, struct address_node *node);

/* NULL: none. */
struct address_node *address_table_find(const struct address_table *t,
					uint64_t address);

/* Is everything in its bucket, and as many as counted?  O(things). */
bool address_table_sound(const struct address_table *t);

/* Free the table, which is empty. */
void address_table_release(struct address_table *t);

#endif
