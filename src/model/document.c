/*
 * Finding out whether a document is a geometry or a plan, from its "format".
 */
#include <string.h>

#include <kvplan/plan.h>

#include "base/error.h"
#include "base/format.h"
#include "model/model.h"

static const char *const formats[] = { KVP_GEOMETRY_FORMAT, KVP_PLAN_FORMAT };

static int read_format(const struct json_at *at, struct json_at *format,
		       size_t *which, struct kvp_error *err)
{
	struct kvp_error missing;
	struct json_at type;
	int code = format_check(at, formats, 2, format, which, err);

	/* No format: a config.json has this key, so say what to do. */
	if (code != KVP_EINPUT || !err || format->p ||
	    json_member(at, "model_type", &type, NULL) || !type.p)
		return code;
	missing = *err;
	return kvp_error_set(err, code, "%s; a model's config.json goes to "
			     "kvplan import", missing.text);
}

int document_check(const struct json_at *at, const char *wanted,
		   struct kvp_error *err)
{
	struct json_at format;
	size_t which = 0;
	int code = read_format(at, &format, &which, err);

	if (code || !strcmp(formats[which], wanted))
		return code;
	return json_fail(&format, err, KVP_EINPUT,
			 "is \"%s\", must be \"%s\"%s", formats[which], wanted,
			 !which ? "; kvplan plan makes a plan of it" :
			 at->up ? "" : "; a plan has its geometry under the "
				       "key geometry");
}

int kvp_document_kind(enum kvp_document *kind, const char *source,
		      const char *text, size_t len, struct kvp_error *err)
{
	struct json_text in;
	struct json_at root, format;
	size_t which = 0;
	int code = json_open(&in, &root, source, text, len, err);

	if (!code)
		code = read_format(&root, &format, &which, err);
	if (!code)
		*kind = which ? KVP_DOC_PLAN : KVP_DOC_GEOMETRY;
	return code;
}
