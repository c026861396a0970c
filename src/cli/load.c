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

int geometry_load(struct kvp_geometry *g, const char *path,
		  struct kvp_error *err)
{
	char *text = NULL;
	size_t len;
	int code = kvp_file_read(path, &text, &len, err);

	if (!code)
		code = kvp_geometry_read(g, kvp_file_label(path), text, len,
					 err);
	free(text);
	return code;
}
