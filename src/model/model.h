/*
 * Functions that only the files of model use.
 */
#ifndef KVPLAN_MODEL_MODEL_H
#define KVPLAN_MODEL_MODEL_H

#include <kvplan/limits.h>
#include <kvplan/plan.h>

#include "base/json.h"
#include "model/fields.h"
#include "model/geometry_check.h"

/* document.c: check that the object's "format" is `wanted`. */
int document_check(const struct json_at *at, const char *wanted,
		   struct kvp_error *err);

/*
 * geometry_json.c: read the geometry in this value.  If `unsized` is true,
 * pages and snapshot_rows may be missing.
 */
int geometry_read_at(struct kvp_geometry *g, const struct json_at *at,
		     bool unsized, struct kvp_error *err);

/* base_chunks.c: sort a recorded layout, and check that its chunks cover
   planes and arena. */
int base_chunks_check(struct kvp_geometry *g, struct geometry_fault *fault);

/* limits_json.c: the names in the order of the enums. */
extern const struct json_field limits_ability_fields[KVP_ABILITIES];
extern const struct json_field limits_cost_fields[KVP_COSTS];

#endif
