/*
 * kvplan headroom simulate: a decode workload on a simulated GPU, to see
 * whether the process survives under a cap.
 */
#include <getopt.h>
#include <string.h>

#include "cli/simulate.h"

#define STEPS_MAX 1000000
#define TENSORS_MAX UINT64_C(20000000)

/* Rows at multiples of --every if it is not given; more are hard to read. */
#define ROWS 13

enum { FREE, STEP_BYTES, SIZES, LIVE_BYTES, LIVE_GROWTH, STEPS, CAP, GROW,
       GROWTH, GRAIN, PREALLOCATE, EVERY, JSON, HELP, OPTS };

static const struct opt opts[OPTS] = {
	[FREE] = { 0, "free", "BYTES", false,
		   "bytes free beside the KV cache, such as 262MiB" },
	[STEP_BYTES] = { 0, "step-bytes", "BYTES", false,
			 "bytes of all tensors of a step (12.8MiB, "
			 "reconstructed)" },
	[SIZES] = { 0, "sizes", "N", false,
		    "tensors of a step (10, reconstructed)" },
	[LIVE_BYTES] = { 0, "live-bytes", "BYTES", false,
			 "bytes in use during all steps (24MiB, "
			 "reconstructed)" },
	[LIVE_GROWTH] = { 0, "live-growth", "BYTES", false,
			  "bytes that live memory grows by in each step (0)" },
	[STEPS] = { 0, "steps", "N", false,
		    "steps to run, at most 1,000,000 (256)" },
	[CAP] = { 0, "cap", "CAP", false,
		  "policy (default), BYTES, unbounded, or off: no cache" },
	[GROW] = { 0, "grow", NULL, false,
		   "tensors grow every step" },
	[GROWTH] = { 0, "growth", "BYTES", false,
		     "bytes a tensor grows by (16 times --sizes, assumed)" },
	[GRAIN] = { 0, "grain", "BYTES", false,
		    "round tensors up to a multiple of it (1)" },
	[PREALLOCATE] = { 0, "preallocate", NULL, false,
			  "allocate the tensors once, before step 1" },
	[EVERY] = { 0, "every", "N", false,
		    "print every N-th step (about 20 rows in all)" },
	[JSON] = { 0, "json", NULL, false, "print one JSON object" },
	[HELP] = OPT_HELP,
};

struct arguments {
	struct simulate_settings settings;
	bool given[OPTS];
	uint64_t sizes;
};

/* Store an option that is a number of bytes. */
static int set_bytes(struct arguments *a, int got, const char *value)
{
	struct simulate_settings *s = &a->settings;
	uint64_t *const bytes[OPTS] = {
		[FREE] = &s->free_bytes,
		[STEP_BYTES] = &s->decode.step_bytes,
		[LIVE_BYTES] = &s->decode.live_bytes,
		[LIVE_GROWTH] = &s->decode.live_growth_bytes,
		[GROWTH] = &s->decode.growth_bytes,
		[GRAIN] = &s->decode.grain_bytes,
	};
	int exit;

	if (got < 0 || !bytes[got])
		return KVP_EXIT_INPUT;
	exit = opt_bytes(opts[got].name, value, bytes[got]);
	if (!exit && (got == GROWTH || got == GRAIN) && !*bytes[got])
		return out_usage_error("--%s=%s: must be at least 1 byte; "
			"leave it out for the default", opts[got].name, value);
	return exit;
}

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
	/* In the environment 0 means no cap; refuse it here. */
	if (s->cap == SIMULATE_STATED && !s->cap_bytes)
		return out_usage_error("--cap=%s: give unbounded for no cap, "
				       "off for no cache", value);
	return KVP_EXIT_YES;
}

static int set_option(void *settings, int got, const char *value)
{
	struct arguments *a = settings;
	struct simulate_settings *s = &a->settings;

	a->given[got] = true;
	switch (got) {
	case SIZES:
		return opt_number("sizes", value, 1, KVP_DECODE_SIZES_MAX,
				  &a->sizes);
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
		return set_bytes(a, got, value);
	}
}

