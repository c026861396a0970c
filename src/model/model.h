/*
 * What the files of model share: reading chunk lists, checking a geometry,
 * writing parts of documents.  Nobody else includes this.
 */
#ifndef KVPLAN_MODEL_MODEL_H
#define KVPLAN_MODEL_MODEL_H

#include <kvplan/limits.h>
#include <kvplan/plan.h>

#include "base/json.h"
#include "base/strbuf.h"

/* Which keys of a geometry stood in the text, for the place of an error. */
struct geometry_places {
	struct json_at root;
	struct json_at planes;
	struct json_at imports;	/* p == NULL: by default */
	struct json_at group_size;
	struct json_at base_chunks;
	struct json_at rows;	/* row_stride or row_bytes */
	struct json_at arena_address;
	struct json_at statics;
};

/* document.c: "format" has to say what is wanted. */
int document_check(const struct json_at *at, const char *wanted,
		   struct kvp_error *err);

/*
 * geometry_json.c: read the geometry that stands at this place.  unsized:
 * pages and snapshot_rows may be missing.
 */
int geometry_read_at(struct kvp_geometry *g, const struct json_at *at,
		     bool unsized, struct kvp_error *err);

/* planes_json.c: read and expand the planes. */
int planes_read(struct kvp_geometry *g, const struct json_at *at,
		struct kvp_error *err);

/* geometry_access.c: the access lists. */
int access_read(struct kvp_geometry *g, const struct json_at *access,
		struct json_at *imports, struct kvp_error *err);
int ranks_read(struct kvp_ranks *list, const struct json_at *at,
	       uint64_t ranks, struct kvp_error *err);
int access_check(const struct kvp_geometry *g,
		 const struct geometry_places *places, struct kvp_error *err);

/* geometry_check.c: what no key says alone. */
int geometry_check(struct kvp_geometry *g,
		   const struct geometry_places *places,
		   struct kvp_error *err);

/* base_chunks.c: bring a recorded layout in order and check it covers. */
int base_chunks_check(struct kvp_geometry *g, const struct json_at *at,
		      struct kvp_error *err);

/* address_check.c: recorded addresses do not overlap. */
int addresses_check(const struct kvp_geometry *g,
		    const struct geometry_places *places,
		    struct kvp_error *err);

/* chunk_json.c: chunk lists of both formats. */
int chunks_read(struct kvp_chunk **chunks, size_t *count,
		const struct json_at *at, struct kvp_error *err);
void chunks_write(struct strbuf *b, const struct kvp_chunk *chunks,
		  size_t count);
void ranks_write(struct strbuf *b, const struct kvp_ranks *list);

/* headroom_json.c */
int headroom_read(struct kvp_headroom *h, const struct json_at *at,
		  struct kvp_error *err);
void headroom_write(struct strbuf *b, const struct kvp_headroom *h);

/* geometry_write.c: the object, without a line end behind it. */
/* KVP_EINPUT for an importer mode or importers that are none of the enum's:
   they have no JSON. */
int geometry_check_enums(const struct kvp_geometry *g, struct kvp_error *err);
void geometry_write_to(struct strbuf *b, const struct kvp_geometry *g);

/* limits_json.c: the names in the order of the enums. */
extern const struct json_field limits_ability_fields[KVP_ABILITIES];
extern const struct json_field limits_cost_fields[KVP_COSTS];

/* The words of enum kvp_importer_mode and enum kvp_static_importers. */
extern const char *const importer_mode_names[2];
extern const char *const static_importers_names[3];

/* "?" for a value that is none. */
static inline const char *importer_mode_name(enum kvp_importer_mode mode)
{
	return (unsigned)mode < 2 ? importer_mode_names[mode] : "?";
}

static inline const char *
static_importers_name(enum kvp_static_importers importers)
{
	return (unsigned)importers < 3 ? static_importers_names[importers] :
					 "?";
}

#endif
