/*
 * Writing a limits document: every device, matrix row and ability is one line.
 */
#include <kvplan/limits.h>

#include "base/json_tree.h"
#include "model/model.h"

static void add_devices(struct json_tree *t, const struct kvp_limits *l)
{
	const struct kvp_limits_device *d;
	size_t i;

	json_tree_list(t, "devices", JSON_LINES);
	for (i = 0; i < l->ndevices; i++) {
		d = &l->devices[i];
		json_tree_object(t, NULL, JSON_INLINE);
		json_tree_text(t, "label", d->label);
		json_tree_text(t, "name", d->name);
		json_tree_text(t, "uuid", d->uuid);
		json_tree_u64(t, "granularity", d->granularity);
		json_tree_u64(t, "recommended_granularity",
			      d->recommended_granularity);
		json_tree_u64(t, "total_bytes", d->total_bytes);
		json_tree_u64(t, "free_bytes", d->free_bytes);
		json_tree_end(t);
	}
	json_tree_end(t);
}

static void add_peers(struct json_tree *t, const struct kvp_limits *l)
{
	const bool *can = l->peers;
	size_t i, j;

	json_tree_list(t, "peers", JSON_LINES);
	for (i = 0; i < l->ndevices; i++) {
		json_tree_list(t, NULL, JSON_INLINE);
		for (j = 0; j < l->ndevices; j++)
			json_tree_bool(t, NULL, *can++);
		json_tree_end(t);
	}
	json_tree_end(t);
}

static void add_abilities(struct json_tree *t, const struct kvp_limits *l)
{
	const struct kvp_ability *a = l->ability;
	const char *name;
	size_t i;

	json_tree_object(t, "abilities", JSON_LINES);
	for (i = 0; i < KVP_ABILITIES; i++, a++) {
		name = limits_ability_fields[i].name;
		if (a->works == KVP_NOT_ASKED) {
			json_tree_null(t, name);
			continue;
		}
		json_tree_object(t, name, JSON_INLINE);
		json_tree_bool(t, "works", a->works == KVP_YES);
		json_tree_text(t, "answer", a->answer);
		json_tree_end(t);
	}
	json_tree_end(t);
}

static void add_costs(struct json_tree *t, const struct kvp_limits *l)
{
	size_t i;

	json_tree_object(t, "cost_ns", JSON_LINES);
	for (i = 0; i < KVP_COSTS; i++)
		json_tree_u64_or_null(t, limits_cost_fields[i].name,
				      l->cost_ns[i] != KVP_NOT_TIMED,
				      l->cost_ns[i]);
	json_tree_end(t);
}

static void add_entries(struct json_tree *t, const struct kvp_limits *l)
{
	if (!l->entries_counted) {
		json_tree_null(t, "entries");
		return;
	}
	json_tree_object(t, "entries", JSON_INLINE);
	json_tree_u64(t, "free", l->entries_free);
	json_tree_bool(t, "exact", l->entries_exact);
	json_tree_end(t);
}

static int check_answers(const struct kvp_limits *limits,
			 struct kvp_error *err)
{
	size_t i;

	for (i = 0; i < KVP_ABILITIES; i++)
		if ((unsigned)limits->ability[i].works > KVP_YES)
			return kvp_error_set(err, KVP_EINPUT,
				"%s: the answer is %d, which is no answer",
				limits_ability_fields[i].name,
				(int)limits->ability[i].works);
	return KVP_OK;
}

int kvp_limits_write(const struct kvp_limits *limits, char **text,
		     size_t *len, struct kvp_error *err)
{
	struct json_tree t = { .root = NULL };
	int code = check_answers(limits, err);

	*text = NULL;
	if (code)
		return code;
	json_tree_object(&t, NULL, JSON_LINES);
	json_tree_text(&t, "format", KVP_LIMITS_FORMAT);
	json_tree_text(&t, "driver", limits->driver);
	add_devices(&t, limits);
	add_peers(&t, limits);
	add_abilities(&t, limits);
	add_costs(&t, limits);
	add_entries(&t, limits);
	json_tree_end(&t);
	return json_tree_finish(&t, text, len, err);
}
