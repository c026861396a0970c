/*
 * Checking the "format" key of a document.
 */
#include "base/format.h"

#include "base/text_list.h"

static int fail_missing(const struct json_at *format, const char *const *known,
			size_t count, struct kvp_error *err)
{
	char text[128];
	struct text_list list;
	size_t i;

	text_list_begin(&list, text, sizeof(text), " or ");
	for (i = 0; i < count; i++)
		text_list_add(&list, 1, "\"%s\"", known[i]);
	text_list_end(&list);
	return json_fail(format, err, KVP_EINPUT, "missing, must be %s", text);
}

int format_check(const struct json_at *at, const char *const *known,
		 size_t count, struct json_at *format, size_t *which,
		 struct kvp_error *err)
{
	int code = json_member(at, "format", format, err);

	if (!code && !format->p)
		code = fail_missing(format, known, count, err);
	return code ? code : json_choice(format, known, count, which, err);
}
