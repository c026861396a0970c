/*
 * Realizing: the steps of a realization, each of them for all ranks.  All
 * that was acquired is in the undo log; a failure and giving back undo it in
 * the same way.
 */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "realize/alias_check.h"
#include "realize/realization.h"

static const char *const state_names[] = {
	[KVP_IDLE] = "IDLE", [KVP_RESERVED] = "RESERVED",
	[KVP_CREATED] = "CREATED", [KVP_MAPPED] = "MAPPED",
	[KVP_GRANTED] = "GRANTED", [KVP_CHECKED] = "CHECKED",
	[KVP_PUBLISHED] = "PUBLISHED", [KVP_UNWOUND] = "UNWOUND",
	[KVP_IN_DOUBT] = "IN_DOUBT",
};

const char *kvp_state_name(enum kvp_state state)
{
	return (unsigned)state <= KVP_IN_DOUBT ? state_names[state] : "?";
}

static void set_stage(struct kvp_realization *r, const struct rank *k,
		      enum kvp_state state)
{
	r->stage.rank = k->rank;
	r->stage.state = state;
}

static void set_state(struct kvp_realization *r, struct rank *k,
		      enum kvp_state state)
{
	k->state = state;
	report_state(r, k->rank, state);
}

/*
 * Write the grants of a static item: to the owner and to the importers
 * realized here.  grants has room for every rank; returns how many there are.
 */
static size_t static_grants(const struct kvp_realization *r,
			    const struct rank *k,
			    enum kvp_static_importers importers,
			    struct kvp_grant *grants)
{
	size_t count = 0;
	uint32_t i;

	grants[count++] = (struct kvp_grant){ k->device, KVP_READWRITE };
	for (i = 0; i < r->nranks; i++)
		if (&r->ranks[i] != k &&
		    static_is_importer(geometry_of(r), k->rank,
				       r->ranks[i].rank, importers))
			grants[count++] = (struct kvp_grant){
				r->ranks[i].device, importer_flags(r) };
	return count;
}

/* Reserve, create, map and grant one item of static storage. */
static int realize_static(struct kvp_realization *r, struct rank *k,
			  size_t item, struct kvp_grant *grants,
			  struct kvp_error *err)
{
	const struct kvp_static *s = &geometry_of(r)->statics[item];
	uint64_t bytes = required_static_bytes(r, item), address = 0;
	struct memory *memory = &k->statics[item];
	struct mapping m;
	size_t count = static_grants(r, k, s->importers, grants);
	int code = acquire_addresses(r, k, bytes, 0, &address, err);

	if (!code)
		code = acquire_memory(r, k, bytes, memory, err);
	if (!code)
		code = acquire_mapping(r, k, &m, address, bytes, memory, err);
	if (!code)
		code = grant_mapping(r, &m, grants, count, err);
	return code ? add_rank_context(r, k, s->name, code, err) : KVP_OK;
}

static int step_statics(struct kvp_realization *r, struct rank *k,
			struct kvp_error *err)
{
	struct kvp_grant *grants = malloc(r->nranks * sizeof(*grants));
	size_t item;
	int code = grants ? KVP_OK : kvp_error_nomem(err);

	for (item = 0; item < geometry_of(r)->nstatics && !code; item++)
		code = realize_static(r, k, item, grants, err);
	free(grants);
	return code;
}

/* Reserve the planes and the arena that have a recorded address, or those
   that have none. */
static int reserve(struct kvp_realization *r, struct rank *k, bool recorded,
		   struct kvp_error *err)
{
	const struct kvp_geometry *g = geometry_of(r);
	uint64_t wanted;
	uint32_t i;
	int code = KVP_OK;

	for (i = 0; i < g->nplanes && !code; i++) {
		wanted = recorded_plane(r, k, i);
		if (!wanted == recorded)
			continue;
		code = acquire_addresses(r, k, required_plane_bytes(r, i),
					 wanted, &k->planes[i], err);
		if (code)
			code = add_rank_context(r, k, g->planes[i].name, code,
						err);
	}
	wanted = recorded_arena(r, k);
	if (!code && k->arena_bytes && !wanted == !recorded) {
		code = acquire_addresses(r, k, k->arena_bytes, wanted,
					 &k->arena, err);
		if (code)
			code = add_rank_context(r, k, "the row arena", code,
						err);
	}
	return code;
}

static int step_recorded(struct kvp_realization *r, struct rank *k,
			 struct kvp_error *err)
{
	return reserve(r, k, true, err);
}

