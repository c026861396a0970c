/*
 * kvplan headroom: the cap of an allocation cache beside the KV cache, the
 * term that set it, and the bytes that stay free.
 */
#include <getopt.h>
#include <stdlib.h>
#include <string.h>

#include "base/json_tree.h"
#include "cli/gpus.h"

#define N(value) out_number(value).text

enum { FREE, GPUS, OVERRIDE, JSON, HELP, OPTS };

static const struct opt opts[OPTS] = {
	[FREE] = { 0, "free", "BYTES", false,
		   "free bytes, such as 262MiB" },
	[GPUS] = { 0, "gpus", "LIST", true,
		   "read the free bytes of GPUs, such as 0,1; of all "
		   "without LIST" },
	[OVERRIDE] = { 0, "override", "MIB", false,
		       "use this cap in MiB, not the policy's; 0: no cap" },
	[JSON] = { 0, "json", NULL, false, "print one JSON object" },
	[HELP] = OPT_HELP,
};

struct settings {
	bool given;		/* --free */
	uint64_t free_bytes;
	bool gpus;
	uint32_t gpu[KVP_RANKS_MAX];
	size_t ngpus;		/* 0: all visible ones */
	const char *override;
	bool json;
};

/* What the report is made of. */
struct headroom {
	const uint64_t *free_bytes;	/* NULL: not known */
	struct kvp_cap cap;
	struct gpu_reading *readings;
	size_t nreadings;
	size_t least;		/* index of the reading with the least free */
};

static int write_json(const struct headroom *h, char **text, size_t *len,
		      struct kvp_error *err)
{
	struct json_tree t = { .root = NULL };
	bool known = h->free_bytes;
	size_t i;

	json_tree_object(&t, NULL, JSON_LINES);
	json_tree_text(&t, "format", "kvplan/headroom/1");
	json_tree_u64_or_null(&t, "free_bytes", known,
			      known ? *h->free_bytes : 0);
	json_tree_u64_or_null(&t, "cap_bytes", h->cap.bounded, h->cap.bytes);
	json_tree_text(&t, "term", kvp_cap_term_name(h->cap.term));
	json_tree_u64_or_null(&t, "left_bytes", known, known ?
			      kvp_cap_left(&h->cap, *h->free_bytes) : 0);
	if (h->nreadings)
		json_tree_list(&t, "gpus", JSON_LINES);
	for (i = 0; i < h->nreadings; i++) {
		json_tree_object(&t, NULL, JSON_INLINE);
		json_tree_text(&t, "label", h->readings[i].info.label);
		json_tree_text(&t, "uuid", h->readings[i].info.uuid);
		json_tree_u64(&t, "free_bytes", h->readings[i].free_bytes);
		json_tree_end(&t);
	}
	if (h->nreadings)
		json_tree_end(&t);
	json_tree_end(&t);
	return json_tree_finish(&t, text, len, err);
}

static const char *describe_term(enum kvp_cap_term term)
{
	static const char *const words[] = {
		[KVP_CAP_HALF] = "half of the free bytes",
		[KVP_CAP_FLOOR] = "the floor, 64 MiB",
		[KVP_CAP_EIGHTH] = "an eighth of the free bytes",
		[KVP_CAP_CEILING] = "the ceiling, 1 GiB",
		[KVP_CAP_NO_READING] =
			"free memory is not known; give --free or --gpus",
		[KVP_CAP_OVERRIDE] = "the override",
	};

	return words[term];
}

