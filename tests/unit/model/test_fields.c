/*
 * The table of a geometry's fields against kvplan-geometry(5): the same keys
 * in the same order under the same headings, with the same types.
 */
#include <stdio.h>
#include <string.h>

#include "model/fields.h"
#include "unit/unit.h"

#define PAGE "man/kvplan-geometry.5"
#define ITEM ".It Cm "

/* The next key under a heading; false at the next heading. */
static bool next_key(FILE *page, char *key, size_t size, char *type)
{
	char line[256], name[64];

	while (fgets(line, sizeof(line), page) &&
	       strncmp(line, ".Sh", 3) && strncmp(line, ".Ss", 3)) {
		*type = '\0';
		if (strncmp(line, ITEM, strlen(ITEM)) ||
		    sscanf(line + strlen(ITEM), "%63s Pq Ar %15s", name,
			   type) < 1)
			continue;
		snprintf(key, size, "%s", name);
		return true;
	}
	return false;
}

static const char *type_of(const struct field *f)
{
	if (f->null)
		return "";
	return f->kind == FIELD_BYTES ? "bytes" :
	       f->kind == FIELD_COUNT || f->kind == FIELD_INDEX ||
	       f->kind == FIELD_INPUT ? "integer" : "";
}

static void compare(const char *heading, const struct record *record)
{
	FILE *page = fopen(PAGE, "r");
	char line[256], key[64], type[16];
	size_t i;

	ck_assert_msg(page, "%s cannot be read", PAGE);
	while (fgets(line, sizeof(line), page) && strcmp(line, heading))
		;
	ck_assert_msg(!feof(page), "%s has no heading %s", PAGE, heading);
	for (i = 0; next_key(page, key, sizeof(key), type); i++) {
		ck_assert_msg(i < record->nfields, "%s: %s is no field",
			      PAGE, key);
		ck_assert_str_eq(key, record->fields[i].key.name);
		ck_assert_msg(!strcmp(type, type_of(&record->fields[i])),
			      "%s: %s is of type '%s', its field of '%s'",
			      PAGE, key, type, type_of(&record->fields[i]));
	}
	ck_assert_msg(i == record->nfields, "%s lacks %s", PAGE,
		      record->fields[i].key.name);
	fclose(page);
}

START_TEST(the_manual_has_the_fields_of_the_table)
{
	compare(".Sh KEYS\n", &geometry_record);
	compare(".Ss Planes\n", &plane_record);
	compare(".Ss Access\n", &access_record);
	compare(".Ss Static storage\n", &static_record);
	compare(".Ss Headroom\n", &headroom_record);
	compare(".Ss Base chunks\n", &chunk_record);
}
END_TEST

Suite *fields_suite(void)
{
	Suite *suite = suite_create("fields");
	TCase *tests = tcase_create("fields");

	tcase_add_test(tests, the_manual_has_the_fields_of_the_table);
	suite_add_tcase(suite, tests);
	return suite;
}
