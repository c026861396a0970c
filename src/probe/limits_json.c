/*
 * Reading a limits document; unknown and missing keys are errors.
 */
#include <stdlib.h>
#include <string.h>

#include <kvplan/limits.h>

#include "base/error.h"
#include "base/format.h"
#include "model/model.h"

enum key {
	FORMAT, DRIVER, DEVICES, PEERS, ABILITIES, COST_NS, ENTRIES, KEYS
};

static const struct json_field keys[KEYS] = {
	[FORMAT] = { "format", true },
	[DRIVER] = { "driver", true },
	[DEVICES] = { "devices", true },
	[PEERS] = { "peers", true },
	[ABILITIES] = { "abilities", true },
	[COST_NS] = { "cost_ns", true },
	[ENTRIES] = { "entries", true },
};

const struct json_field limits_ability_fields[KVP_ABILITIES] = {
	[KVP_OFFSET_MAP] = { "offset_map", true },
	[KVP_PARTIAL_MAP] = { "partial_map", true },
	[KVP_PART_GRANT] = { "part_grant", true },
	[KVP_HALF_UNMAP] = { "half_unmap", true },
	[KVP_ALIAS_COHERENT] = { "alias_coherent", true },
	[KVP_READ_ONLY_PEERS] = { "read_only_peers", true },
	[KVP_HINT_HONOURED] = { "hint_honoured", true },
	[KVP_HINT_MOVES] = { "hint_moves", true },
};

const struct json_field limits_cost_fields[KVP_COSTS] = {
	[KVP_COST_CREATE] = { "create", true },
	[KVP_COST_MAP] = { "map", true },
	[KVP_COST_GRANT] = { "grant", true },
	[KVP_COST_GRANT_TWO] = { "grant_two", true },
	[KVP_COST_UNMAP] = { "unmap", true },
	[KVP_COST_UNMAP_TWO] = { "unmap_two", true },
	[KVP_COST_RELEASE] = { "release", true },
};

/* Read a string that fits into `size` bytes with its terminating zero. */
static int read_text(const struct json_at *at, char *to, size_t size,
		     struct kvp_error *err)
{
	char *text = NULL;
	int code = json_string(at, size - 1, &text, err);

	if (!code && strlen(text) >= size)
		code = json_fail(at, err, KVP_EINPUT, "has %zu bytes, "
				 "must have at most %zu", strlen(text),
				 size - 1);
	if (!code)
		strcpy(to, text);
	free(text);
	return code;
}

static int read_granularity(const struct json_at *at, uint64_t *granularity,
			    struct kvp_error *err)
{
	int code = json_u64(at, KVP_GRANULARITY_MIN, KVP_NUMBER_MAX,
			    granularity, err);

	if (!code && (*granularity & (*granularity - 1)))
		return json_fail(at, err, KVP_EINPUT,
			"is %llu, must be a power of two such as 2097152",
			(ull)*granularity);
	return code;
}

static int read_device(struct kvp_limits_device *d, const struct json_at *at,
		       struct kvp_error *err)
{
	enum { LABEL, NAME, UUID, GRANULARITY, RECOMMENDED, TOTAL, FREE, N };
	static const struct json_field fields[N] = {
		{ "label", true }, { "name", true }, { "uuid", true },
		{ "granularity", true }, { "recommended_granularity", true },
		{ "total_bytes", true }, { "free_bytes", true },
	};
	struct json_at v[N];
	int code = json_object(at, fields, N, v, err);

	if (!code)
		code = read_text(&v[LABEL], d->label, sizeof(d->label), err);
	if (!code)
		code = read_text(&v[NAME], d->name, sizeof(d->name), err);
	if (!code)
		code = read_text(&v[UUID], d->uuid, sizeof(d->uuid), err);
	if (!code)
		code = read_granularity(&v[GRANULARITY], &d->granularity,
					err);
	if (!code)
		code = read_granularity(&v[RECOMMENDED],
					&d->recommended_granularity, err);
	if (!code)
		code = json_u64(&v[TOTAL], 0, KVP_NUMBER_MAX, &d->total_bytes,
				err);
	return code ? code : json_u64(&v[FREE], 0, KVP_NUMBER_MAX,
				      &d->free_bytes, err);
}

static int read_devices(struct kvp_limits *l, const struct json_at *at,
			struct kvp_error *err)
{
	struct json_at element;
	struct json_list list;
	size_t count;
	int code = json_list_count(at, KVP_LIMITS_DEVICES_MAX, &count, err);

	if (!code && !count)
		code = json_fail(at, err, KVP_EINPUT,
				 "must have at least one device");
	if (code)
		return code;
	l->devices = calloc(count, sizeof(*l->devices));
	if (!l->devices)
		return kvp_error_nomem(err);
	code = json_list_begin(&list, at, err);
	while (!code && json_list_next(&list, &element))
		code = read_device(&l->devices[l->ndevices++], &element, err);
	return code;
}

