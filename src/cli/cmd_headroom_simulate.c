/*
 * kvplan headroom simulate: a decode workload on a card on paper, to see
 * whether a cap saves it.
 */
#include <getopt.h>
#include <string.h>

#include "cli/simulate.h"

#define STEPS_MAX 1000000
#define TENSORS_MAX UINT64_C(20000000)
#define SIZES_MAX 4096

/* As many rows that are a multiple of --every are readable at once. */
#define ROWS 13

enum { FREE, STEP_BYTES, SIZES, LIVE_BYTES, STEPS, CAP, GROW, PREALLOCATE,
       EVERY, JSON, HELP, OPTS };

static const struct opt opts[OPTS] = {
	[FREE] = { 0, "free", "BYTES", false,
		   "what is free beside the KV cache, such as 262MiB" },
	[STEP_BYTES] = { 0, "step-bytes", "BYTES", false,
			 "of all tensors of a step (12.8MiB, reconstructed)" },
	[SIZES] = { 0, "sizes", "N", false,
		    "tensors of a step, all different (10, reconstructed)" },
	[LIVE_BYTES] = { 0, "live-bytes", "BYTES", false,
			 "what stays in use meanwhile (24MiB, "
			 "reconstructed)" },
	[STEPS] = { 0, "steps", "N", false, "at most 1,000,000 (256)" },
	[CAP] = { 0, "cap", "CAP", false,
		  "policy (default), BYTES, unbounded, or off: no cache" },
	[GROW] = { 0, "grow", NULL, false,
		   "tensors grow every step; no size is asked for twice" },
	[PREALLOCATE] = { 0, "preallocate", NULL, false,
			  "allocate the largest once, before step 1" },
	[EVERY] = { 0, "every", "N", false,
		    "print each N-th step (some 20 rows in all)" },
	[JSON] = { 0, "json", NULL, false, "print one JSON object" },
	[HELP] = OPT_HELP,
};

struct arguments {
	struct simulate_settings settings;
	bool free, step_bytes, live_bytes;	/* given */
	uint64_t sizes;				/* 0: not given */
};

static int set_cap(struct simulate_settings *s, const char *value)
{
	if (!strcmp(value, "policy"))
		s->cap = SIMULATE_POLICY;
	else if (!strcmp(value, "unbounded"))
		s->cap = SIMULATE_UNBOUNDED;
	else if (!strcmp(value, "off"))
		s->cap = SIMULATE_OFF;
	else if (*value < '0' || *value > '9')
		return out_usage_error("--cap=%s: must be policy, bytes such "
			"as 64MiB, unbounded or off", value);
	else
		s->cap = SIMULATE_STATED;
	if (s->cap == SIMULATE_STATED && opt_bytes("cap", value,
						   &s->cap_bytes))
		return KVP_EXIT_INPUT;
	/* Elsewhere 0 means no cap at all. */
	if (s->cap == SIMULATE_STATED && !s->cap_bytes)
		return out_usage_error("--cap=%s: say unbounded for no cap, "
				       "off for no cache", value);
	return KVP_EXIT_YES;
}

static int set(void *settings, int got, const char *value)
{
	struct arguments *a = settings;
	struct simulate_settings *s = &a->settings;

	switch (got) {
	case FREE:
		a->free = true;
		return opt_bytes("free", value, &s->free_bytes);
	case STEP_BYTES:
		a->step_bytes = true;
		return opt_bytes("step-bytes", value, &s->decode.step_bytes);
	case SIZES:
		return opt_number("sizes", value, 1, SIZES_MAX, &a->sizes);
	case LIVE_BYTES:
		a->live_bytes = true;
		return opt_bytes("live-bytes", value, &s->decode.live_bytes);
	case STEPS:
		return opt_number("steps", value, 1, STEPS_MAX,
				  &s->decode.steps);
	case CAP:
		return set_cap(s, value);
	case GROW:
		s->decode.grow = true;
		return KVP_EXIT_YES;
	case PREALLOCATE:
		s->decode.preallocate = true;
		return KVP_EXIT_YES;
	case EVERY:
		return opt_number("every", value, 1, STEPS_MAX, &s->every);
	case JSON:
		s->json = true;
		return KVP_EXIT_YES;
	default:
		return KVP_EXIT_INPUT;
	}
}

/* The smallest of 1, 2, 5, 10, 20 ... that leaves no more than ROWS. */
static uint64_t every_of(uint64_t steps)
{
	static const uint64_t digits[] = { 1, 2, 5 };
	uint64_t power = 1;
	size_t i = 0;

	while (steps / (digits[i] * power) > ROWS) {
		i = (i + 1) % 3;
		power *= i ? 1 : 10;
	}
	return digits[i] * power;
}