static int step_reserve(struct kvp_realization *r, struct rank *k,
			struct kvp_error *err)
{
	return reserve(r, k, false, err);
}

static int step_create(struct kvp_realization *r, struct rank *k,
		       struct kvp_error *err)
{
	const struct kvp_plan *plan = r->plan;
	size_t i;
	int code;

	for (i = 0; i < plan->nchunks; i++) {
		code = acquire_memory(r, k, plan->chunks[i].bytes,
				      &k->memory[i], err);
		if (code)
			return add_chunk_context(r, k, i, "plane", code, err);
	}
	if (!plan->dedicated_bytes)
		return KVP_OK;
	code = acquire_memory(r, k, plan->dedicated_bytes, &k->memory[i], err);
	return code ? add_rank_context(r, k, "dedicated backing", code, err) :
		      KVP_OK;
}

static int map_planes(struct kvp_realization *r, struct rank *k,
		      struct kvp_error *err)
{
	const struct kvp_chunk *c;
	size_t i, chunk;
	int code;

	for (i = 0; i < r->plan->nchunks; i++) {
		chunk = r->order[i];
		c = &r->plan->chunks[chunk];
		code = acquire_mapping(r, k, &k->mappings[k->nmappings],
				       k->planes[c->plane] + c->offset,
				       c->bytes, &k->memory[chunk], err);
		if (code)
			return add_chunk_context(r, k, chunk, "plane", code,
						 err);
		k->nmappings++;
	}
	return KVP_OK;
}

static int map_arena(struct kvp_realization *r, struct rank *k,
		     struct kvp_error *err)
{
	const struct kvp_plan *plan = r->plan;
	const struct kvp_chunk *c = plan->chunks;
	size_t i;
	int code;

	for (i = 0; i < plan->nchunks && c[i].arena != KVP_UNALIASED; i++) {
		code = acquire_mapping(r, k, &k->mappings[k->nmappings],
				       k->arena + c[i].arena, c[i].bytes,
				       &k->memory[i], err);
		if (code)
			return add_chunk_context(r, k, i, "arena", code, err);
		k->nmappings++;
	}
	if (!plan->dedicated_bytes)
		return KVP_OK;
	code = acquire_mapping(r, k, &k->mappings[k->nmappings], k->arena,
			       plan->dedicated_bytes,
			       &k->memory[plan->nchunks], err);
	if (code)
		return add_rank_context(r, k, "dedicated backing", code, err);
	k->nmappings++;
	return KVP_OK;
}

static int step_map(struct kvp_realization *r, struct rank *k,
		    struct kvp_error *err)
{
	int code = map_planes(r, k, err);

	return code ? code : map_arena(r, k, err);
}

static int step_grant(struct kvp_realization *r, struct rank *k,
		      struct kvp_error *err)
{
	return grant_rank(r, (uint32_t)(k - r->ranks), err);
}

static int step_check(struct kvp_realization *r, struct rank *k,
		      struct kvp_error *err)
{
	const struct check_rank rank = {
		.rank = k->rank, .device = k->device, .planes = k->planes,
		.arena = k->arena, .readers = k->devices + 1,
		.nreaders = k->nreaders - 1,
	};
	int code;

	r->stage.checking = true;
	code = alias_check(backend_of(r), r->plan, &rank, r->options.check,
			   err);
	r->stage.checking = false;
	return code && code != KVP_EFAILED ?
		add_rank_context(r, k, "checking", code, err) : code;
}

/* Read the free memory that is left for allocation caches. */
static int step_headroom(struct kvp_realization *r, struct rank *k,
			 struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	int code = b->device.memory(b, k->device, &k->left, err);

	return code ? add_rank_context(r, k, "headroom", code, err) : KVP_OK;
}

struct step {
	int (*run)(struct kvp_realization *r, struct rank *k,
		   struct kvp_error *err);
	enum kvp_state state;	/* that events report during the step */
	bool reaches;		/* a rank has that state after the step */
};

/*
 * Recorded addresses are reserved first, so that no range that may lie
 * anywhere takes them.  Static storage is granted before the planes: it takes
 * table entries, so an error there is explained like one at the planes.
 */
