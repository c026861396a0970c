/*
 * Texts and objects the unit tests start from.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/invariants.h"
#include "unit/unit.h"

struct pair {
	const char *key;
	const char *value;
};

static const struct pair sound[] = {
	{ "format", "'kvplan/geometry/1'" },
	{ "name", "'small'" },
	{ "granularity", "4096" },
	{ "tile_granules", "1" },
	{ "pages", "8" },
	{ "page_tokens", "16" },
	{ "snapshot_rows", "2" },
	{ "execution_rows", "1" },
	{ "row_bytes", "8192" },
	{ "row_stride", "10240" },
	{ "ranks", "4" },
	{ "ranks_per_node", "4" },
	{ "dcp_group_size", "2" },
	{ "planes", "[{'name': 'a', 'bytes_per_page': 4096},"
		    " {'name': 'b', 'count': 2, 'bytes_per_page': 2048}]" },
};

/* What the two published geometries share. */
#define PUBLISHED \
	"granularity=2097152;row_stride=;execution_rows=5;page_tokens=128;" \
	"ranks=16;ranks_per_node=;static_entries=2869;" \
	"planes=[{'name': 'mla', 'count': 24, 'bytes_per_page': 74240}];"

const char *const published_dcp16 =
	PUBLISHED "pages=2234;snapshot_rows=112;dcp_group_size=16;"
	"row_bytes=35889152;page_overhead_bytes=336216";
const char *const published_dcp8 =
	PUBLISHED "pages=3072;snapshot_rows=153;dcp_group_size=8;"
	"row_bytes=35860000;page_overhead_bytes=450628";

static void *whole(void *memory)
{
	ck_assert_ptr_nonnull(memory);
	return memory;
}

char *json(const char *text)
{
	char *copy = whole(strdup(text)), *p;

	for (p = copy; *p; p++)
		if (*p == '\'')
			*p = '"';
	return copy;
}

/* Put one change into the pairs; returns how many there are then. */
static size_t change(struct pair *pairs, size_t count, char *key)
{
	char *value = strchr(key, '=');
	size_t i;

	ck_assert_ptr_nonnull(value);
	*value++ = '\0';
	for (i = 0; i < count && strcmp(pairs[i].key, key); i++)
		;
	pairs[i].key = key;
	pairs[i].value = value;
	return i == count ? count + 1 : count;
}

char *geometry_text(const char *changes)
{
	struct pair pairs[64];
	size_t count = sizeof(sound) / sizeof(*sound), used = 0, i;
	char *work = json(changes), *each, *next, *text;
	size_t room = strlen(changes) + 2048;

	memcpy(pairs, sound, sizeof(sound));
	for (each = work; *each; each = next) {
		next = each + strcspn(each, ";");
		if (*next)
			*next++ = '\0';
		count = change(pairs, count, each);
	}
	text = whole(malloc(room));
	for (i = 0; i < count; i++)
		if (*pairs[i].value)
			used += (size_t)snprintf(text + used, room - used,
				"%s\"%s\": %s", used ? ",\n" : "{",
				pairs[i].key, pairs[i].value);
	snprintf(text + used, room - used, "}\n");
	free(work);
	for (i = 0; text[i]; i++)
		if (text[i] == '\'')
			text[i] = '"';
	return text;
}

void check_geometry_fault(const char *changes, int code, const char *message)
{
	struct kvp_geometry g;
	struct kvp_error err = { 0 };
	char *text = geometry_text(changes), expected[KVP_ERROR_MAX];
	int got = kvp_geometry_read(&g, "g", text, strlen(text), &err);

	free(text);
	kvp_geometry_release(&g);
	snprintf(expected, sizeof(expected), "g: %s", message);
	ck_assert_msg(got == code && !strcmp(err.text, expected),
		      "%s:\nseen     %s %s\nexpected %s %s", changes,
		      kvp_code_name(got), err.text, kvp_code_name(code),
		      expected);
	ck_assert_int_eq(err.code, code);
}

void check_geometry_faults(const struct fault *faults, size_t count)
{
	size_t i;

	for (i = 0; i < count; i++)
		check_geometry_fault(faults[i].changes, faults[i].code,
				     faults[i].message);
}

struct kvp_geometry geometry_of(const char *changes)
{
	char *text = geometry_text(changes);
	struct kvp_geometry g;
	struct kvp_error err = { 0 };
	int code = kvp_geometry_read(&g, "g", text, strlen(text), &err);

	ck_assert_msg(!code, "%s", err.text);
	geometry_check_internal(&g);
	free(text);
	return g;
}

struct kvp_plan plan_geometry(const struct kvp_geometry *g,
			      enum kvp_merge merge)
{
	struct kvp_plan plan;
	struct kvp_error err = { 0 };
	int code = kvp_plan_make(&plan, g, merge, &err);

	ck_assert_msg(!code, "%s", err.text);
	plan_check_internal(&plan);
	return plan;
}

struct kvp_plan plan_of(const char *changes, enum kvp_merge merge)
{
	struct kvp_geometry g = geometry_of(changes);
	struct kvp_plan plan = plan_geometry(&g, merge);

	kvp_geometry_release(&g);
	return plan;
}

char *written(const struct kvp_geometry *g)
{
	char *text;
	size_t len;

	ck_assert_int_eq(kvp_geometry_write(g, &text, &len, NULL), KVP_OK);
	ck_assert_uint_eq(strlen(text), len);
	return text;
}

char *written_plan(const struct kvp_plan *plan)
{
	char *text;
	size_t len;

	ck_assert_int_eq(kvp_plan_write(plan, &text, &len, NULL), KVP_OK);
	ck_assert_uint_eq(strlen(text), len);
	return text;
}
