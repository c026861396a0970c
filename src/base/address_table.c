/*
 * A hash table keyed by address, with at least as many buckets as nodes.
 */
#include "base/address_table.h"

#include <assert.h>
#include <stdlib.h>

#include "base/error.h"

#define BUCKETS_FIRST 64

/* 2^64 / golden ratio: spreads neighbouring addresses over the buckets. */
#define SPREAD UINT64_C(0x9e3779b97f4a7c15)

static size_t bucket_of(const struct address_table *t, uint64_t address)
{
	assert(t->nbuckets && !(t->nbuckets & (t->nbuckets - 1)));
	return (size_t)(address * SPREAD >> 32) & (t->nbuckets - 1);
}

static void add_to_bucket(struct address_table *t, struct address_node *node)
{
	struct address_node **at = &t->buckets[bucket_of(t, node->address)];

	node->chain = *at;
	*at = node;
}

int address_table_make_room(struct address_table *t, struct kvp_error *err)
{
	const struct address_table old = *t;
	const size_t n = old.nbuckets ? 2 * old.nbuckets : BUCKETS_FIRST;
	struct address_node *node, *next;
	size_t i;

	if (old.count < old.nbuckets)
		return KVP_OK;
	t->buckets = calloc(n, sizeof(struct address_node *));
	if (!t->buckets) {
		t->buckets = old.buckets;
		return kvp_error_nomem(err);
	}
	t->nbuckets = n;
	assert(t->count < t->nbuckets);
	for (i = 0; i < old.nbuckets; i++)
		for (node = old.buckets[i]; node; node = next) {
			next = node->chain;
			add_to_bucket(t, node);
		}
	free(old.buckets);
	return KVP_OK;
}

void address_table_add(struct address_table *t, struct address_node *node)
{
	assert(t->count < t->nbuckets);
	add_to_bucket(t, node);
	t->count++;
}

void address_table_remove(struct address_table *t, struct address_node *node)
{
	struct address_node **at = &t->buckets[bucket_of(t, node->address)];

	assert(t->count);
	while (*at != node) {
		assert(*at);
		at = &(*at)->chain;
	}
	*at = node->chain;
	t->count--;
}

struct address_node *address_table_find(const struct address_table *t,
					uint64_t address)
{
	struct address_node *node = NULL;

	if (t->nbuckets)
		node = t->buckets[bucket_of(t, address)];
	while (node && node->address != address)
		node = node->chain;
	return node;
}

bool address_table_is_sound(const struct address_table *t)
{
	const struct address_node *node;
	size_t count = 0, i;

	/* Of two nodes with one address only the first is found. */
	for (i = 0; i < t->nbuckets; i++)
		for (node = t->buckets[i]; node; node = node->chain, count++)
			if (bucket_of(t, node->address) != i ||
			    address_table_find(t, node->address) != node)
				return false;
	return count == t->count && count <= t->nbuckets;
}

void address_table_release(struct address_table *t)
{
	assert(!t->count);
	free(t->buckets);
	*t = (struct address_table){ .count = 0 };
}
