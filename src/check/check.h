/*
 * The data of one verification, and the rules.
 *
 * A rule is a short function over struct check.  It reports every finding
 * and returns KVP_OK, or KVP_ENOMEM if it could not finish.  It may rely on
 * the rules that it needs, see the table in verify.c.
 */
#ifndef KVPLAN_CHECK_CHECK_H
#define KVPLAN_CHECK_CHECK_H

#include <kvplan/verify.h>

#include "check/base_layout.h"

struct check {
	const struct kvp_plan *plan;
	const struct kvp_geometry *geometry;

	/* From the geometry alone. */
	struct check_base base;
	struct kvp_ranks *readers;	/* [ranks] */
	uint32_t *reader_pool;

	/* From the plan's chunks. */
	struct check_order order;
	size_t naliased;

	/* Chunk i of the plan holds the base chunks base.order.chunk
	   [base_first[i] .. + base_count[i]).  The rule permutation fills
	   them in; rules that need it use them. */
	uint32_t *base_first;	/* [nchunks] */
	uint32_t *base_count;	/* [nchunks] */

	struct kvp_summary expected;	/* what the plan must state */
	uint64_t limit;		/* for rule entry-limit: that of `expected`,
				   or that of the limits document given */

	/* Findings so far, and the rule that runs now. */
	struct kvp_finding *findings;
	size_t nfindings;
	size_t room;
	enum kvp_rule rule;
	enum kvp_severity severity;
	bool no_memory;		/* a finding was lost */
};

/* Report under the current rule. */
void check_report(struct check *c, enum kvp_place place, uint64_t index,
		  const char *what, uint64_t stated, uint64_t expected);

/* The same, if expected is a limit. */
void check_report_limit(struct check *c, enum kvp_place place, uint64_t index,
			const char *what, uint64_t stated,
			enum kvp_relation relation, uint64_t expected);

/*
 * geometry_sound.c: could the plan's geometry have been read by
 * kvp_geometry_read(), and is its merge a mode?  The rules rely on it.
 * Errors: KVP_EINPUT.
 */
int check_geometry_sound(const struct kvp_plan *plan, struct kvp_error *err);

/*
 * expected_summary.c: compute c->readers and c->expected from the geometry and
 * the list of chunks.  Errors: KVP_ELIMIT, KVP_ENOMEM.
 */
int check_make_expected(struct check *c, struct kvp_error *err);
void check_summary_release(struct kvp_summary *summary);

/* rules_layout.c */
int check_rule_alignment(struct check *c);
int check_rule_plane_coverage(struct check *c);
int check_rule_arena_coverage(struct check *c);
int check_rule_physical_bytes(struct check *c);
int check_rule_addresses(struct check *c);
int check_rule_address_space(struct check *c);

/* rules_permutation.c */
int check_rule_permutation(struct check *c);
int check_rule_merge(struct check *c);

/* rules_rows.c */
int check_rule_conflicts(struct check *c);
int check_rule_rows(struct check *c);

/* rules_summary.c */
int check_rule_capacity(struct check *c);
int check_rule_access(struct check *c);
int check_rule_entries(struct check *c);
int check_rule_entry_limit(struct check *c);
int check_rule_bound(struct check *c);
int check_rule_headroom(struct check *c);

#endif
