/*
 * A hash table keyed by address.  A bucket is a linked list of nodes, and
 * the nodes are embedded in the objects of the caller.
 *
 * Only address_table_make_room() allocates and can fail; call it before
 * adding.  All functions take constant time on average.
 */
#ifndef KVPLAN_BASE_ADDRESS_TABLE_H
#define KVPLAN_BASE_ADDRESS_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <kvplan/error.h>

/* The first member of every object in the table. */
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

/* Make room for one more node.  Errors: KVP_ENOMEM. */
int address_table_make_room(struct address_table *t, struct kvp_error *err);

/* Add a node.  There must be room, and no node with the same address. */
void address_table_add(struct address_table *t, struct address_node *node);
void address_table_remove(struct address_table *t, struct address_node *node);

/* The node with this address, or NULL. */
struct address_node *address_table_find(const struct address_table *t,
					uint64_t address);

/* Whether every node is in its bucket, has its own address, and `count` is
   right.  O(n). */
bool address_table_is_sound(const struct address_table *t);

/* Free the table, which must be empty. */
void address_table_release(struct address_table *t);

#endif
