/*
 * Verifying: the table of rules, running them, the verdict.  Uses the model
 * and the checker's own files, nothing of the planner.
 */
#include <assert.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "check/check.h"
#include "model/fingerprint.h"

struct kvp_verdict {
	struct kvp_finding *findings;
	size_t nfindings;
	struct kvp_summary summary;
	uint64_t fingerprint;	/* of the plan it was reached for */
	bool ok;
};

#define BIT(name) (1u << KVP_RULE_##name)

/* Rules that a plan may break and still be realized; see verify.h. */
#define ADVISORY (BIT(ENTRY_LIMIT) | BIT(BOUND) | BIT(HEADROOM) | \
		  BIT(ADDRESS_SPACE))

struct rule {
	const char *name;
	const char *statement;
	unsigned needs;		/* rules that must hold for this one */
	enum kvp_severity severity;
	int (*fn)(struct check *c);
};

/*
 * In the order of enum kvp_rule; a rule needs only earlier ones.  Needs also
 * see to it that one defect is reported by one rule: a missing chunk changes
 * coverage, bytes, entries and bound, and is reported once.
 */
static const struct rule rules[] = {
	{ "alignment",
	  "every offset, length and arena address is a multiple of the "
	  "granularity",
	  0, KVP_ERROR, check_rule_alignment },
	{ "plane-coverage",
	  "every plane's [0, backing) is tiled exactly once",
	  BIT(ALIGNMENT), KVP_ERROR, check_rule_plane_coverage },
	{ "arena-coverage",
	  "the aliased part of the arena is tiled exactly once",
	  BIT(PLANE_COVERAGE), KVP_ERROR, check_rule_arena_coverage },
	{ "physical-bytes",
	  "the total of bytes equals the base layout's",
	  BIT(PLANE_COVERAGE), KVP_ERROR, check_rule_physical_bytes },
	{ "addresses",
	  "planes, pages and rows lie where the geometry says",
	  BIT(ARENA_COVERAGE), KVP_ERROR, check_rule_addresses },
	{ "conflicts",
	  "every snapshot row has exactly the base layout's conflicting pages",
	  BIT(ARENA_COVERAGE), KVP_ERROR, check_rule_conflicts },
	{ "permutation",
	  "cut back into base tiles, the arena holds what the base layout "
	  "allows",
	  BIT(CONFLICTS), KVP_ERROR, check_rule_permutation },
	{ "merge",
	  "every merged chunk obeys the plan's mode",
	  BIT(PERMUTATION), KVP_ERROR, check_rule_merge },
	{ "rows",
	  "the plan's rows state the base layout's conflicting pages",
	  BIT(ARENA_COVERAGE), KVP_ERROR, check_rule_rows },
	{ "capacity",
	  "tokens are the geometry's pages, page tokens and group size",
	  BIT(PLANE_COVERAGE), KVP_ERROR, check_rule_capacity },
	{ "access",
	  "the readers of every rank are the owner and its real importers",
	  0, KVP_ERROR, check_rule_access },
	{ "entries",
	  "the stated table entries are right",
	  BIT(MERGE) | BIT(ACCESS), KVP_ERROR, check_rule_entries },
	{ "entry-limit",
	  "on every node the table entries fit the limit less the reserve",
	  BIT(ARENA_COVERAGE), KVP_ERROR, check_rule_entry_limit },
	{ "bound",
	  "the stated lower bound is right and the plan is not below it",
	  BIT(MERGE), KVP_ERROR, check_rule_bound },
	{ "headroom",
	  "a stated cache cap can be reached before memory runs out: it is at "
	  "most half of what is free",
	  0, KVP_ERROR, check_rule_headroom },
	{ "address-space",
	  "planes, arena and recorded addresses end within the 2^47 - 4096 "
	  "bytes that GPUs have addresses for",
	  0, KVP_WARNING, check_rule_address_space },
};

_Static_assert(sizeof(rules) / sizeof(rules[0]) == KVP_RULES,
	       "every rule has its line");

const char *kvp_rule_name(enum kvp_rule rule)
{
	return (unsigned)rule < KVP_RULES ? rules[rule].name : "?";
}

const char *kvp_rule_statement(enum kvp_rule rule)
{
	return (unsigned)rule < KVP_RULES ? rules[rule].statement : "?";
}

bool kvp_rule_is_advisory(enum kvp_rule rule)
{
	return (unsigned)rule < KVP_RULES && ADVISORY >> rule & 1;
}

