/*
 * The rows of import's families: what no compiler checks.
 */
#include <string.h>

#include <check.h>

#include "import/import.h"
#include "unit/unit.h"

/* How many families take this model_type. */
static int takers(const char *type)
{
	const struct kvp_import_family *f;
	int count = 0;
	size_t i;

	for (i = 0; (f = kvp_import_family(i)) != NULL; i++)
		count += word_is_in(f->types, type);
	return count;
}

/* The next of the words between spaces; false behind the last. */
static bool next_word(const char **words, char *word, size_t size)
{
	size_t len = strcspn(*words, " ");

	if (!len)
		return false;
	ck_assert_uint_lt(len, size);
	memcpy(word, *words, len);
	word[len] = '\0';
	*words += len + ((*words)[len] == ' ');
	return true;
}

START_TEST(each_model_type_is_one_familys)
{
	char word[KVP_IMPORT_TYPE_MAX + 1];
	const struct family *f;
	const char *words;
	size_t i;

	for (i = 0; (f = family_at(i)) != NULL; i++)
		for (words = f->shown.types;
		     next_word(&words, word, sizeof(word));)
			ck_assert_msg(takers(word) == 1, "%s", word);
}
END_TEST

START_TEST(classes_are_those_of_the_familys_own_types)
{
	char word[KVP_IMPORT_TYPE_MAX + 1];
	const struct model_class *c;
	const struct family *f;
	const char *words;
	size_t i;

	for (i = 0; (f = family_at(i)) != NULL; i++)
		for (c = f->classes; c && c->types; c++)
			for (words = c->types;
			     next_word(&words, word, sizeof(word));)
				ck_assert_msg(word_is_in(f->shown.types, word),
					      "%s of %s", word, c->name);
}
END_TEST

START_TEST(a_row_has_what_its_kinds_of_layers_need)
{
	const struct family *f;
	size_t i;

	for (i = 0; (f = family_at(i)) != NULL; i++) {
		ck_assert(f->attention != NULL);
		ck_assert_ptr_nonnull(f->page_tokens_source);
		ck_assert_uint_gt(f->page_tokens, 0);
		ck_assert(f->recurrent || !f->recurrent_words);
		ck_assert(f->default_layers != FULL_BY_PATTERN || f->pattern);
		ck_assert(f->mtp == MTP_UNKNOWN || f->mtp_key);
		/* Where the config does not say, a message names engines. */
		ck_assert(f->state != STATE_FP32 || f->state_engines);
	}
}
END_TEST

Suite *families_suite(void)
{
	Suite *suite = suite_create("families");
	TCase *tests = tcase_create("families");

	tcase_add_test(tests, each_model_type_is_one_familys);
	tcase_add_test(tests, classes_are_those_of_the_familys_own_types);
	tcase_add_test(tests, a_row_has_what_its_kinds_of_layers_need);
	suite_add_tcase(suite, tests);
	return suite;
}
