/*
 * Verifying: checking that a plan is correct for its geometry and mode.
 *
 * The checker computes everything again from the geometry and the chunk
 * list: base layout, conflicting pages, lower bound, readers, table entries.
 * It uses no code of the planner, only the structs and functions that read
 * and write them; the program kvcheck is linked without the planner.
 *
 * Every rule reports all its findings.  After a rule fails, the rules that
 * depend on it are not run.
 */
#ifndef KVPLAN_VERIFY_H
#define KVPLAN_VERIFY_H

#include <kvplan/limits.h>
#include <kvplan/plan.h>

#ifdef __cplusplus
extern "C" {
#endif

enum kvp_rule {
	KVP_RULE_ALIGNMENT,
	KVP_RULE_PLANE_COVERAGE,
	KVP_RULE_ARENA_COVERAGE,
	KVP_RULE_PHYSICAL_BYTES,
	KVP_RULE_ADDRESSES,
	KVP_RULE_CONFLICTS,
	KVP_RULE_PERMUTATION,
	KVP_RULE_MERGE,
	KVP_RULE_ROWS,
	KVP_RULE_CAPACITY,
	KVP_RULE_ACCESS,
	KVP_RULE_ENTRIES,
	KVP_RULE_ENTRY_LIMIT,
	KVP_RULE_BOUND,
	KVP_RULE_HEADROOM,
	KVP_RULE_ADDRESS_SPACE
};
#define KVP_RULES 16

enum kvp_severity { KVP_ERROR, KVP_WARNING };

/* What a finding is about; its `index` says which one. */
enum kvp_place {
	KVP_AT_PLAN,		/* the whole plan; index is 0 */
	KVP_AT_CHUNK,		/* chunks[index] */
	KVP_AT_PLANE,		/* planes[index] */
	KVP_AT_ROW,		/* snapshot row `index` */
	KVP_AT_RANK,
	KVP_AT_NODE
};

/* How the stated number must compare to the expected one. */
enum kvp_relation { KVP_EXACTLY, KVP_AT_MOST, KVP_AT_LEAST };

/* One finding: the plan has the number `stated`, the checker computed
   `expected`. */
struct kvp_finding {
	enum kvp_rule rule;
	enum kvp_severity severity;
	enum kvp_place place;
	uint64_t index;
	const char *what;	/* what the numbers are, a static text such
				   as "begins at byte" */
	uint64_t stated;
	uint64_t expected;
	enum kvp_relation relation;
};

struct kvp_verify_options {
	enum kvp_severity severity[KVP_RULES];
	/* May be NULL.  The rule entry-limit then uses
	   kvp_limits_entry_limit(); all other rules use the limits that the
	   plan states. */
	const struct kvp_limits *limits;
};

/*
 * The defaults: every rule is an error, except address-space, which is a
 * warning; limits is NULL.
 */
void kvp_verify_options_init(struct kvp_verify_options *options);

/* A rule's name, such as "plane-coverage", and its statement in one
   sentence; "?" if there is no such rule.  The texts are static. */
const char *kvp_rule_name(enum kvp_rule rule);
const char *kvp_rule_statement(enum kvp_rule rule);

/*
 * Whether a plan that breaks this rule can still be realized, if the rule's
 * severity is KVP_WARNING.  True for four rules, on which no page, row,
 * address, reader or published number depends:
 *
 *   entry-limit    kvp_realize() counts the table entries of the ranks it
 *                  realizes, and undoes everything if the table is full
 *   bound          states only how far the plan is from the fewest chunks
 *   headroom       kvp_realize() reads the free memory and computes the cap
 *                  from that
 *   address-space  kvp_realize() refuses a plan for which it has no
 *                  addresses, before its first backend call
 *
 * A plan that breaks any other rule has wrong mappings or false numbers.
 * False if there is no such rule.
 */
bool kvp_rule_is_advisory(enum kvp_rule rule);

/* Find the rule with this name.  Returns KVP_OK, or KVP_EINPUT if there is
   none; *rule is untouched then. */
int kvp_rule_find(const char *name, enum kvp_rule *rule);

/* The result of verifying a plan.  Opaque, because only kvp_verify() may
   make one. */
struct kvp_verdict;

/*
 * Verify a plan.  options may be NULL: the defaults.  On success *verdict is
 * the verdict, good or bad; free it with kvp_verdict_free().  On failure
 * *verdict is NULL.
 *
 * Cost: O(n log n) in the chunks of one rank.
 *
 * Errors:
 *   KVP_EINPUT       the plan's geometry is not one that kvp_geometry_read()
 *                    can give; or its mode or a severity in the options is
 *                    not a declared enum value
 *   KVP_EINFEASIBLE, KVP_ELIMIT  the geometry has no base layout
 *   KVP_ENOMEM
 */
int kvp_verify(const struct kvp_plan *plan,
	       const struct kvp_verify_options *options,
	       struct kvp_verdict **verdict, struct kvp_error *err);

/* Whether no finding is an error. */
bool kvp_verdict_ok(const struct kvp_verdict *verdict);

/*
 * Whether kvp_realize() accepts the plan: no finding is an error, and every
 * finding is of an advisory rule.  A finding of any other rule prevents
 * realizing also if the rule's severity is KVP_WARNING.
 */
bool kvp_verdict_is_realizable(const struct kvp_verdict *verdict);

/*
 * Walk the findings that prevent realizing: the first one if `after` is
 * NULL, otherwise the one that follows `after`.  NULL if there are no more.
 * The verdict owns them.
 */
const struct kvp_finding *
kvp_verdict_obstacle(const struct kvp_verdict *verdict,
		     const struct kvp_finding *after);

/* Whether this is the verdict on this plan and the plan has not changed
   since. */
bool kvp_verdict_is_for(const struct kvp_verdict *verdict,
			const struct kvp_plan *plan);

/* All findings, ordered by rule, `place` and index; *count is their number.
   The verdict owns them. */
const struct kvp_finding *kvp_verdict_findings(const struct kvp_verdict *verdict,
					       size_t *count);

/* The counts that the checker computed.  The verdict owns them. */
const struct kvp_summary *kvp_verdict_summary(const struct kvp_verdict *verdict);

/*
 * Write a finding as one line without a newline, such as
 * "plane-coverage: chunks[3]: begins at byte 4194304, expected 2097152".
 * text has `size` bytes; a longer line is cut.  Returns the length of the
 * whole line.  "?" stands for a rule, place or relation that is not a
 * declared enum value.
 */
size_t kvp_finding_text(const struct kvp_finding *finding, char *text,
			size_t size);

/* Free a verdict.  NULL is allowed. */
void kvp_verdict_free(struct kvp_verdict *verdict);

#ifdef __cplusplus
}
#endif

#endif
