/*
 * The "format" key, which states the kind of a document.
 */
#ifndef KVPLAN_BASE_FORMAT_H
#define KVPLAN_BASE_FORMAT_H

#include "base/json.h"

/*
 * Find out which of the known formats an object has.  Call this before
 * reading other keys: if a file of another kind is given, its format should
 * be reported and not an unknown key.  *format becomes the key's value, for
 * error messages also if the key is missing.  Errors: KVP_EINPUT for a
 * format that is missing or not known; KVP_ENOMEM.
 */
int format_check(const struct json_at *at, const char *const *known,
		 size_t count, struct json_at *format, size_t *which,
		 struct kvp_error *err);

#endif