int kvp_rule_find(const char *name, enum kvp_rule *rule)
{
	unsigned i;

	assert(name && rule);
	for (i = 0; i < KVP_RULES; i++)
		if (!strcmp(rules[i].name, name)) {
			*rule = (enum kvp_rule)i;
			return KVP_OK;
		}
	return KVP_EINPUT;
}

void kvp_verify_options_init(struct kvp_verify_options *options)
{
	unsigned i;

	assert(options);
	for (i = 0; i < KVP_RULES; i++)
		options->severity[i] = rules[i].severity;
	options->limits = NULL;
}

void check_report(struct check *c, enum kvp_place place, uint64_t index,
		  const char *what, uint64_t stated, uint64_t expected)
{
	check_report_limit(c, place, index, what, stated, KVP_EXACTLY,
			   expected);
}

void check_report_limit(struct check *c, enum kvp_place place, uint64_t index,
			const char *what, uint64_t stated,
			enum kvp_relation relation, uint64_t expected)
{
	struct kvp_finding *f;
	size_t room;

	assert(what && (unsigned)c->rule < KVP_RULES);
	if (c->nfindings == c->room) {
		room = c->room ? c->room * 2 : 16;
		f = realloc(c->findings, room * sizeof(*f));
		if (!f) {
			c->no_memory = true;
			return;
		}
		c->findings = f;
		c->room = room;
	}
	f = &c->findings[c->nfindings++];
	f->rule = c->rule;
	f->severity = c->severity;
	f->place = place;
	f->index = index;
	f->what = what;
	f->stated = stated;
	f->expected = expected;
	f->relation = relation;
}

static uint64_t count_bits(unsigned bits)
{
	uint64_t n = 0;

	for (; bits; bits &= bits - 1)
		n++;
	return n;
}

/*
 * Run every rule whose needs hold.  A rule that is not run counts as failed.
 * If the failed rules that it needs gave warnings only, it reports, with its
 * own severity, that it is not judged.
 */
static int run_rules(struct check *c, const struct kvp_verify_options *options)
{
	unsigned failed = 0, errors = 0, missing, i;
	size_t before;
	int code;

	for (i = 0; i < KVP_RULES; i++) {
		c->rule = (enum kvp_rule)i;
		c->severity = options->severity[i];
		before = c->nfindings;
		missing = rules[i].needs & failed;
		assert(!(rules[i].needs >> i));
		if (!missing) {
			code = rules[i].fn(c);
			if (code)
				return code;
		} else if (missing & errors) {
			errors |= 1u << i;
		} else {
			check_report(c, KVP_AT_PLAN, 0,
				     "is not judged: failed rules it needs",
				     count_bits(missing), 0);
		}
		if (c->no_memory)
			return KVP_ENOMEM;
		if (missing || c->nfindings > before)
			failed |= 1u << i;
		if (c->nfindings > before && c->severity == KVP_ERROR)
			errors |= 1u << i;
	}
	return KVP_OK;
}

static int check_severities(const struct kvp_verify_options *options,
			    struct kvp_error *err)
{
	unsigned i;

	for (i = 0; i < KVP_RULES; i++)
		if ((unsigned)options->severity[i] > KVP_WARNING)
			return kvp_error_set(err, KVP_EINPUT, "the severity "
				"of rule %s is %d, which is no severity",
				rules[i].name, (int)options->severity[i]);
	return KVP_OK;
}

static int open_check(struct check *c, const struct kvp_plan *plan,
		      struct kvp_error *err)
{
	size_t n = plan->nchunks, i;
	int code;

	c->plan = plan;
	c->geometry = &plan->geometry;
	code = check_geometry_sound(plan, err);
	if (code)
		return code;
	if (n >= UINT32_MAX)
		return kvp_error_set(err, KVP_ELIMIT, "%zu chunks, must be "
				     "fewer than %" PRIu32, n, UINT32_MAX);
	code = check_base_make(&c->base, c->geometry, err);
	if (code)
		return code;
	for (i = 0; i < n; i++)
		c->naliased += plan->chunks[i].arena != KVP_UNALIASED;
	code = check_order_make(&c->order, plan->chunks, n,
				c->geometry->nplanes, err);
	if (code)
		return code;
	c->base_first = calloc(n + 1, sizeof(*c->base_first));
	c->base_count = calloc(n + 1, sizeof(*c->base_count));
	if (!c->base_first || !c->base_count)
		return kvp_error_nomem(err);
	return check_make_expected(c, err);
}

