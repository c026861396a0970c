/*
 * A plain model of the allocation cache, from its header and the design
 * alone: a list of blocks that is searched from end to end.  It makes the
 * backend's calls in thought, so that it knows which of them are made to
 * fail.
 */
#ifndef TESTS_RANDOM_CACHE_MODEL_H
#define TESTS_RANDOM_CACHE_MODEL_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <kvplan/alloc_cache.h>

#define MODEL_BLOCKS 4096

struct model_block {
	uint64_t address;
	uint64_t bytes;
	uint64_t when;		/* filed, by the model's clock */
	bool filed;
	bool pinned;
};

struct model {
	struct kvp_fault fault;
	struct kvp_cap_override override;
	uint64_t total_bytes;
	uint64_t report_steps;
	uint64_t clock;
	uint64_t reports;
	bool on;
	bool pool;		/* is there */
	struct model_block block[MODEL_BLOCKS];
	size_t count;
	/* Those that do not follow from the blocks. */
	struct kvp_alloc_cache_counters n;
	struct kvp_alloc_cache_counters reported;
};

/* As the fault backend: the code of a call, made to fail or not. */
static inline int model_call(struct model *m, unsigned op)
{
	struct kvp_fault *f = &m->fault;

	if (!(f->ops & op) || !f->countdown)
		return KVP_OK;
	if (f->countdown > 1) {
		f->countdown--;
		return KVP_OK;
	}
	if (!f->for_ever)
		f->countdown = 0;
	f->hits++;
	return f->code;
}

static inline bool model_held(const struct model_block *b)
{
	return b->filed && !b->pinned;
}

static inline uint64_t model_held_bytes(const struct model *m)
{
	uint64_t sum = 0;
	size_t i;

	for (i = 0; i < m->count; i++)
		if (model_held(&m->block[i]))
			sum += m->block[i].bytes;
	return sum;
}

static inline uint64_t model_free_bytes(const struct model *m)
{
	uint64_t used = m->n.pending_bytes;
	size_t i;

	for (i = 0; i < m->count; i++)
		used += m->block[i].bytes;
	return m->total_bytes - used;
}

static inline struct model_block *model_at(struct model *m, uint64_t address)
{
	size_t i;

	for (i = 0; i < m->count; i++)
		if (m->block[i].address == address)
			return &m->block[i];
	return NULL;
}

static inline struct kvp_alloc_cache_counters
model_counters(const struct model *m)
{
	struct kvp_alloc_cache_counters n = m->n;
	const struct model_block *b;
	size_t i, j;

	for (i = 0; i < m->count; i++) {
		b = &m->block[i];
		*(model_held(b) ? &n.held_bytes : b->filed ? &n.pinned_bytes :
		  &n.live_bytes) += b->bytes;
		++*(model_held(b) ? &n.held_blocks : b->filed ?
		    &n.pinned_blocks : &n.live_blocks);
		for (j = 0; j < i; j++)
			if (m->block[j].filed && m->block[j].bytes == b->bytes)
				break;
		n.sizes += b->filed && j == i;
	}
	if (n.cap.bounded && n.pinned_bytes > n.cap.bytes)
		n.pinned_over_cap_bytes = n.pinned_bytes - n.cap.bytes;
	return n;
}

static inline int model_synchronize(struct model *m)
{
	int code = model_call(m, KVP_OP_SYNCHRONIZE);

	if (!code)
		m->n.pending_bytes = 0;
	return code;
}

static inline int model_give_back(struct model *m, struct model_block *b)
{
	int code = model_call(m, KVP_OP_DEALLOCATE);

	if (code) {
		b->when = ++m->clock;
		return code;
	}
	m->n.pending_bytes += b->bytes;
	m->n.freed_bytes += b->bytes;
	m->n.freed_bytes_total += b->bytes;
	*b = m->block[--m->count];
	return KVP_OK;
}

static inline struct model_block *model_oldest(struct model *m)
{
	struct model_block *oldest = NULL;
	size_t i;

	for (i = 0; i < m->count; i++)
		if (model_held(&m->block[i]) &&
		    (!oldest || m->block[i].when < oldest->when))
			oldest = &m->block[i];
	return oldest;
}

/* UINT64_MAX: none. */
static inline uint64_t model_limit(const struct model *m)
{
	if (!m->on)
		return 0;
	return m->n.cap.bounded ? m->n.cap.bytes : UINT64_MAX;
}

static inline int model_evict(struct model *m)
{
	const uint64_t limit = model_limit(m), mark = limit - limit / 8;
	int code = KVP_OK;

	if (model_held_bytes(m) <= limit)
		return KVP_OK;
	while (!code && model_held_bytes(m) > mark)
		code = model_give_back(m, model_oldest(m));
	return code;
}

static inline int model_file(struct model *m, struct model_block *b)
{
	int code = KVP_OK;

	b->filed = true;
	b->when = ++m->clock;
	if (b->pinned)
		return KVP_OK;
	if (b->bytes > model_limit(m))
		code = model_give_back(m, b);
	return code ? code : model_evict(m);
}

