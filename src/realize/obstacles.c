/*
 * Making one error of all obstacles, and finding those of addresses and of
 * the process.
 */
#include "realize/obstacles.h"

#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/u64.h"
#include "realize/realization.h"

/* Written instead of an obstacle's text if there is no room for that. */
static const char *const names[OBSTACLES] = {
	[OBSTACLE_ENTRIES] = "table entries", [OBSTACLE_MEMORY] = "memory",
	[OBSTACLE_ADDRESS_SPACE] = "address space",
	[OBSTACLE_RECORDED] = "recorded addresses",
	[OBSTACLE_PEERS] = "peer access",
	[OBSTACLE_GRANULARITY] = "granularity", [OBSTACLE_LIMITS] = "limits",
	[OBSTACLE_MAPS] = "kernel maps",
	[OBSTACLE_DESCRIPTORS] = "descriptors",
};

int obstacles_report(const struct obstacles *o, struct kvp_error *err)
{
	/* Room for all names and their separators. */
	enum { NAMES = 160 };
	char text[KVP_ERROR_MAX] = "", without[NAMES] = "";
	size_t used = 0, left = 0, len, i;
	int code = KVP_OK;

	for (i = 0; i < OBSTACLES; i++) {
		if (!o->kind[i].code)
			continue;
		code = code ? code : o->kind[i].code;
		len = strlen(o->kind[i].text) + strlen(OBSTACLES_ALSO);
		if (!used)
			used = (size_t)snprintf(text, sizeof(text) - NAMES,
						"%s", o->kind[i].text);
		else if (used + len < sizeof(text) - NAMES)
			used += (size_t)snprintf(text + used,
				sizeof(text) - used, OBSTACLES_ALSO "%s",
				o->kind[i].text);
		else
			left += (size_t)snprintf(without + left, NAMES - left,
				"%s%s", left ? ", " : "", names[i]);
	}
	used = u64_min(used, sizeof(text) - NAMES - 1);
	if (left)
		snprintf(text + used, sizeof(text) - used, OBSTACLES_ALSO
			 "%s (no room to say more)", without);
	return code ? kvp_error_set(err, code, "%s", text) : KVP_OK;
}

/* --- addresses --- */

/* Count the bytes of addresses that one rank reserves, at most UINT64_MAX. */
static uint64_t count_address_bytes(const struct kvp_realization *r)
{
	uint64_t sum = r->ranks[0].arena_bytes;
	size_t i;

	for (i = 0; i < r->plan->nchunks; i++)
		sum = u64_add_capped(sum, r->plan->chunks[i].bytes);
	for (i = 0; i < geometry_of(r)->nstatics; i++)
		sum = u64_add_capped(sum, required_static_bytes(r, i));
	return sum;
}

/* Report the first range that ends too far, count the others. */
static void check_end(struct kvp_error *report, uint64_t *others,
		      const struct rank *k, const char *name,
		      uint64_t address, uint64_t bytes, uint64_t granularity)
{
	uint64_t last = KVP_ADDRESS_END - bytes;

	if (!address || bytes > KVP_ADDRESS_END || address <= last)
		return;
	if (report->code)
		++*others;
	else
		kvp_error_set(report, KVP_EREFUSED,
			"rank %u: %s is recorded at %llu and ends at %llu, "
			"addresses end at %llu (2^47 - 4096); record %llu at "
			"most, or no address", k->rank, name, (ull)address,
			(ull)(address + bytes), (ull)KVP_ADDRESS_END,
			(ull)(last - last % granularity));
}

static void check_recorded(const struct kvp_realization *r,
			   struct obstacles *o)
{
	struct kvp_error *report = &o->kind[OBSTACLE_RECORDED], one;
	char name[KVP_PLANE_NAME_MAX + 8];
	uint64_t others = 0, address;
	const struct rank *k;
	uint32_t i, plane;

	for (i = 0; i < r->nranks; i++) {
		k = &r->ranks[i];
		for (plane = 0; plane < geometry_of(r)->nplanes; plane++) {
			address = recorded_plane(r, k, plane);
			if (!address)
				continue;
			snprintf(name, sizeof(name), "plane %s",
				 geometry_of(r)->planes[plane].name);
			check_end(report, &others, k, name, address,
				  required_plane_bytes(r, plane),
				  geometry_of(r)->granularity);
		}
		check_end(report, &others, k, "the row arena",
			  recorded_arena(r, k), k->arena_bytes,
			  geometry_of(r)->granularity);
	}
	one = *report;
	if (others)
		kvp_error_set(report, one.code, "%s; %llu more end too far",
			      one.text, (ull)others);
}

void check_address_space(const struct kvp_realization *r, struct obstacles *o)
{
	uint64_t each = count_address_bytes(r), all = UINT64_MAX;

	(void)u64_mul(each, r->nranks, &all);
	if (all > KVP_ADDRESS_END)
		kvp_error_set(&o->kind[OBSTACLE_ADDRESS_SPACE], KVP_EREFUSED,
			"%u rank%s %llu bytes of addresses, a process has %llu "
			"(2^47 - 4096); %s", r->nranks, r->nranks == 1 ?
			" needs" : "s need each", (ull)each,
			(ull)KVP_ADDRESS_END, each > KVP_ADDRESS_END ?
			"plan fewer pages" : "realize fewer ranks in one "
			"process, or plan fewer pages");
	check_recorded(r, o);
}

/* --- the process --- */

/* The number that is needed is also the one to raise the limit to. */
static void check_process_limits(const struct kvp_realization *r,
				 const struct kvp_process *p,
				 struct obstacles *o)
{
	struct kvp_error *files = &o->kind[OBSTACLE_DESCRIPTORS];
	uint32_t nranks = r->nranks;

	if (p->maps.need > p->maps.limit)
		kvp_error_set(&o->kind[OBSTACLE_MAPS], KVP_EREFUSED,
			"%u rank%s about %llu kernel maps, vm.max_map_count "
			"is %llu; raise it (sysctl vm.max_map_count=%llu) or "
			"realize fewer ranks with --ranks", nranks,
			nranks == 1 ? " needs" : "s need", (ull)p->maps.need,
			(ull)p->maps.limit, (ull)p->maps.need);
	if (p->descriptors.need <= p->descriptors.limit)
		return;
	if (r->shared)
		kvp_error_set(files, KVP_EREFUSED, "passing memory between "
			"%llu ranks of a node needs %llu descriptors, %llu may "
			"be open; raise it (ulimit -n %llu)",
			(ull)geometry_of(r)->ranks_per_node,
			(ull)p->descriptors.need, (ull)p->descriptors.limit,
			(ull)p->descriptors.need);
	else
		kvp_error_set(files, KVP_EREFUSED,
			"%u rank%s, %llu may be open; raise it (ulimit -n "
			"%llu) or realize fewer ranks with --ranks", nranks,
			nranks == 1 ? " needs a descriptor" :
			"s need a descriptor each", (ull)p->descriptors.limit,
			(ull)p->descriptors.need);
}

/* The call goes to the inner backend, so that it is no event. */
int check_process(struct kvp_realization *r, struct obstacles *o,
		  struct kvp_error *err)
{
	const struct kvp_demand demand = required_of_system(r);
	struct kvp_backend *b = r->watch.inner;
	struct kvp_process process;
	int code = b->device.process(b, &demand, &process, err);

	if (code)
		return add_rank_context(r, &r->ranks[0],
					"reading the process's limits", code,
					err);
	check_process_limits(r, &process, o);
	return KVP_OK;
}
