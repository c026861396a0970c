/*
 * Writing and reading blobs.  Integers are little-endian; the last eight bytes
 * are a hash of the others, so that a blob that was cut or mixed is noticed.
 */
#include "share/blob.h"

#include <assert.h>
#include <string.h>

#include "base/error.h"

#define VERSION 1
#define HASHED (KVP_SHARE_BYTES - 8)

static const char magic[8] = "kvpshare";

/* Bytes being written or read. */
struct bytes {
	unsigned char *to;
	const unsigned char *from;
	size_t at;
};

uint64_t share_hash(const void *bytes, size_t len)
{
	const unsigned char *b = bytes;
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	while (len--)
		hash = (hash ^ *b++) * UINT64_C(0x100000001b3);
	return hash;
}

/* Each writes a member if b->to is set, or reads it. */

static void pass_bytes(struct bytes *b, void *member, size_t len)
{
	assert(b->at + len <= KVP_SHARE_BYTES);
	if (b->to)
		memcpy(b->to + b->at, member, len);
	else
		memcpy(member, b->from + b->at, len);
	b->at += len;
}

static void pass_number(struct bytes *b, uint64_t *member, unsigned len)
{
	unsigned char octets[8];
	unsigned i;

	for (i = 0; i < len; i++)
		octets[i] = (unsigned char)(*member >> 8 * i);
	pass_bytes(b, octets, len);
	for (i = 0, *member = 0; i < len; i++)
		*member |= (uint64_t)octets[i] << 8 * i;
}

static void pass_u64(struct bytes *b, uint64_t *member)
{
	pass_number(b, member, 8);
}

static void pass_u32(struct bytes *b, uint32_t *member)
{
	uint64_t wide = *member;

	pass_number(b, &wide, 4);
	*member = (uint32_t)wide;
}

static void pass_members(struct bytes *b, struct share_blob *m)
{
	/* Codes are negative. */
	uint32_t code = (uint32_t)-m->code, i;

	pass_u32(b, &m->phase);
	pass_u32(b, &code);
	pass_u32(b, &m->handle_type);
	pass_u32(b, &m->uid);
	pass_u32(b, &m->first_rank);
	pass_u32(b, &m->nranks);
	pass_u64(b, &m->plan);
	pass_u64(b, &m->share);
	pass_u32(b, &m->follows);
	pass_bytes(b, m->token, sizeof(m->token));
	pass_bytes(b, m->node, sizeof(m->node));
	pass_bytes(b, m->host, sizeof(m->host));
	m->code = code < 1000 ? -(int)code : KVP_EBUG;
	if (m->code) {
		pass_bytes(b, m->text, sizeof(m->text));
		return;
	}
	pass_bytes(b, m->endpoint, sizeof(m->endpoint));
	for (i = 0; i < KVP_SHARE_RANKS_MAX; i++)
		pass_bytes(b, m->gpus[i].end, sizeof(m->gpus[i].end));
}

void share_blob_write(const struct share_blob *m, struct kvp_share_blob *out)
{
	struct bytes b = { .to = out->bytes };
	struct share_blob copy = *m;
	uint64_t version = VERSION, hash;
	char start[8];

	memset(out, 0, sizeof(*out));
	memcpy(start, magic, sizeof(start));
	pass_bytes(&b, start, sizeof(start));
	pass_u64(&b, &version);
	pass_members(&b, &copy);
	assert(b.at <= HASHED);
	hash = share_hash(out->bytes, HASHED);
	b.at = HASHED;
	pass_u64(&b, &hash);
}

/* A text ends within its member and holds printable characters. */
static bool text_is_well(const char *text, size_t size)
{
	size_t i;

	for (i = 0; i < size && text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			return false;
	return i < size;
}

static bool members_are_well(const struct share_blob *m)
{
	bool known = !m->code || strcmp(kvp_code_name(m->code), "KVP_?");

	if (!known || !text_is_well(m->node, sizeof(m->node)) ||
	    !text_is_well(m->host, sizeof(m->host)))
		return false;
	if (m->code)
		return text_is_well(m->text, sizeof(m->text));
	return text_is_well(m->endpoint, sizeof(m->endpoint)) && *m->node &&
	       *m->endpoint && m->nranks && m->nranks <= KVP_SHARE_RANKS_MAX;
}

static enum share_reading refuse(struct kvp_error *why, const char *text)
{
	kvp_error_set(why, KVP_EREFUSED, "%s", text);
	return SHARE_UNREADABLE;
}

enum share_reading share_blob_read(const struct kvp_share_blob *in,
				   uint32_t phase, struct share_blob *m,
				   struct kvp_error *why)
{
	static const struct kvp_share_blob zero;
	struct bytes b = { .from = in->bytes };
	uint64_t version = 0, hash = 0;
	char start[8];

	memset(m, 0, sizeof(*m));
	if (!memcmp(in, &zero, sizeof(zero))) {
		kvp_error_set(why, KVP_EPEER, "it did not arrive");
		return SHARE_MISSING;
	}
	pass_bytes(&b, start, sizeof(start));
	pass_u64(&b, &version);
	if (memcmp(start, magic, sizeof(start)))
		return refuse(why, "it is no blob of kvplan");
	if (version != VERSION) {
		kvp_error_set(why, KVP_EREFUSED, "it has version %llu, this "
			      "process has %d; use one kvplan on all hosts",
			      (ull)version, VERSION);
		return SHARE_UNREADABLE;
	}
	pass_members(&b, m);
	b.at = HASHED;
	pass_u64(&b, &hash);
	if (hash != share_hash(in->bytes, HASHED) || !members_are_well(m))
		return refuse(why, "its bytes are damaged");
	if (m->phase == phase)
		return SHARE_READ;
	kvp_error_set(why, KVP_EREFUSED, "it is of gather %u, expected %u",
		      m->phase, phase);
	return SHARE_UNREADABLE;
}