static void write_text(struct strbuf *b, const struct headroom *h)
{
	size_t i;

	for (i = 0; i < h->nreadings && h->nreadings > 1; i++)
		strbuf_printf(b, "%-11s%s bytes free%s\n",
			      h->readings[i].info.label,
			      N(h->readings[i].free_bytes),
			      i == h->least ? ", the least" : "");
	if (h->free_bytes)
		strbuf_printf(b, "free       %s bytes\n", N(*h->free_bytes));
	else
		strbuf_str(b, "free       not known\n");
	if (h->cap.bounded)
		strbuf_printf(b, "cap        %s bytes: ", N(h->cap.bytes));
	else
		strbuf_str(b, "cap        none: ");
	strbuf_printf(b, "%s\n", describe_term(h->cap.term));
	if (!h->free_bytes)
		return;
	if (h->cap.bounded && h->cap.bytes < *h->free_bytes)
		strbuf_printf(b, "left       %s bytes when the cache is full\n",
			      N(kvp_cap_left(&h->cap, *h->free_bytes)));
	else
		strbuf_str(b, *h->free_bytes ? "left       nothing: memory "
			   "runs out before the cache is full\n" :
			   "left       nothing\n");
}

static int print_headroom(const struct headroom *h, bool json)
{
	struct strbuf b = { 0 };
	struct kvp_error err = { 0 };
	char *text = NULL;
	size_t len;
	int exit, code;

	if (json) {
		code = write_json(h, &text, &len, &err);
	} else {
		write_text(&b, h);
		code = strbuf_detach(&b, &text, &len, &err);
	}
	exit = code ? out_error(&err) : out_text(text, len);
	free(text);
	return exit;
}

static int plan_cap(const struct settings *s)
{
	struct kvp_cap_override override;
	struct headroom h = { .free_bytes = NULL };
	struct kvp_error err = { 0 };
	size_t i;
	int exit = override_load(&override, s->override);

	if (exit)
		return exit;
	if (s->gpus && gpus_read(&h.readings, &h.nreadings, s->ngpus ?
				 s->gpu : NULL, s->ngpus, &err))
		return out_error(&err);
	for (i = 1; i < h.nreadings; i++)
		if (h.readings[i].free_bytes < h.readings[h.least].free_bytes)
			h.least = i;
	if (s->gpus)
		h.free_bytes = &h.readings[h.least].free_bytes;
	else if (s->given)
		h.free_bytes = &s->free_bytes;
	h.cap = kvp_cap_plan(h.free_bytes, &override);
	exit = print_headroom(&h, s->json);
	if (!exit && h.free_bytes)
		cap_warn(&h.cap, *h.free_bytes);
	free(h.readings);
	return exit;
}

static int set_option(void *settings, int got, const char *value)
{
	struct settings *s = settings;

	switch (got) {
	case FREE:
		s->given = true;
		return opt_bytes("free", value, &s->free_bytes);
	case GPUS:
		s->gpus = true;
		return opt_gpus(value, s->gpu, &s->ngpus);
	case OVERRIDE:
		s->override = value;
		return KVP_EXIT_YES;
	case JSON:
		s->json = true;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

static int run_headroom(const struct command *self, int argc, char **argv)
{
	struct settings s = { .given = false };
	int exit;

	if (argc > 1 && !strcmp(argv[1], "simulate"))
		return self->sub->run(self->sub, argc - 1, argv + 1);
	exit = opt_read(self, argc, argv, set_option, &s);
	if (exit != OPT_END)
		return exit;
	if (argc != optind)
		return out_usage_error("headroom takes no file, but '%s' is "
			"given; write a value of --gpus after '='; see kvplan "
			"headroom --help", argv[optind]);
	if (s.given && s.gpus)
		return out_usage_error("--free and --gpus contradict; give "
				       "one of them");
	return plan_cap(&s);
}

const struct command cmd_headroom = {
	.name = "headroom",
	.usage = "[--free=BYTES | --gpus[=LIST]] [--override=MIB] [--json]",
	.summary = "compute the cap of an allocation cache",
	.text = "Computes how many bytes a cache of freed allocations may hold "
		"so that it evicts\nbefore memory runs out: min(1 GiB, "
		"free/2, max(64 MiB, free/8)).  Prints which\nterm set the "
		"cap.  KVPLAN_ALLOC_CACHE_MAX_MB in the environment sets the "
		"cap, too,\nin MiB.  kvplan headroom simulate runs a workload "
		"under a cap.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_headroom,
	.sub = &cmd_headroom_simulate,
};
