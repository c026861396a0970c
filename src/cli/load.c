/*
 * Files that several commands read.
 */
#include <stdlib.h>

#include "base/file.h"
#include "cli/cli.h"

int limits_load(struct kvp_limits *limits, const char *path,
		struct kvp_error *err)
{
	char *text = NULL;
	size_t len;
	int code;

	*limits = (struct kvp_limits){ .driver = "" };
	if (!path)
		return KVP_OK;
	code = kvp_file_read(path, &text, &len, err);
	if (!code)
		code = kvp_limits_read(limits, kvp_file_label(path), text,
				       len, err);
	free(text);
	return code;
}

typedef int read_fn(struct kvp_geometry *g, const char *source,
		    const char *text, size_t len, struct kvp_error *err);

static int load_geometry(struct kvp_geometry *g, const char *path,
			 read_fn *read, struct kvp_error *err)
{
	char *text = NULL;
	size_t len;
	int code = kvp_file_read(path, &text, &len, err);

	if (!code)
		code = read(g, kvp_file_label(path), text, len, err);
	free(text);
	return code;
}

int geometry_load(struct kvp_geometry *g, const char *path,
		  struct kvp_error *err)
{
	return load_geometry(g, path, kvp_geometry_read, err);
}

int geometry_load_unsized(struct kvp_geometry *g, const char *path,
			  struct kvp_error *err)
{
	return load_geometry(g, path, kvp_geometry_read_unsized, err);
}

void cap_warn(const struct kvp_cap *cap, uint64_t free_bytes)
{
	if (cap->term != KVP_CAP_OVERRIDE)
		return;
	if (!cap->bounded)
		out_warning("without a cap the cache grows until memory runs "
			    "out");
	else if (!cap_is_reached(true, cap->bytes, free_bytes))
		out_warning("a cap of %s bytes is more than half of the %s "
			    "that are free: memory may run out before "
			    "the cache evicts anything",
			    out_number(cap->bytes).text,
			    out_number(free_bytes).text);
}

int override_load(struct kvp_cap_override *o, const char *option_value)
{
	static const char name[] = "KVPLAN_ALLOC_CACHE_MAX_MB";
	struct kvp_error err = { 0 };
	int code;

	*o = (struct kvp_cap_override){ .given = false };
	code = option_value ?
	       kvp_cap_override_read(o, "--override", option_value, &err) :
	       kvp_cap_override_read(o, name, getenv(name), &err);
	if (code == KVP_EINPUT && !option_value && !*getenv(name))
		return out_usage_error("%s is empty; unset it, or set it to "
			"a number of MiB, or to 0 for no cap", name);
	return code ? out_error(&err) : KVP_EXIT_YES;
}
