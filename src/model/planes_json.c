/*
 * Reading the planes of a geometry: one entry stands for `count` planes,
 * which are called name.0, name.1 ... and have to differ from all others.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "model/model.h"

enum { P_NAME, P_COUNT, P_BYTES, P_ALIAS, P_ADDRESS, P_KEYS };

static const struct json_field fields[P_KEYS] = {
	[P_NAME] = { "name", true },
	[P_COUNT] = { "count", false },
	[P_BYTES] = { "bytes_per_page", true },
	[P_ALIAS] = { "alias", false },
	[P_ADDRESS] = { "address", false },
};

static bool name_is_plain(const char *name)
{
	return !name[strspn(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
			    "abcdefghijklmnopqrstuvwxyz0123456789_-.")];
}

static int read_name(const struct json_at *at, char **name,
		     struct kvp_error *err)
{
	int code = json_string(at, KVP_PLANE_NAME_MAX, name, err);

	if (code || name_is_plain(*name))
		return code;
	code = json_fail(at, err, KVP_EINPUT,
		"is \"%s\", must be of A-Z a-z 0-9 _ - .", *name);
	free(*name);
	*name = NULL;
	return code;
}

/* The plane an entry describes; its name is the entry's. */
static int read_entry(struct kvp_plane *plane, const struct json_at *v,
		      uint64_t granularity, struct kvp_error *err)
{
	int code = json_bytes(&v[P_BYTES], 1, &plane->bytes_per_page, err);

	plane->alias = true;
	if (!code && v[P_ALIAS].p)
		code = json_bool(&v[P_ALIAS], &plane->alias, err);
	if (!code && v[P_ADDRESS].p) {
		plane->has_address = true;
		code = json_bytes(&v[P_ADDRESS], 1, &plane->address, err);
	}
	if (!code && plane->address % granularity)
		return json_fail(&v[P_ADDRESS], err, KVP_EINPUT,
			"is %llu, must be a multiple of the granularity, %llu",
			(unsigned long long)plane->address,
			(unsigned long long)granularity);
	return code;
}

/* Make room for `more` planes, doubling. */
static int grow(struct kvp_geometry *g, size_t *room, size_t more,
		struct kvp_error *err)
{
	size_t need = g->nplanes + more;
	struct kvp_plane *planes;

	if (need <= *room)
		return KVP_OK;
	if (need < *room * 2)
		need = *room * 2;
	planes = realloc(g->planes, need * sizeof(*planes));
	if (!planes)
		return kvp_error_nomem(err);
	g->planes = planes;
	*room = need;
	return KVP_OK;
}

static int expand(struct kvp_geometry *g, size_t *room, const char *name,
		  const struct kvp_plane *plane, uint64_t count,
		  const struct json_at *at, struct kvp_error *err)
{
	struct kvp_plane *to;
	uint64_t i;
	int len, code = grow(g, room, count, err);

	if (code)
		return code;
	for (i = 0; i < count; i++) {
		to = &g->planes[g->nplanes++];
		*to = *plane;
		len = count == 1 ?
			snprintf(to->name, sizeof(to->name), "%s", name) :
			snprintf(to->name, sizeof(to->name), "%s.%llu", name,
				 (unsigned long long)i);
		if (len > KVP_PLANE_NAME_MAX)
			return json_fail(at, err, KVP_EINPUT,
				"has names of %d characters after expansion, "
				"must have at most %d", len,
				KVP_PLANE_NAME_MAX);
	}
	return KVP_OK;
}

static int read_element(struct kvp_geometry *g, size_t *room,
			const struct json_at *at, struct kvp_error *err)
{
	struct kvp_plane plane = { 0 };
	struct json_at v[P_KEYS];
	uint64_t count = 1;
	char *name = NULL;
	int code = json_object(at, fields, P_KEYS, v, err);

	if (!code)
		code = read_entry(&plane, v, g->granularity, err);
	if (!code && v[P_COUNT].p)
		code = json_u64(&v[P_COUNT], 1, KVP_CHUNKS_MAX, &count, err);
	if (!code && g->nplanes + count > KVP_CHUNKS_MAX)
		code = json_fail(at, err, KVP_ELIMIT,
			"makes %llu planes, must be at most %llu",
			(unsigned long long)(g->nplanes + count),
			(unsigned long long)KVP_CHUNKS_MAX);
	if (!code && count > 1 && plane.has_address)
		code = json_fail(&v[P_ADDRESS], err, KVP_EINPUT,
			"is one address for %llu planes; list each plane",
			(unsigned long long)count);
	if (!code)
		code = read_name(&v[P_NAME], &name, err);
	if (!code)
		code = expand(g, room, name, &plane, count, at, err);
	free(name);
	return code;
}

static int by_name(const void *a, const void *b)
{
	const struct kvp_plane *const *x = a, *const *y = b;
	int order = strcmp((*x)->name, (*y)->name);

	return order ? order : (*x > *y) - (*x < *y);
}

static int check_names(const struct kvp_geometry *g, const struct json_at *at,
		       struct kvp_error *err)
{
	const struct kvp_plane **sorted = malloc(g->nplanes * sizeof(*sorted));
	int code = KVP_OK;
	size_t i;

	if (!sorted)
		return kvp_error_nomem(err);
	for (i = 0; i < g->nplanes; i++)
		sorted[i] = &g->planes[i];
	qsort(sorted, g->nplanes, sizeof(*sorted), by_name);
	for (i = 1; i < g->nplanes && !code; i++)
		if (!strcmp(sorted[i - 1]->name, sorted[i]->name))
			code = json_fail(at, err, KVP_EINPUT,
				"planes %zu and %zu are both called \"%s\", "
				"names must differ",
				(size_t)(sorted[i - 1] - g->planes),
				(size_t)(sorted[i] - g->planes),
				sorted[i]->name);
	free(sorted);
	return code;
}

int planes_read(struct kvp_geometry *g, const struct json_at *at,
		struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	size_t room = 0;
	int code = json_list_begin(&list, at, err);

	while (!code && json_list_next(&list, &element))
		code = read_element(g, &room, &element, err);
	if (!code && !g->nplanes)
		code = json_fail(at, err, KVP_EINPUT,
				 "is empty, must hold at least one plane");
	return code ? code : check_names(g, at, err);
}
