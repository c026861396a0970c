/*
 * Reading the planes of a geometry.  An entry with a `count` above 1 stands
 * for that many planes, which are named name.0, name.1 and so on.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "model/model.h"

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

/* Make room for `more` planes, doubling. */
static int make_room(struct kvp_geometry *g, size_t *room, size_t more,
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

static int add_planes(struct kvp_geometry *g, size_t *room, const char *name,
		      const struct kvp_plane *plane, uint64_t count,
		      const struct json_at *at, struct kvp_error *err)
{
	struct kvp_plane *to;
	uint64_t i;
	int len, code = make_room(g, room, count, err);

	if (code)
		return code;
	for (i = 0; i < count; i++) {
		to = &g->planes[g->nplanes++];
		*to = *plane;
		len = count == 1 ?
			snprintf(to->name, sizeof(to->name), "%s", name) :
			snprintf(to->name, sizeof(to->name), "%s.%llu", name,
				 (ull)i);
		if (len > KVP_PLANE_NAME_MAX)
			return json_fail(at, err, KVP_EINPUT,
				"has names of %d characters after expansion, "
				"must have at most %d", len,
				KVP_PLANE_NAME_MAX);
	}
	return KVP_OK;
}

/* Read the number of planes that an entry stands for. */
static int read_count(const struct kvp_geometry *g, const struct json_at *at,
		      const struct json_at *key, uint64_t *count,
		      struct kvp_error *err)
{
	int code = KVP_OK;

	*count = 1;
	if (key->p)
		code = json_u64(key, 1, KVP_CHUNKS_MAX, count, err);
	if (!code && g->nplanes + *count > KVP_CHUNKS_MAX)
		code = json_fail(at, err, KVP_ELIMIT,
			"makes %llu planes, must be at most %llu",
			(ull)(g->nplanes + *count),
			(ull)KVP_CHUNKS_MAX);
	return code;
}

/* The value of a key, in the order of plane_record. */
static const struct json_at *find_value(const struct json_at *values,
					const char *key)
{
	return values + (record_find(&plane_record, key) -
			 plane_record.fields);
}

static int read_element(struct kvp_geometry *g, size_t *room,
			const struct json_field *keys,
			const struct json_at *at, struct kvp_error *err)
{
	struct kvp_plane plane = { 0 };
	struct json_at v[RECORD_FIELDS];
	uint64_t count = 1;
	char *name = NULL;
	int code = json_object(at, keys, plane_record.nfields, v, err);

	if (!code)
		code = record_read_fields(&plane_record, &plane, v, err);
	if (!code)
		code = read_count(g, at, find_value(v, "count"), &count, err);
	if (!code && count > 1 && plane.has_address)
		code = json_fail(find_value(v, "address"), err, KVP_EINPUT,
			"is one address for %llu planes; list each plane "
			"with its own",
			(ull)count);
	if (!code)
		code = read_name(find_value(v, "name"), &name, err);
	if (!code)
		code = add_planes(g, room, name, &plane, count, at, err);
	free(name);
	return code;
}

int planes_read(struct kvp_geometry *g, const struct json_at *at,
		struct kvp_error *err)
{
	struct json_field keys[RECORD_FIELDS];
	struct json_list list;
	struct json_at element;
	size_t room = 0;
	int code = json_list_begin(&list, at, err);

	record_keys(&plane_record, keys);
	while (!code && json_list_next(&list, &element))
		code = read_element(g, &room, keys, &element, err);
	if (!code && !g->nplanes)
		code = json_fail(at, err, KVP_EINPUT,
				 "is empty, must hold at least one plane");
	return code;
}
