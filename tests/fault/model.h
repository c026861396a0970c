/*
 * What a realization may do, replayed from its events: states in order and
 * in step, calls only where they belong, nothing acquired after a failure,
 * as many undo calls as acquired things.
 */
#ifndef TESTS_FAULT_MODEL_H
#define TESTS_FAULT_MODEL_H

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <kvplan/realize.h>

#define MODEL_RANKS 8

struct model {
	uint32_t first_rank;
	uint32_t nranks;
	bool check;
	uint64_t interrupt_at;	/* event from 1; 0: never */
	int signal;
	volatile sig_atomic_t interrupt;
	/* Told afterwards. */
	enum kvp_state state[MODEL_RANKS];
	uint64_t events;
	uint64_t calls;		/* those of undoing and checking not counted */
	uint64_t calls_total;
	uint64_t failed;	/* calls, undoing included */
	uint64_t failed_undo;
	uint64_t acquired[3];	/* addresses, memory, mappings */
	uint64_t undone[3];
	uint64_t entries;
	char cause[16];		/* the call that failed first */
	uint32_t cause_rank;
	int cause_code;
	enum kvp_state cause_state;
	char wrong[160];	/* the first thing wrong */
};

static inline void model_wrong(struct model *m, const struct kvp_event *e,
			       const char *what)
{
	if (!*m->wrong)
		snprintf(m->wrong, sizeof(m->wrong), "event %llu, rank %u, %s"
			 " %s: %s", (unsigned long long)m->events, e->rank,
			 kvp_state_name(e->state), e->call ? e->call : "",
			 what);
}

static inline enum kvp_state model_before(const struct model *m,
					  enum kvp_state state)
{
	if (state == KVP_PUBLISHED && !m->check)
		return KVP_GRANTED;
	return (enum kvp_state)(state - 1);
}

/* Is everybody about to reach a state, or there? */
static inline bool model_in_step(const struct model *m, enum kvp_state state)
{
	enum kvp_state before = model_before(m, state);
	uint32_t i;

	for (i = 0; i < m->nranks; i++)
		if (m->state[i] != before && m->state[i] != state)
			return false;
	return true;
}

static inline void model_state(struct model *m, const struct kvp_event *e)
{
	uint32_t rank = e->rank - m->first_rank, i;

	if (rank >= m->nranks) {
		model_wrong(m, e, "no such rank here");
		return;
	}
	if (e->state == KVP_UNWOUND) {
		if (!e->undo || m->state[rank] == KVP_UNWOUND)
			model_wrong(m, e, "unwound twice or not undoing");
	} else if (e->state == KVP_IDLE || e->undo ||
		   (e->state == KVP_CHECKED && !m->check) ||
		   m->state[rank] != model_before(m, e->state)) {
		model_wrong(m, e, "not the next state");
	} else if (!model_in_step(m, e->state)) {
		model_wrong(m, e, "ahead of other ranks");
	}
	if (e->state != KVP_UNWOUND && m->failed)
		model_wrong(m, e, "reached after a failure");
	for (i = 0; i < rank && e->state != KVP_UNWOUND; i++)
		if (m->state[i] != e->state)
			model_wrong(m, e, "before a lower rank");
	m->state[rank] = e->state;
}

struct model_verb {
	const char *call;
	const char *undo;	/* or NULL */
	unsigned states;	/* where it belongs, as bits */
};

#define MODEL_AT(state) (1U << KVP_##state)

/* Static storage goes from address to grant before the first state. */
static const struct model_verb model_verbs[] = {
	{ "reserve", "unreserve", MODEL_AT(RESERVED) | MODEL_AT(GRANTED) },
	{ "create", "release", MODEL_AT(CREATED) | MODEL_AT(GRANTED) },
	{ "map", "unmap", MODEL_AT(MAPPED) | MODEL_AT(GRANTED) },
	{ "device", NULL, MODEL_AT(IDLE) },
	{ "peer", NULL, MODEL_AT(IDLE) },
	{ "memory", NULL, MODEL_AT(IDLE) | MODEL_AT(GRANTED) |
	  MODEL_AT(PUBLISHED) },
	{ "grant", NULL, MODEL_AT(GRANTED) },
	{ "granted", NULL, MODEL_AT(GRANTED) | MODEL_AT(CHECKED) },
	{ "fill", NULL, MODEL_AT(CHECKED) },
	{ "match", NULL, MODEL_AT(CHECKED) },
	{ "synchronize", NULL, MODEL_AT(CHECKED) },
};
#define MODEL_VERBS (sizeof(model_verbs) / sizeof(*model_verbs))

static inline bool model_all_idle(const struct model *m)
{
	uint32_t i;

	for (i = 0; i < m->nranks; i++)
		if (m->state[i] != KVP_IDLE)
			return false;
	return true;
}

static inline void model_acquire(struct model *m, const struct kvp_event *e)
{
	size_t i;

	for (i = 0; i < MODEL_VERBS; i++)
		if (!strcmp(e->call, model_verbs[i].call))
			break;
	if (i == MODEL_VERBS || !(model_verbs[i].states & 1U << e->state)) {
		model_wrong(m, e, "no call of this state");
		return;
	}
	if (e->state != KVP_IDLE && !model_in_step(m, e->state) &&
	    !(e->state == KVP_GRANTED && model_all_idle(m)))
		model_wrong(m, e, "called ahead of other ranks");
	if (m->failed)
		model_wrong(m, e, "called after a failure");
	if (m->interrupt)
		model_wrong(m, e, "called after the interrupt");
	if (i < 3 && !e->code)
		m->acquired[i]++;
	m->calls += e->state != KVP_CHECKED;
	if (e->calls_done != m->calls)
		model_wrong(m, e, "miscounted");
	if (e->calls_done > e->calls_total || e->entries > e->entries_total)
		model_wrong(m, e, "more than there are");
}

static inline void model_undo(struct model *m, const struct kvp_event *e)
{
	size_t i;

	for (i = 0; i < 3; i++)
		if (!strcmp(e->call, model_verbs[i].undo))
			break;
	if (i == 3)
		model_wrong(m, e, "does not undo");
	else
		m->undone[i] += !e->code;
	m->failed_undo += e->code != KVP_OK;
}

/* A kvp_event_fn. */
static inline void model_event(void *cookie, const struct kvp_event *e)
{
	struct model *m = cookie;

	m->events++;
	if (e->kind == KVP_EVENT_STATE)
		model_state(m, e);
	else if (e->undo)
		model_undo(m, e);
	else
		model_acquire(m, e);
	if (e->kind == KVP_EVENT_CALL && e->code && !m->failed++) {
		snprintf(m->cause, sizeof(m->cause), "%s", e->call);
		m->cause_rank = e->rank;
		m->cause_code = e->code;
		m->cause_state = e->state;
	}
	m->entries = e->entries;
	m->calls_total = e->calls_total;
	if (m->events == m->interrupt_at)
		m->interrupt = m->signal;
}

/* Everybody in a state?  Without ranks: yes. */
static inline bool model_all(const struct model *m, enum kvp_state state)
{
	uint32_t i;

	for (i = 0; i < m->nranks; i++)
		if (m->state[i] != state)
			return false;
	return true;
}

/* What was acquired and not given back. */
static inline uint64_t model_left(const struct model *m)
{
	return m->acquired[0] + m->acquired[1] + m->acquired[2] -
	       m->undone[0] - m->undone[1] - m->undone[2];
}

#endif
