/*
 * Computing the cap of an allocation cache from the free memory.
 */
#include <kvplan/headroom.h>

#include <assert.h>
#include <string.h>

#include <kvplan/geometry.h>

#include "base/error.h"

static const char blanks[] = " \t\r\n";

int kvp_cap_override_read(struct kvp_cap_override *o, const char *source,
			  const char *text, struct kvp_error *err)
{
	const uint64_t most = KVP_NUMBER_MAX >> 20;
	const char *p = text;
	uint64_t mib = 0;

	assert(o && source);
	if (!text)
		return KVP_OK;
	p += strspn(p, blanks);
	if (*p < '0' || *p > '9')
		goto bad;
	for (; *p >= '0' && *p <= '9'; p++)
		if (mib <= most)
			mib = mib * 10 + (uint64_t)(*p - '0');
	if (p[strspn(p, blanks)] || mib > most)
		goto bad;
	*o = (struct kvp_cap_override){ true, mib != 0, mib << 20 };
	return KVP_OK;
bad:
	return kvp_error_set(err, KVP_EINPUT, "%s is '%s', must be a whole "
		"number of MiB from 1 to %llu, or 0 for no cap at all",
		source, text, (ull)most);
}

static struct kvp_cap compute_cap(uint64_t free_bytes)
{
	uint64_t half = free_bytes / 2, eighth = free_bytes / 8;

	if (eighth >= KVP_CAP_CEILING_BYTES)
		return (struct kvp_cap){ KVP_CAP_CEILING_BYTES, true,
					 KVP_CAP_CEILING };
	if (eighth >= KVP_CAP_FLOOR_BYTES)
		return (struct kvp_cap){ eighth, true, KVP_CAP_EIGHTH };
	if (half >= KVP_CAP_FLOOR_BYTES)
		return (struct kvp_cap){ KVP_CAP_FLOOR_BYTES, true,
					 KVP_CAP_FLOOR };
	return (struct kvp_cap){ half, true, KVP_CAP_HALF };
}

struct kvp_cap kvp_cap_plan(const uint64_t *free_bytes,
			    const struct kvp_cap_override *override)
{
	if (override && override->given)
		return (struct kvp_cap){ override->bytes, override->bounded,
					 KVP_CAP_OVERRIDE };
	if (!free_bytes)
		return (struct kvp_cap){ KVP_CAP_CEILING_BYTES, true,
					 KVP_CAP_NO_READING };
	return compute_cap(*free_bytes);
}

uint64_t kvp_cap_left(const struct kvp_cap *cap, uint64_t free_bytes)
{
	assert(cap);
	return cap->bounded && cap->bytes < free_bytes ?
	       free_bytes - cap->bytes : 0;
}

uint64_t kvp_cap_free_needed(uint64_t cap_bytes)
{
	if (cap_bytes > KVP_CAP_CEILING_BYTES)
		return UINT64_MAX;
	return cap_bytes <= KVP_CAP_FLOOR_BYTES ? 2 * cap_bytes :
						  8 * cap_bytes;
}

const char *kvp_cap_term_name(enum kvp_cap_term term)
{
	static const char *const names[] = {
		[KVP_CAP_HALF] = "half", [KVP_CAP_FLOOR] = "floor",
		[KVP_CAP_EIGHTH] = "eighth", [KVP_CAP_CEILING] = "ceiling",
		[KVP_CAP_NO_READING] = "no-reading",
		[KVP_CAP_OVERRIDE] = "override",
	};

	return (unsigned)term <= KVP_CAP_OVERRIDE ? names[term] : "?";
}