static const struct step steps[] = {
	{ step_recorded, KVP_RESERVED, false },
	{ step_statics, KVP_GRANTED, false },
	{ step_reserve, KVP_RESERVED, true },
	{ step_create, KVP_CREATED, true },
	{ step_map, KVP_MAPPED, true },
	{ step_grant, KVP_GRANTED, true },
	{ step_check, KVP_CHECKED, true },
};
#define STEPS (sizeof(steps) / sizeof(*steps))

/* Run one step for all ranks, before any rank runs the next. */
static int run_step(struct kvp_realization *r, const struct step *step,
		    struct kvp_error *err)
{
	uint32_t i;
	int code = KVP_OK;

	for (i = 0; i < r->nranks && !code; i++) {
		set_stage(r, &r->ranks[i], step->state);
		code = step->run(r, &r->ranks[i], err);
		if (!code && step->reaches)
			set_state(r, &r->ranks[i], step->state);
	}
	return code;
}

static const struct step headroom = { step_headroom, KVP_PUBLISHED, false };

/* Run all steps but headroom. */
static int acquire(struct kvp_realization *r, struct kvp_error *err)
{
	bool check = r->options.check != KVP_CHECK_NONE;
	uint32_t i;
	int code = KVP_OK;

	for (i = 0; i < STEPS && !code; i++)
		if (check || steps[i].state != KVP_CHECKED)
			code = run_step(r, &steps[i], err);
	return code;
}

int realization_read_headroom(struct kvp_realization *r, struct kvp_error *err)
{
	return run_step(r, &headroom, err);
}

void realization_set_state(struct kvp_realization *r, enum kvp_state state)
{
	uint32_t i;

	for (i = 0; i < r->nranks; i++)
		set_state(r, &r->ranks[i], state);
}

int realization_unwind(struct kvp_realization *r, int code,
		       struct kvp_error *err)
{
	struct kvp_error stuck = { 0 };
	char cause[KVP_ERROR_MAX];
	size_t room;
	int undone;

	r->stage.undo = true;
	undone = undo_all(&r->undo, &r->watch, &r->stage.rank, &stuck);
	realization_set_state(r, KVP_UNWOUND);
	if (!undone)
		return code;
	if (!code)
		return kvp_error_set(err, undone, "%s", stuck.text);
	if (!err)
		return undone;
	/* The text of what is left behind is never cut, the cause may be. */
	room = sizeof(cause) - strlen(stuck.text) - sizeof("; ");
	memcpy(cause, err->text, sizeof(cause));
	if (strlen(cause) > room)
		strcpy(cause + room - 3, "...");
	return kvp_error_set(err, undone, "%s; %s", cause, stuck.text);
}

int realization_begin(struct kvp_realization **out, const struct kvp_plan *plan,
		      const struct kvp_verdict *verdict,
		      struct kvp_backend *backend,
		      const struct kvp_realize_options *options, bool shared,
		      struct kvp_error *err)
{
	struct kvp_realization *r = NULL;
	int code;

	assert(out && plan && verdict && backend && options);
	*out = NULL;
	code = check_verdict(plan, verdict, err);
	if (!code)
		code = realization_new(&r, plan, backend, options, shared, err);
	if (!code) {
		r->stage.entries_total = required_entries(r);
		r->stage.calls_total = required_calls(r);
		r->watch.entries = geometry_of(r)->static_entries;
		code = preflight(r, err);
	}
	if (!code && options->publish)
		code = kvp_file_begin(&r->file, options->publish, err);
	if (!code) {
		r->file.interrupt = options->interrupt;
		code = acquire(r, err);
		if (code)
			code = realization_unwind(r, code, err);
	}
	if (code)
		realization_delete(r);
	else
		*out = r;
	return code;
}

int kvp_realize(struct kvp_realization **out, const struct kvp_plan *plan,
		const struct kvp_verdict *verdict, struct kvp_backend *backend,
		const struct kvp_realize_options *options,
		struct kvp_error *err)
{
	int code = realization_begin(out, plan, verdict, backend, options,
				     false, err);

	if (code)
		return code;
	code = realization_read_headroom(*out, err);
	if (!code)
		code = publish(*out, err);
	if (!code && (*out)->published)
		realization_set_state(*out, KVP_PUBLISHED);
	if (!code)
		return KVP_OK;
	code = realization_unwind(*out, code, err);
	realization_delete(*out);
	*out = NULL;
	return code;
}

int kvp_realization_free(struct kvp_realization *r, struct kvp_error *err)
{
	int code;

	if (!r)
		return KVP_OK;
	code = realization_unwind(r, KVP_OK, err);
	realization_delete(r);
	return code;
}