static void close_check(struct check *c)
{
	check_base_release(&c->base);
	check_order_release(&c->order);
	check_summary_release(&c->expected);
	free(c->readers);
	free(c->reader_pool);
	free(c->base_first);
	free(c->base_count);
	free(c->findings);
}

/* Sort findings by rule, kind of place and index, then as reported. */
static bool sort_findings(struct check *c)
{
	struct check_keys keys = { 0 };
	struct kvp_finding *sorted;
	bool ok = false;
	size_t i;

	sorted = malloc((c->nfindings + 1) * sizeof(*sorted));
	if (!sorted)
		return false;
	for (i = 0; i < c->nfindings; i++) {
		const struct kvp_finding *f = &c->findings[i];

		if (!check_keys_add(&keys,
				    (uint64_t)f->rule << 8 | f->place,
				    f->index, i))
			goto done;
	}
	if (!check_keys_sort(&keys))
		goto done;
	assert(keys.count == c->nfindings);
	for (i = 0; i < c->nfindings; i++)
		sorted[i] = c->findings[keys.key[i].c];
	free(c->findings);
	c->findings = sorted;
	sorted = NULL;
	ok = true;
done:
	free(sorted);
	check_keys_release(&keys);
	return ok;
}

/* Move the findings and the expected summary into a verdict. */
static struct kvp_verdict *make_verdict(struct check *c)
{
	struct kvp_verdict *v;
	size_t i;

	assert(!c->no_memory);
	if (!sort_findings(c))
		return NULL;
	v = calloc(1, sizeof(*v));
	if (!v)
		return NULL;
	v->fingerprint = plan_fingerprint(c->plan);
	v->ok = true;
	for (i = 0; i < c->nfindings; i++)
		v->ok = v->ok && c->findings[i].severity != KVP_ERROR;
	v->findings = c->findings;
	v->nfindings = c->nfindings;
	v->summary = c->expected;
	c->findings = NULL;
	memset(&c->expected, 0, sizeof(c->expected));
	return v;
}

int kvp_verify(const struct kvp_plan *plan,
	       const struct kvp_verify_options *options,
	       struct kvp_verdict **verdict, struct kvp_error *err)
{
	struct kvp_verify_options defaults;
	struct check c = { 0 };
	int code;

	assert(plan && verdict);
	*verdict = NULL;
	kvp_verify_options_init(&defaults);
	if (!options)
		options = &defaults;
	code = check_severities(options, err);
	if (!code)
		code = open_check(&c, plan, err);
	if (code)
		goto done;
	c.limit = kvp_limits_entry_limit(options->limits, c.geometry) -
		  c.geometry->entry_reserve;
	code = run_rules(&c, options);
	if (!code) {
		*verdict = make_verdict(&c);
		code = *verdict ? KVP_OK : KVP_ENOMEM;
	}
	if (code)
		kvp_error_nomem(err);
done:
	close_check(&c);
	return code;
}

bool kvp_verdict_ok(const struct kvp_verdict *verdict)
{
	assert(verdict);
	return verdict->ok;
}

bool kvp_verdict_is_realizable(const struct kvp_verdict *verdict)
{
	return !kvp_verdict_obstacle(verdict, NULL);
}

const struct kvp_finding *
kvp_verdict_obstacle(const struct kvp_verdict *verdict,
		     const struct kvp_finding *after)
{
	size_t i = after ? (size_t)(after - verdict->findings) + 1 : 0;

	for (; i < verdict->nfindings; i++) {
		const struct kvp_finding *f = &verdict->findings[i];

		if (f->severity == KVP_ERROR || !kvp_rule_is_advisory(f->rule))
			return f;
	}
	return NULL;
}

bool kvp_verdict_is_for(const struct kvp_verdict *verdict,
			const struct kvp_plan *plan)
{
	assert(verdict && plan);
	return verdict->fingerprint == plan_fingerprint(plan);
}

const struct kvp_finding *
kvp_verdict_findings(const struct kvp_verdict *verdict, size_t *count)
{
	assert(verdict && count);
	*count = verdict->nfindings;
	return verdict->findings;
}

const struct kvp_summary *kvp_verdict_summary(const struct kvp_verdict *verdict)
{
	assert(verdict);
	return &verdict->summary;
}

void kvp_verdict_free(struct kvp_verdict *verdict)
{
	if (!verdict)
		return;
	free(verdict->findings);
	check_summary_release(&verdict->summary);
	free(verdict);
}