/* The smallest of 1, 2, 5, 10, 20 ... that leaves no more than ROWS. */
static uint64_t choose_every(uint64_t steps)
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

/* Fill in the workload's defaults. */
static void complete_workload(struct arguments *a)
{
	struct simulate_settings *s = &a->settings;
	struct kvp_decode *d = &s->decode;

	s->reconstructed = !a->given[STEP_BYTES] || !a->given[SIZES] ||
			   !a->given[LIVE_BYTES];
	if (!a->given[STEP_BYTES])
		d->step_bytes = 13421772;	/* 12.8 MiB */
	if (!a->given[LIVE_BYTES])
		d->live_bytes = UINT64_C(24) << 20;
	d->sizes = a->given[SIZES] ? (uint32_t)a->sizes : 10;
	s->assumed = !a->given[GROWTH];
	if (s->assumed)
		d->growth_bytes = (uint64_t)KVP_DECODE_GROWTH_BYTES * d->sizes;
}

/* Fill in defaults and refuse options that do not go together. */
static int complete_arguments(struct arguments *a)
{
	struct simulate_settings *s = &a->settings;
	struct kvp_cap_override o = { 0 };
	int exit;

	if (!a->given[FREE])
		return out_usage_error("the free bytes are not known: give "
				       "--free=BYTES");
	if (a->given[GROWTH] && !s->decode.grow)
		return out_usage_error("--growth has no effect without "
				       "--grow; give both");
	complete_workload(a);
	if (s->decode.steps * s->decode.sizes > TENSORS_MAX)
		return out_usage_error("--steps=%llu and --sizes=%llu make "
			"%s tensors, at most %s can be simulated",
			(ull)s->decode.steps,
			(ull)s->decode.sizes,
			out_number(s->decode.steps * s->decode.sizes).text,
			out_number(TENSORS_MAX).text);
	if (!s->every)
		s->every = choose_every(s->decode.steps);
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

static int print_simulation(const struct simulate_settings *settings)
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
	if (code == KVP_ELIMIT)
		kvp_error_wrap(&err, code, "--steps, --sizes, --free and "
			       "--cap");
	if (code) {
		strbuf_release(&s.out.text);
		return out_error(&err);
	}
	exit = simulate_end(&s, &result);
	return exit ? exit : result.exhausted ? KVP_EXIT_NO : KVP_EXIT_YES;
}

static int run_simulate(const struct command *self, int argc, char **argv)
{
	struct arguments a = { .settings = { .decode = { .steps = 256 } } };
	int exit;

	exit = opt_read(self, argc, argv, set_option, &a);
	if (exit != OPT_END)
		return exit;
	if (argc != optind)
		return out_usage_error("simulate takes no file, %d given; see "
			"kvplan headroom simulate --help", argc - optind);
	exit = complete_arguments(&a);
	return exit ? exit : print_simulation(&a.settings);
}

const struct command cmd_headroom_simulate = {
	.name = "headroom simulate",
	.usage = "--free=BYTES [--step-bytes=BYTES] [--sizes=N]\n"
		 "                                [--live-bytes=BYTES] "
		 "[--live-growth=BYTES]\n"
		 "                                [--steps=N] "
		 "[--cap=policy|BYTES|unbounded|off]\n"
		 "                                [--grow "
		 "[--growth=BYTES]] [--grain=BYTES]\n"
		 "                                [--preallocate] [--every=N] "
		 "[--json]",
	.summary = "simulate a decode workload under a cap",
	.text = "Every step allocates its tensors from an allocation cache and "
		"frees them.  Prints\nwhether the process survives and what "
		"the cache held.  The defaults of the workload\nare "
		"reconstructed: fitted to published figures, not published "
		"themselves; the\ndefault growth is assumed.\n"
		"KVPLAN_ALLOC_CACHE_MAX_MB in the environment is used, not "
		"the policy's cap; it is\nin MiB, and 0 is no cap.",
	.opts = opts,
	.nopts = OPTS,
	.run = run_simulate,
};
