/*
 * Writing the limits of a node: one device, one row, one finding to a line.
 */
#include <kvplan/limits.h>

#include "model/model.h"

static void member(struct strbuf *b, const char *name, uint64_t value)
{
	strbuf_printf(b, ",\"%s\":", name);
	strbuf_u64(b, value);
}

static void write_devices(struct strbuf *b, const struct kvp_limits *l)
{
	const struct kvp_limits_device *d;
	size_t i;

	strbuf_str(b, "[");
	for (i = 0; i < l->ndevices; i++) {
		d = &l->devices[i];
		strbuf_str(b, i ? ",\n{\"label\":" : "\n{\"label\":");
		strbuf_json_string(b, d->label);
		strbuf_str(b, ",\"name\":");
		strbuf_json_string(b, d->name);
		strbuf_str(b, ",\"uuid\":");
		strbuf_json_string(b, d->uuid);
		member(b, "granularity", d->granularity);
		member(b, "recommended_granularity",
		       d->recommended_granularity);
		member(b, "total_bytes", d->total_bytes);
		member(b, "free_bytes", d->free_bytes);
		strbuf_str(b, "}");
	}
	strbuf_str(b, "\n]");
}

static void write_peers(struct strbuf *b, const struct kvp_limits *l)
{
	const bool *can = l->peers;
	size_t i, j;

	strbuf_str(b, "[");
	for (i = 0; i < l->ndevices; i++) {
		strbuf_str(b, i ? ",\n[" : "\n[");
		for (j = 0; j < l->ndevices; j++)
			strbuf_printf(b, "%s%s", j ? "," : "",
				      *can++ ? "true" : "false");
		strbuf_str(b, "]");
	}
	strbuf_str(b, "\n]");
}

static void write_abilities(struct strbuf *b, const struct kvp_limits *l)
{
	const struct kvp_ability *a = l->ability;
	size_t i;

	strbuf_str(b, "{");
	for (i = 0; i < KVP_ABILITIES; i++, a++) {
		strbuf_printf(b, "%s\n\"%s\":", i ? "," : "",
			      limits_ability_fields[i].name);
		if (a->works == KVP_NOT_ASKED) {
			strbuf_str(b, "null");
			continue;
		}
		strbuf_printf(b, "{\"works\":%s,\"answer\":",
			      a->works == KVP_YES ? "true" : "false");
		strbuf_json_string(b, a->answer);
		strbuf_str(b, "}");
	}
	strbuf_str(b, "\n}");
}

static void write_costs(struct strbuf *b, const struct kvp_limits *l)
{
	size_t i;

	strbuf_str(b, "{");
	for (i = 0; i < KVP_COSTS; i++) {
		strbuf_printf(b, "%s\n\"%s\":", i ? "," : "",
			      limits_cost_fields[i].name);
		if (l->cost_ns[i] == KVP_NOT_TIMED)
			strbuf_str(b, "null");
		else
			strbuf_u64(b, l->cost_ns[i]);
	}
	strbuf_str(b, "\n}");
}

static int check_answers(const struct kvp_limits *limits,
			 struct kvp_error *err)
{
	size_t i;

	for (i = 0; i < KVP_ABILITIES; i++)
		if ((unsigned)limits->ability[i].works > KVP_YES)
			return kvp_error_set(err, KVP_EINPUT,
				"%s: the answer is %d, which is none",
				limits_ability_fields[i].name,
				(int)limits->ability[i].works);
	return KVP_OK;
}

int kvp_limits_write(const struct kvp_limits *limits, char **text,
		     size_t *len, struct kvp_error *err)
{
	struct strbuf b = { 0 };
	int code = check_answers(limits, err);

	*text = NULL;
	if (code)
		return code;
	strbuf_str(&b, "{\n\"format\":\"" KVP_LIMITS_FORMAT "\",\n"
		   "\"driver\":");
	strbuf_json_string(&b, limits->driver);
	strbuf_str(&b, ",\n\"devices\":");
	write_devices(&b, limits);
	strbuf_str(&b, ",\n\"peers\":");
	write_peers(&b, limits);
	strbuf_str(&b, ",\n\"abilities\":");
	write_abilities(&b, limits);
	strbuf_str(&b, ",\n\"cost_ns\":");
	write_costs(&b, limits);
	strbuf_str(&b, ",\n\"entries\":");
	if (limits->entries_counted) {
		strbuf_str(&b, "{\"free\":");
		strbuf_u64(&b, limits->entries_free);
		strbuf_printf(&b, ",\"exact\":%s}",
			      limits->entries_exact ? "true" : "false");
	} else {
		strbuf_str(&b, "null");
	}
	strbuf_str(&b, "\n}\n");
	return strbuf_detach(&b, text, len, err);
}