/* Begin a list that must have an element for every device. */
static int begin_row(struct json_list *list, const struct json_at *at,
		     size_t devices, struct kvp_error *err)
{
	size_t count;
	int code = json_list_count(at, KVP_LIMITS_DEVICES_MAX, &count, err);

	if (!code && count != devices)
		code = json_fail(at, err, KVP_EINPUT, "has %zu elements, must "
				 "have one for each of %zu devices", count,
				 devices);
	return code ? code : json_list_begin(list, at, err);
}

static int read_peers(struct kvp_limits *l, const struct json_at *at,
		      struct kvp_error *err)
{
	struct json_at row, element;
	struct json_list rows, list;
	bool *can;
	int code;

	l->peers = calloc(l->ndevices * l->ndevices, sizeof(*l->peers));
	if (!l->peers)
		return kvp_error_nomem(err);
	can = l->peers;
	code = begin_row(&rows, at, l->ndevices, err);
	while (!code && json_list_next(&rows, &row)) {
		code = begin_row(&list, &row, l->ndevices, err);
		while (!code && json_list_next(&list, &element))
			code = json_bool(&element, can++, err);
	}
	return code;
}

/* null: not tried. */
static int read_ability(struct kvp_ability *a, const struct json_at *at,
			struct kvp_error *err)
{
	static const struct json_field fields[] = {
		{ "works", true }, { "answer", true },
	};
	struct json_at v[2];
	bool works = false;
	int code;

	if (json_type(at) == JSON_NULL)
		return KVP_OK;
	code = json_object(at, fields, 2, v, err);
	if (!code)
		code = json_bool(&v[0], &works, err);
	a->works = works ? KVP_YES : KVP_NO;
	return code ? code : read_text(&v[1], a->answer, sizeof(a->answer),
				       err);
}

static int read_abilities(struct kvp_limits *l, const struct json_at *at,
			  struct kvp_error *err)
{
	struct json_at v[KVP_ABILITIES];
	int code = json_object(at, limits_ability_fields, KVP_ABILITIES, v,
			       err);
	size_t i;

	for (i = 0; !code && i < KVP_ABILITIES; i++)
		code = read_ability(&l->ability[i], &v[i], err);
	return code;
}

/* null: not timed. */
static int read_costs(struct kvp_limits *l, const struct json_at *at,
		      struct kvp_error *err)
{
	struct json_at v[KVP_COSTS];
	int code = json_object(at, limits_cost_fields, KVP_COSTS, v, err);
	size_t i;

	for (i = 0; !code && i < KVP_COSTS; i++) {
		l->cost_ns[i] = KVP_NOT_TIMED;
		if (json_type(&v[i]) != JSON_NULL)
			code = json_u64(&v[i], 0, KVP_NUMBER_MAX,
					&l->cost_ns[i], err);
	}
	return code;
}

/* null: not counted. */
static int read_entries(struct kvp_limits *l, const struct json_at *at,
			struct kvp_error *err)
{
	static const struct json_field fields[] = {
		{ "free", true }, { "exact", true },
	};
	struct json_at v[2];
	int code;

	if (json_type(at) == JSON_NULL)
		return KVP_OK;
	l->entries_counted = true;
	code = json_object(at, fields, 2, v, err);
	if (!code)
		code = json_u64(&v[0], 0, KVP_LIMITS_ENTRIES_MAX,
				&l->entries_free, err);
	return code ? code : json_bool(&v[1], &l->entries_exact, err);
}

static int read_limits(struct kvp_limits *l, const struct json_at *at,
		       struct kvp_error *err)
{
	static const char *const formats[] = { KVP_LIMITS_FORMAT };
	struct json_at v[KEYS], format;
	size_t which;
	int code = format_check(at, formats, 1, &format, &which, err);

	if (!code)
		code = json_object(at, keys, KEYS, v, err);
	if (!code)
		code = read_text(&v[DRIVER], l->driver, sizeof(l->driver),
				 err);
	if (!code)
		code = read_devices(l, &v[DEVICES], err);
	if (!code)
		code = read_peers(l, &v[PEERS], err);
	if (!code)
		code = read_abilities(l, &v[ABILITIES], err);
	if (!code)
		code = read_costs(l, &v[COST_NS], err);
	return code ? code : read_entries(l, &v[ENTRIES], err);
}

int kvp_limits_read(struct kvp_limits *limits, const char *source,
		    const char *text, size_t len, struct kvp_error *err)
{
	struct json_text in;
	struct json_at root;
	int code;

	*limits = (struct kvp_limits){ .driver = "" };
	code = json_open(&in, &root, source, text, len, err);
	if (!code)
		code = read_limits(limits, &root, err);
	if (code)
		kvp_limits_release(limits);
	return code;
}
