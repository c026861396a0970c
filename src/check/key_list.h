/*
 * A list of keys of three numbers each, and its sorting; the checker sorts
 * everything with it.  It is a merge sort, O(n log n) for any input and O(n)
 * for one that is sorted.
 */
#ifndef KVPLAN_CHECK_KEY_LIST_H
#define KVPLAN_CHECK_KEY_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compared by a, then b, then c. */
struct check_key {
	uint64_t a;
	uint64_t b;
	uint64_t c;
};

struct check_keys {
	struct check_key *key;
	size_t count;
	size_t room;
	struct check_key *spare;	/* for merging */
	size_t spare_room;
};

/* False if there is no memory; the list is unchanged then. */
bool check_keys_add(struct check_keys *k, uint64_t a, uint64_t b, uint64_t c);

/* Sort ascending.  False if there is no memory. */
bool check_keys_sort(struct check_keys *k);

void check_keys_release(struct check_keys *k);

static inline int check_key_compare(const struct check_key *x,
				    const struct check_key *y)
{
	if (x->a != y->a)
		return x->a < y->a ? -1 : 1;
	if (x->b != y->b)
		return x->b < y->b ? -1 : 1;
	return x->c == y->c ? 0 : x->c < y->c ? -1 : 1;
}

#endif
