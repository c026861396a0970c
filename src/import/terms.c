/*
 * Lists of terms: the value, and the text.  A list is written in the code of
 * this room, never by a document, so that a wrong one is an assertion.
 */
#include <assert.h>
#include <stdio.h>
#include <string.h>

#include <kvplan/geometry.h>

#include "base/u64.h"
#include "import/terms.h"

#define DEPTH_MAX 4

/* What stands between two parentheses: sum + product, and what comes next. */
struct level {
	uint64_t sum, product;
	char add;		/* + or -: joins product to sum */
	char next;		/* joins the next value to product: x, / or u,
				   which rounds up */
	char kind;		/* (, c for ceil or m for max */
};

struct evaluation {
	struct level levels[DEPTH_MAX];
	size_t depth;
	bool fits;
};

static void open_level(struct evaluation *e, char kind)
{
	assert(e->depth < DEPTH_MAX);
	e->levels[e->depth++] = (struct level){ 0, 1, '+', 'x', kind };
}

static struct level *top(struct evaluation *e)
{
	return &e->levels[e->depth - 1];
}

static void apply_value(struct evaluation *e, uint64_t value)
{
	struct level *l = top(e);
	bool fits = true;

	assert(l->next && (l->next == 'x' || value));
	if (l->next == 'x')
		fits = u64_mul(l->product, value, &l->product);
	else if (l->next == 'u')
		fits = u64_round_up(l->product, value, &l->product);
	else if (l->kind == 'c')
		l->product = u64_ceil_div(l->product, value);
	else
		l->product /= value;
	l->next = '\0';
	e->fits = e->fits && fits;
}

/* Add the product to the sum; the next value begins another one. */
static uint64_t close_product(struct evaluation *e, char add)
{
	struct level *l = top(e);

	assert(!l->next);
	if (l->add == '+')
		e->fits = u64_add(l->sum, l->product, &l->sum) && e->fits;
	else {
		assert(!e->fits || l->sum >= l->product);
		l->sum -= l->product;
	}
	l->product = 1;
	l->add = add;
	l->next = 'x';
	return l->sum;
}

static void close_level(struct evaluation *e)
{
	uint64_t value = close_product(e, '+');

	assert(e->depth > 1);
	if (top(e)->kind == 'm')
		value = u64_max(value, 1);
	e->depth--;
	apply_value(e, value);
}

static uint64_t equals(struct evaluation *e)
{
	uint64_t value = close_product(e, '+');

	assert(e->depth == 1);
	e->fits = e->fits && value <= KVP_NUMBER_MAX;
	*top(e) = (struct level){ 0, value, '+', '\0', '(' };
	return value;
}

static void apply_op(struct evaluation *e, const char *op)
{
	static const char *const words[] = {
		"ceil(", "max(1,", ", rounded up to a multiple of"
	};
	const char *p = op;
	size_t i;

	while (*p) {
		for (i = 0; i < 3; i++)
			if (!strncmp(p, words[i], strlen(words[i])))
				break;
		if (i < 2)
			open_level(e, *words[i]);
		else if (i == 2 || *p == 'x' || *p == '/')
			top(e)->next = i == 2 ? 'u' : *p;
		else if (*p == '(')
			open_level(e, *p);
		else if (*p == ')')
			close_level(e);
		else if (*p == '+' || *p == '-')
			(void)close_product(e, *p);
		else if (*p == '=')
			(void)equals(e);
		else
			assert(*p == ' ' || *p == '\n');
		p += i < 3 ? strlen(words[i]) : 1;
	}
}

/* The value of the first `count` terms. */
static bool evaluate(const struct term *terms, size_t count, uint64_t *value)
{
	struct evaluation e = { .depth = 0, .fits = true };
	size_t i;

	open_level(&e, '(');
	for (i = 0; i < count; i++) {
		apply_op(&e, terms[i].op);
		if (terms[i].label)
			apply_value(&e, terms[i].value);
	}
	*value = equals(&e);
	return e.fits;
}

void terms_append(struct term *list, const struct term *more)
{
	size_t i, count = 0;

	while (list[count].op)
		count++;
	for (i = 0; more[i].op; i++) {
		assert(count < TERMS_MAX);
		list[count++] = more[i];
	}
	list[count].op = NULL;
}

bool terms_evaluate(const struct term *terms, uint64_t *value)
{
	size_t count = 0;

	while (terms[count].op)
		count++;
	assert(count && count <= TERMS_MAX);
	return evaluate(terms, count, value);
}

static void add_word(struct strbuf *b, const char *word)
{
	if (b->len && *word && !strchr("( \n", b->text[b->len - 1]) &&
	    !strchr("),;\n", *word))
		strbuf_str(b, " ");
	strbuf_str(b, word);
}

void terms_print(struct strbuf *b, const struct term *terms)
{
	const struct term *t;
	char number[24];
	uint64_t value;
	bool equals;

	for (t = terms; t->op; t++) {
		equals = *t->op && t->op[strlen(t->op) - 1] == '=';
		value = t->value;
		if (equals &&
		    !evaluate(terms, (size_t)(t - terms) + 1, &value))
			return;
		snprintf(number, sizeof(number), "%llu",
			 (ull)value);
		add_word(b, t->op);
		add_word(b, t->label ? t->label : "");
		add_word(b, t->label || equals ? number : "");
		add_word(b, t->unit ? t->unit : "");
	}
}
