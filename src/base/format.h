/*
 * The "format" key, which says what a document is.
 */
#ifndef KVPLAN_BASE_FORMAT_H
#define KVPLAN_BASE_FORMAT_H

#include "base/json.h"

/*
 * Which of the known formats the object has.  Asked before any other key is
 * looked at: a plan where something else should be is no "unknown key".
 * *format is the key's place, also where the key is missing.  Errors:
 * KVP_EINPUT for a format that is missing or not known; KVP_ENOMEM.
 */
int format_check(const struct json_at *at, const char *const *known,
		 size_t count, struct json_at *format, size_t *which,
		 struct kvp_error *err);

#endif
