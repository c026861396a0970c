/*
 * The list of keys and its merge sort.
 */
#include "check/key_list.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

/* Runs of this length are sorted by insertion before merging begins. */
#define RUN 16

bool check_keys_add(struct check_keys *k, uint64_t a, uint64_t b, uint64_t c)
{
	struct check_key *grown;
	size_t room;

	if (k->count == k->room) {
		room = k->room ? k->room * 2 : 64;
		if (room > SIZE_MAX / sizeof(*grown))
			return false;
		grown = realloc(k->key, room * sizeof(*grown));
		if (!grown)
			return false;
		k->key = grown;
		k->room = room;
	}
	assert(k->count < k->room);
	k->key[k->count].a = a;
	k->key[k->count].b = b;
	k->key[k->count].c = c;
	k->count++;
	return true;
}

static bool is_in_order(const struct check_key *key, size_t n)
{
	size_t i;

	for (i = 1; i < n; i++)
		if (check_key_compare(&key[i - 1], &key[i]) > 0)
			return false;
	return true;
}

static void sort_run(struct check_key *key, size_t n)
{
	struct check_key moved;
	size_t i, j;

	for (i = 1; i < n; i++) {
		moved = key[i];
		for (j = i; j && check_key_compare(&key[j - 1], &moved) > 0;
		     j--)
			key[j] = key[j - 1];
		key[j] = moved;
	}
}

/* Merge from[0 .. mid) and from[mid .. n) into to. */
static void merge_runs(const struct check_key *from, size_t mid, size_t n,
		       struct check_key *to)
{
	size_t l = 0, r = mid, i = 0;

	assert(mid && mid < n);
	if (check_key_compare(&from[mid - 1], &from[mid]) > 0)
		while (l < mid && r < n)
			to[i++] = check_key_compare(&from[l], &from[r]) <= 0 ?
					  from[l++] :
					  from[r++];
	assert(l <= mid && r <= n && l + r - mid == i);
	memcpy(to + i, from + l, (mid - l) * sizeof(*to));
	memcpy(to + i + (mid - l), from + r, (n - r) * sizeof(*to));
}

/* One pass over all neighbouring pairs of runs of `width` keys. */
static void merge_pass(const struct check_key *from, size_t n, size_t width,
		       struct check_key *to)
{
	size_t at, len;

	assert(width && width < n && from != to);
	for (at = 0; at < n; at += len) {
		len = n - at < 2 * width ? n - at : 2 * width;
		if (len <= width)
			memcpy(to + at, from + at, len * sizeof(*to));
		else
			merge_runs(from + at, width, len, to + at);
	}
}

static bool make_spare(struct check_keys *k)
{
	if (k->spare_room >= k->count)
		return true;
	free(k->spare);
	k->spare_room = 0;
	k->spare = malloc(k->room * sizeof(*k->spare));
	if (!k->spare)
		return false;
	k->spare_room = k->room;
	return true;
}

bool check_keys_sort(struct check_keys *k)
{
	struct check_key *swap;
	size_t at, width, room;

	if (is_in_order(k->key, k->count))
		return true;
	for (at = 0; at < k->count; at += RUN)
		sort_run(k->key + at,
			 k->count - at < RUN ? k->count - at : RUN);
	if (k->count <= RUN)
		return true;
	if (!make_spare(k))
		return false;
	assert(k->spare_room >= k->count);
	for (width = RUN; width < k->count; width *= 2) {
		merge_pass(k->key, k->count, width, k->spare);
		swap = k->key;
		k->key = k->spare;
		k->spare = swap;
		room = k->room;
		k->room = k->spare_room;
		k->spare_room = room;
	}
	assert(is_in_order(k->key, k->count));
	return true;
}

void check_keys_release(struct check_keys *k)
{
	free(k->key);
	free(k->spare);
	memset(k, 0, sizeof(*k));
}
