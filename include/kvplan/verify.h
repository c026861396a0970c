/*
 * Verifying: is this plan what its geometry and mode allow?
 *
 * The checker works everything out again from the geometry and the chunk
 * list: base layout, conflicting pages, lower bound, readers, table entries.
 * It shares the data model with the planner and nothing else; the program
 * kvcheck is linked without the planner.
 *
 * Every rule reports every finding.  A rule that failed silences the rules
 * that need it: what they would say is noise.
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

/* What a finding is about; `index` of the finding counts within it. */
enum kvp_place {
	KVP_AT_PLAN,		/* the whole plan; index is 0 */
	KVP_AT_CHUNK,		/* chunks[index] */
	KVP_AT_PLANE,		/* planes[index] */
	KVP_AT_ROW,		/* snapshot row */
	KVP_AT_RANK,
	KVP_AT_NODE
};

/* How the stated value has to relate to the expected one. */
enum kvp_relation { KVP_EXACTLY, KVP_AT_MOST, KVP_AT_LEAST };

/*
 * One finding: at this place, `what` is `stated` where the checker works
 * out `expected`.
 */
struct kvp_finding {
	enum kvp_rule rule;
	enum kvp_severity severity;
	enum kvp_place place;
	uint64_t index;
	const char *what;	/* static text, such as "begins at byte" */
	uint64_t stated;
	uint64_t expected;
	enum kvp_relation relation;
};

struct kvp_verify_options {
	enum kvp_severity severity[KVP_RULES];
	/* May be NULL: what the plan's node can really do.  Rule entry-limit
	   then judges by it, see kvp_limits_entry_limit(); all other rules
	   keep to what the plan states. */
	const struct kvp_limits *limits;
};

/*
 * The defaults: all rules are errors but address-space, which is a warning;
 * no limits.
 */
void kvp_verify_options_init(struct kvp_verify_options *options);

/* "plane-coverage" ... and its statement in one sentence; "?" for a rule that
   does not exist. */
const char *kvp_rule_name(enum kvp_rule rule);
const char *kvp_rule_statement(enum kvp_rule rule);

/*
 * True for the rules that a realization can live with breaking, once they
 * are lowered to warnings: no page, row, address, reader or published number
 * depends on them.
 *
 *   entry-limit  counts all ranks of a node; kvp_realize() counts those it
 *                realizes, and a full table undoes everything
 *   bound        says how far the plan is from the fewest chunks
 *   headroom     judges a cap planned before; kvp_realize() reads what is
 *                really free and caps by that
 *   address-space  kvp_realize() refuses what it has no addresses for, before
 *                the first call
 *
 * Any other rule that is broken means mappings that are wrong or numbers
 * that are false.  False for a rule that does not exist.
 */
bool kvp_rule_is_advisory(enum kvp_rule rule);

/* The rule of that name.  Returns KVP_OK or KVP_EINPUT. */
int kvp_rule_find(const char *name, enum kvp_rule *rule);

/*
 * The judgement.  Opaque: only kvp_verify() makes one, so that whoever
 * asks for a verdict gets one that was reached.
 */
struct kvp_verdict;

/*
 * Verify a plan.  `options` may be NULL for the defaults.  On success
 * *verdict holds the judgement, good or bad; free it with
 * kvp_verdict_free().  On failure *verdict is NULL.
 *
 * Cost: O(n log n) in the chunks of one rank.
 *
 * Errors: KVP_ENOMEM; KVP_EINFEASIBLE and KVP_ELIMIT when the plan's own
 * geometry has no base layout, and KVP_EINPUT when it is none that
 * kvp_geometry_read() gives or the mode is none, so that nothing can be
 * judged, and for a severity that is none.
 */
int kvp_verify(const struct kvp_plan *plan,
	       const struct kvp_verify_options *options,
	       struct kvp_verdict **verdict, struct kvp_error *err);

/* True when no finding is an error. */
bool kvp_verdict_ok(const struct kvp_verdict *verdict);

/*
 * True when kvp_realize() takes it: no finding is an error, and all findings
 * are of advisory rules.  Lowering any other rule does not help.
 */
bool kvp_verdict_is_realizable(const struct kvp_verdict *verdict);

/*
 * The findings that keep kvp_realize() from taking it, one after the other:
 * the first one behind `after`, or of all where that is NULL.  NULL: there
 * are no more.
 */
const struct kvp_finding *
kvp_verdict_obstacle(const struct kvp_verdict *verdict,
		     const struct kvp_finding *after);

/* True when the verdict was reached for this plan, unchanged since. */
bool kvp_verdict_is_for(const struct kvp_verdict *verdict,
			const struct kvp_plan *plan);

/* All findings, by rule and place; owned by the verdict. */
const struct kvp_finding *kvp_verdict_findings(const struct kvp_verdict *verdict,
					       size_t *count);

/* What the checker worked out by itself: the true counts. */
const struct kvp_summary *kvp_verdict_summary(const struct kvp_verdict *verdict);

/*
 * A finding as one line without its end, such as
 * "plane-coverage: chunks[3]: begins at byte 4194304, expected 2097152".
 * Cut to fit `size`; returns the length it has or would have had.  A rule,
 * place or relation that is none is written "?".
 */
size_t kvp_finding_text(const struct kvp_finding *finding, char *text,
			size_t size);

void kvp_verdict_free(struct kvp_verdict *verdict);

#ifdef __cplusplus
}
#endif

#endif