/* The design's formula; of two equal terms the later one is named. */
static inline struct kvp_cap model_policy(uint64_t free_bytes)
{
	const uint64_t mib = UINT64_C(1) << 20;
	struct kvp_cap cap = { 64 * mib, true, KVP_CAP_FLOOR };

	if (free_bytes / 8 >= cap.bytes) {
		cap.bytes = free_bytes / 8;
		cap.term = KVP_CAP_EIGHTH;
	}
	if (free_bytes / 2 < cap.bytes) {
		cap.bytes = free_bytes / 2;
		cap.term = KVP_CAP_HALF;
	}
	if (cap.bytes >= 1024 * mib) {
		cap.bytes = 1024 * mib;
		cap.term = KVP_CAP_CEILING;
	}
	return cap;
}

static inline int model_plan_cap(struct model *m)
{
	int unread = model_call(m, KVP_OP_MEMORY);

	if (m->override.given)
		m->n.cap = (struct kvp_cap){ m->override.bytes,
			m->override.bounded, KVP_CAP_OVERRIDE };
	else if (unread)
		m->n.cap = (struct kvp_cap){ UINT64_C(1) << 30, true,
			KVP_CAP_NO_READING };
	else
		m->n.cap = model_policy(model_free_bytes(m));
	return model_evict(m);
}

static inline int model_arm(struct model *m)
{
	int code = model_synchronize(m);

	return code ? code : model_plan_cap(m);
}

static inline int model_drain(struct model *m)
{
	struct model_block *b;
	uint64_t last = m->clock;
	int code = KVP_OK, each;

	/* Those that fail get a later time. */
	while ((b = model_oldest(m)) && b->when <= last) {
		each = model_give_back(m, b);
		code = code ? code : each;
	}
	each = model_synchronize(m);
	return code ? code : each;
}

static inline int model_enable(struct model *m, bool on)
{
	int code;

	if (!on) {
		m->on = false;
		return model_drain(m);
	}
	code = model_synchronize(m);
	if (code)
		return code;
	m->on = true;
	return model_plan_cap(m);
}

/* m is zeroed but for what it is told from outside. */
static inline int model_new(struct model *m, bool off)
{
	int code = KVP_OK;

	m->n.cap = (struct kvp_cap){ 0, true, KVP_CAP_OVERRIDE };
	if (!off)
		code = model_enable(m, true);
	if (!code)
		code = model_call(m, KVP_OP_POOL_CREATE);
	m->pool = !code;
	return code;
}

/*
 * *address is what a hit has to answer, or 0 for a new block, which
 * model_add() then adds.
 */
static inline int model_get(struct model *m, uint64_t bytes,
			    uint64_t *address)
{
	struct model_block *b = NULL;
	size_t i;
	int code;

	*address = 0;
	if (!bytes)
		return KVP_EINPUT;
	for (i = 0; i < m->count; i++)
		if (model_held(&m->block[i]) && m->block[i].bytes == bytes &&
		    (!b || m->block[i].when > b->when))
			b = &m->block[i];
	if (b) {
		b->filed = false;
		m->n.hits++;
		m->n.hits_total++;
		*address = b->address;
		return KVP_OK;
	}
	m->n.misses++;
	m->n.misses_total++;
	code = model_call(m, KVP_OP_ALLOCATE);
	if (!code && bytes > model_free_bytes(m))
		code = KVP_EEXHAUSTED;
	return code;
}

static inline void model_add(struct model *m, uint64_t address,
			     uint64_t bytes)
{
	m->block[m->count++] = (struct model_block){
		.address = address, .bytes = bytes,
	};
}

static inline int model_put(struct model *m, uint64_t address)
{
	struct model_block *b = model_at(m, address);

	return !b || b->filed ? KVP_EBUSY : model_file(m, b);
}

static inline int model_pin(struct model *m, uint64_t address, bool pinned)
{
	struct model_block *b = model_at(m, address);

	if (!b || b->pinned == pinned)
		return KVP_EBUSY;
	b->pinned = pinned;
	return b->filed && !pinned ? model_file(m, b) : KVP_OK;
}

static inline int model_set_cap(struct model *m, const struct kvp_cap *cap)
{
	m->n.cap = *cap;
	return model_evict(m);
}

static inline int model_step(struct model *m)
{
	int code = KVP_OK;

	m->n.steps++;
	if (m->on && m->n.steps % 64 == 0)
		code = model_arm(m);
	if (!code && m->n.pending_bytes)
		code = model_synchronize(m);
	if (m->report_steps && m->n.steps % m->report_steps == 0) {
		m->reports++;
		m->reported = model_counters(m);
	}
	m->n.hits = m->n.misses = m->n.freed_bytes = 0;
	return code;
}

static inline int model_free(struct model *m)
{
	size_t i;
	int code, gone = KVP_OK;

	for (i = 0; i < m->count; i++)
		if (!model_held(&m->block[i]))
			return KVP_EBUSY;
	code = model_drain(m);
	if (!m->count) {
		gone = model_call(m, KVP_OP_POOL_DESTROY);
		m->pool = gone != KVP_OK;
	}
	return code || gone ? KVP_ESTUCK : KVP_OK;
}

#endif
