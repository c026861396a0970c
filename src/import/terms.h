/*
 * Formulas as lists of terms.  A list is evaluated by one function and
 * printed by another, so that a report cannot show another formula than the
 * one that was computed.
 *
 *   TERM("(", "conv_kernel", 4), NUMBER("-", 1), TERM(") x", "width", 8),
 *   TERM("/", "TP", 2), EQUALS("elements")
 *
 * is 12, and is printed as
 *
 *   (conv_kernel 4 - 1) x width 8 / TP 2 = 12 elements
 */
#ifndef KVPLAN_IMPORT_TERMS_H
#define KVPLAN_IMPORT_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/strbuf.h"

struct term {
	/*
	 * What joins the value to the terms before it, of these:
	 *
	 *   + - x /    products before sums; / drops the remainder
	 *   ( )
	 *   ceil(      where / rounds up
	 *   max(1,     where the value is 1 at least
	 *   =          the value of everything before, which is printed; what
	 *              follows goes on from it
	 *   , rounded up to a multiple of
	 *
	 * It may begin a new line.  NULL ends a list.
	 */
	const char *op;
	const char *label;	/* before the value; NULL: an op alone */
	uint64_t value;
	const char *unit;	/* behind it, or behind the value of = */
};

#define TERMS_MAX 16		/* of a list */

#define TERM(op, label, value) { op, label, value, NULL }
#define NUMBER(op, value) { op, "", value, NULL }
#define COUNT(op, value, unit) { op, "", value, unit }
#define OP(op) { op, NULL, 0, NULL }
#define EQUALS(unit) { "=", NULL, 0, unit }

/* A list with its end, for one call. */
#define TERMS(...) (const struct term[]){ __VA_ARGS__, OP(NULL) }

/* Add terms to a list, whose array has room for TERMS_MAX and the end. */
void terms_append(struct term *list, const struct term *more);

/*
 * false: a number does not fit into 64 bits, or the value of a = or of the
 * whole list is over KVP_NUMBER_MAX.
 */
bool terms_evaluate(const struct term *terms, uint64_t *value);
/* Up to the first = whose value does not fit. */
void terms_print(struct strbuf *b, const struct term *terms);

#endif
