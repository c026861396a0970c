/*
 * The limits of a node as a table for people.
 */
#include <stdlib.h>

#include "cli/probe.h"

#define N(value) out_number(value).text

static void add_devices(struct strbuf *b, const struct kvp_limits *l)
{
	const struct kvp_limits_device *d;
	size_t i;

	strbuf_printf(b, "driver  %s\n\n%-8s %-24s %14s %14s %17s %17s  %s\n",
		      l->driver, "device", "name", "granularity",
		      "recommended", "bytes", "free", "uuid");
	for (i = 0; i < l->ndevices; i++) {
		d = &l->devices[i];
		strbuf_printf(b, "%-8s %-24s %14s %14s %17s %17s  %s\n",
			      d->label, d->name, N(d->granularity),
			      N(d->recommended_granularity),
			      N(d->total_bytes), N(d->free_bytes), d->uuid);
	}
}

/* A row has the devices whose memory this device can access. */
static void add_peers(struct strbuf *b, const struct kvp_limits *l)
{
	size_t i, j;

	if (l->ndevices < 2)
		return;
	strbuf_printf(b, "\n%-8s", "reads");
	for (i = 0; i < l->ndevices; i++)
		strbuf_printf(b, " %-7s", l->devices[i].label);
	for (i = 0; i < l->ndevices; i++) {
		strbuf_printf(b, "\n%-8s", l->devices[i].label);
		for (j = 0; j < l->ndevices; j++)
			strbuf_printf(b, " %-7s",
				      l->peers[i * l->ndevices + j] ?
				      "yes" : "no");
	}
	strbuf_str(b, "\n");
}

static void add_abilities(struct strbuf *b, const struct kvp_limits *l)
{
	static const char *const what[KVP_ABILITIES] = {
		[KVP_OFFSET_MAP] = "map an allocation from an offset on",
		[KVP_PARTIAL_MAP] = "map a part of an allocation",
		[KVP_PART_GRANT] = "grant a part of a mapping",
		[KVP_HALF_UNMAP] = "unmap half of a mapping",
		[KVP_ALIAS_COHERENT] = "an alias reads what was written",
		[KVP_READ_ONLY_PEERS] = "read-only peers read, cannot write",
		[KVP_HINT_HONOURED] = "reserve a free address asked for",
		[KVP_HINT_MOVES] = "reserve another if it is taken",
	};
	static const char *const words[] = {
		[KVP_NOT_ASKED] = "n/a", [KVP_NO] = "no", [KVP_YES] = "yes",
	};
	const struct kvp_ability *a = l->ability;
	size_t i;

	strbuf_printf(b, "\n%-38s %-5s %s\n", "what", "works",
		      "the driver's result");
	for (i = 0; i < KVP_ABILITIES; i++, a++)
		strbuf_printf(b, "%-38s %-5s %s\n", what[i], words[a->works],
			      a->works == KVP_NOT_ASKED ? "needs two GPUs "
			      "that are peers" : a->answer);
}

static void add_costs(struct strbuf *b, const struct kvp_limits *l)
{
	static const char *const what[KVP_COSTS] = {
		[KVP_COST_CREATE] = "create", [KVP_COST_MAP] = "map",
		[KVP_COST_GRANT] = "grant, 1 reader: 1 entry",
		[KVP_COST_GRANT_TWO] = "grant, 2 readers: 2 entries",
		[KVP_COST_UNMAP] = "unmap, 1 reader",
		[KVP_COST_UNMAP_TWO] = "unmap, 2 readers",
		[KVP_COST_RELEASE] = "release",
	};
	uint64_t ns;
	size_t i;

	strbuf_printf(b, "\n%-38s %s\n", "call", "microseconds");
	for (i = 0; i < KVP_COSTS; i++) {
		ns = l->cost_ns[i];
		if (ns == KVP_NOT_TIMED)
			strbuf_printf(b, "%-38s %12s\n", what[i], "n/a");
		else
			strbuf_printf(b, "%-38s %10llu.%llu\n", what[i],
				      (ull)(ns / 1000),
				      (ull)(ns / 100 % 10));
	}
}

int probe_report(const struct kvp_limits *limits, int *exit,
		 struct kvp_error *err)
{
	struct strbuf b = { 0 };
	char *text;
	size_t len;
	int code;

	add_devices(&b, limits);
	add_peers(&b, limits);
	add_abilities(&b, limits);
	add_costs(&b, limits);
	strbuf_str(&b, "\nfree table entries on this node: ");
	if (limits->entries_counted)
		strbuf_printf(&b, "%s%s\n", limits->entries_exact ? "" :
			      "at least ", N(limits->entries_free));
	else
		strbuf_str(&b, "not counted\n");
	code = strbuf_detach(&b, &text, &len, err);
	if (!code)
		*exit = out_text(text, len);
	free(text);
	return code;
}
