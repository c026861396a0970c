/*
 * Joining, and reading the numbers of a capacity document.
 */
#include "share/joined.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Count the lines of the access records, and the readers of each. */
static void count_records(const char *text, struct joined *out)
{
	const char *line = strstr(text, "\"access\""), *end, *at;
	uint32_t count;

	for (; line && (line = strstr(line, "\"readers\"")); line = end) {
		end = strchr(line, ']');
		for (count = 1, at = line; at < end; at++)
			count += *at == ',' && at > line + 10;
		if (!out->records++ || count < out->least)
			out->least = count;
		if (count > out->most)
			out->most = count;
	}
}

static uint64_t number_behind(const char *text, const char *key)
{
	const char *at = text ? strstr(text, key) : NULL;
	uint64_t number = 0;

	if (at)
		sscanf(at + strlen(key), "%" SCNu64, &number);
	return number;
}

int join_parts(const struct job *j, struct joined *out, struct kvp_error *err)
{
	struct kvp_capacity_part parts[LAUNCH_MAX];
	char *text = NULL;
	size_t len;
	uint32_t i;
	int code;

	*out = (struct joined){ 0 };
	for (i = 0; i < j->count; i++)
		parts[i] = (struct kvp_capacity_part){
			"part", j->member[i].part, j->member[i].part_len };
	code = kvp_capacity_join(parts, j->count, true, &text, &len, err);
	if (code)
		return code;
	out->entries = number_behind(strstr(text, "\"capacity\":{"),
				     "\"entries\":");
	count_records(text, out);
	free(text);
	return KVP_OK;
}
