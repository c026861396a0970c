/*
 * The headroom a geometry states and a plan copies.
 */
#include "model/model.h"

enum { H_FREE, H_CAP, H_KEYS };

static const struct json_field fields[H_KEYS] = {
	{ "free_bytes", true }, { "cap_bytes", true },
};

int headroom_read(struct kvp_headroom *h, const struct json_at *at,
		  struct kvp_error *err)
{
	struct json_at v[H_KEYS];
	int code = json_object(at, fields, H_KEYS, v, err);

	if (!code)
		code = json_bytes(&v[H_FREE], 0, &h->free_bytes, err);
	if (code)
		return code;
	h->bounded = json_type(&v[H_CAP]) != JSON_NULL;
	h->cap_bytes = 0;
	return h->bounded ? json_bytes(&v[H_CAP], 0, &h->cap_bytes, err) :
			    KVP_OK;
}

void headroom_write(struct strbuf *b, const struct kvp_headroom *h)
{
	strbuf_str(b, "{\"free_bytes\":");
	strbuf_u64(b, h->free_bytes);
	strbuf_str(b, ",\"cap_bytes\":");
	strbuf_u64_or_null(b, h->bounded, h->cap_bytes);
	strbuf_str(b, "}");
}