/* What was not given, and what the given may not be together. */
static int complete(struct arguments *a)
{
	struct simulate_settings *s = &a->settings;
	struct kvp_cap_override o = { 0 };
	int exit;

	if (!a->free)
		return out_usage_error("simulate needs to know what is free: "
				       "give --free=BYTES");
	s->reconstructed = !a->step_bytes || !a->sizes || !a->live_bytes;
	if (!a->step_bytes)
		s->decode.step_bytes = 13421772;	/* 12.8 MiB */
	if (!a->live_bytes)
		s->decode.live_bytes = UINT64_C(24) << 20;
	s->decode.sizes = a->sizes ? (uint32_t)a->sizes : 10;
	if (s->decode.steps * s->decode.sizes > TENSORS_MAX)
		return out_usage_error("--steps=%llu and --sizes=%llu: are "
			"%s tensors, at most %s can be simulated",
			(unsigned long long)s->decode.steps,
			(unsigned long long)s->decode.sizes,
			out_number(s->decode.steps * s->decode.sizes).text,
			out_number(TENSORS_MAX).text);
	if (!s->every)
		s->every = every_of(s->decode.steps);
	if (s->cap != SIMULATE_POLICY)
		return KVP_EXIT_YES;
	exit = override_load(&o, NULL);
	if (o.given) {
		s->cap = o.bounded ? SIMULATE_STATED : SIMULATE_UNBOUNDED;
		s->cap_bytes = o.bytes;
	}
	return exit;
}

static int run_workload(struct simulation *s, struct kvp_backend *b,
			struct kvp_decode_result *result,
			struct kvp_error *err)
{
	const struct simulate_settings *settings = s->settings;
	struct kvp_alloc_cache_options options = {
		.off = settings->cap == SIMULATE_OFF,
		.override = {
			.given = settings->cap == SIMULATE_STATED ||
				 settings->cap == SIMULATE_UNBOUNDED,
			.bounded = settings->cap == SIMULATE_STATED,
			.bytes = settings->cap_bytes,
		},
	};
	const struct kvp_cap cap = kvp_cap_plan(&settings->free_bytes,
						&options.override);
	struct kvp_alloc_cache *cache;
	int code = kvp_alloc_cache_new(&cache, b, &options, err), freed;

	if (!code && !options.off)
		cap_warn(&cap, settings->free_bytes);
	if (!code)
		code = kvp_decode_run(cache, b, 0, &settings->decode,
				      simulate_row, s, result, err);
	freed = kvp_alloc_cache_free(cache, code ? NULL : err);
	return code ? code : freed;
}

static int simulate(const struct simulate_settings *settings)
{
	struct simulation s = { .settings = settings };
	struct kvp_decode_result result = { 0 };
	struct kvp_backend *b;
	struct kvp_error err = { 0 };
	int code = kvp_backend_card(&b, settings->free_bytes, &err), exit;

	if (!code) {
		simulate_begin(&s);
		code = run_workload(&s, b, &result, &err);
	}
	kvp_backend_close(b);
	if (code) {
		strbuf_release(&s.text);
		return out_error(&err);
	}
	exit = simulate_end(&s, &result);
	return exit ? exit : result.exhausted ? KVP_EXIT_NO : KVP_EXIT_YES;
}

static int run(const struct command *self, int argc, char **argv)
{
	struct arguments a = { .settings = { .decode = { .steps = 256 } } };
	int exit;

	exit = opt_read(self, argc, argv, set, &a);
	if (exit != OPT_END)
		return exit;
	if (argc != optind)
		return out_usage_error("simulate takes no file, %d given; see "
			"kvplan headroom simulate --help", argc - optind);
	exit = complete(&a);
	return exit ? exit : simulate(&a.settings);
}

const struct command cmd_headroom_simulate = {
	.name = "headroom simulate",
	.usage = "--free=BYTES [--step-bytes=BYTES] [--sizes=N]\n"
		 "                                [--live-bytes=BYTES] "
		 "[--steps=N]\n"
		 "                                "
		 "[--cap=policy|BYTES|unbounded|off] [--grow]\n"
		 "                                [--preallocate] [--every=N] "
		 "[--json]",
	.summary = "run a decode workload on a card on paper",
	.text = "Every step asks an allocation cache for its tensors and puts "
		"them back.  Tells\nwhether the process lives, and what the "
		"cache held.  The defaults of the workload\nare "
		"reconstructed: fitted to published figures, not published "
		"themselves.\nKVPLAN_ALLOC_CACHE_MAX_MB, in MiB, takes the "
		"place of the policy's cap; 0 is none.",
	.opts = opts,
	.nopts = OPTS,
	.run = run,
};
