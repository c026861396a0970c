/*
 * Chunk lists and rank lists as both formats hold them.
 */
#include <stdlib.h>

#include "base/error.h"
#include "model/model.h"

enum { C_PLANE, C_OFFSET, C_BYTES, C_ARENA, C_KEYS };

static const struct json_field fields[C_KEYS] = {
	{ "plane", true }, { "offset", true }, { "bytes", true },
	{ "arena", true },
};

static int chunk_read(struct kvp_chunk *c, const struct json_at *at,
		      struct kvp_error *err)
{
	const uint64_t max = KVP_NUMBER_MAX;
	struct json_at v[C_KEYS];
	uint64_t plane = 0;
	int code = json_object(at, fields, C_KEYS, v, err);

	if (!code)
		code = json_u64(&v[C_PLANE], 0, UINT32_MAX, &plane, err);
	if (!code)
		code = json_u64(&v[C_OFFSET], 0, max, &c->offset, err);
	if (!code)
		code = json_u64(&v[C_BYTES], 0, max, &c->bytes, err);
	c->plane = (uint32_t)plane;
	c->arena = KVP_UNALIASED;
	if (!code && json_type(&v[C_ARENA]) != JSON_NULL)
		code = json_u64(&v[C_ARENA], 0, max, &c->arena, err);
	return code;
}

int chunks_read(struct kvp_chunk **chunks, size_t *count,
		const struct json_at *at, struct kvp_error *err)
{
	struct json_list list;
	struct json_at element;
	size_t room;
	int code = json_list_count(at, KVP_CHUNKS_MAX, &room, err);

	if (code)
		return code;
	*chunks = malloc((room + 1) * sizeof(**chunks));
	if (!*chunks)
		return kvp_error_nomem(err);
	*count = 0;
	code = json_list_begin(&list, at, err);
	while (!code && json_list_next(&list, &element))
		code = chunk_read(&(*chunks)[(*count)++], &element, err);
	return code;
}

void chunks_write(struct strbuf *b, const struct kvp_chunk *chunks,
		  size_t count)
{
	size_t i;

	strbuf_str(b, "[");
	for (i = 0; i < count; i++) {
		strbuf_str(b, i ? ",\n{\"plane\":" : "\n{\"plane\":");
		strbuf_u64(b, chunks[i].plane);
		strbuf_str(b, ",\"offset\":");
		strbuf_u64(b, chunks[i].offset);
		strbuf_str(b, ",\"bytes\":");
		strbuf_u64(b, chunks[i].bytes);
		strbuf_str(b, ",\"arena\":");
		if (chunks[i].arena == KVP_UNALIASED)
			strbuf_str(b, "null");
		else
			strbuf_u64(b, chunks[i].arena);
		strbuf_str(b, "}");
	}
	strbuf_str(b, count ? "\n]" : "]");
}

void ranks_write(struct strbuf *b, const struct kvp_ranks *list)
{
	size_t i;

	strbuf_str(b, "[");
	for (i = 0; i < list->count; i++) {
		if (i)
			strbuf_str(b, ",");
		strbuf_u64(b, list->rank[i]);
	}
	strbuf_str(b, "]");
}
