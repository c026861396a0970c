/*
 * What the unit tests share: their suites, and texts and objects to start
 * from.  JSON stands in the tests with single quotes, so that it can be
 * read; json() makes double ones of them.
 */
#ifndef KVPLAN_TESTS_UNIT_UNIT_H
#define KVPLAN_TESTS_UNIT_UNIT_H

#include <stddef.h>

#include <check.h>

#include <kvplan/kvplan.h>

Suite *u64_suite(void);
Suite *error_suite(void);
Suite *strbuf_suite(void);
Suite *file_suite(void);
Suite *json_suite(void);
Suite *json_at_suite(void);
Suite *number_suite(void);
Suite *geometry_suite(void);
Suite *geometry_error_suite(void);
Suite *base_chunks_suite(void);
Suite *compare_suite(void);
Suite *plan_suite(void);
Suite *pack_suite(void);
Suite *layout_suite(void);
Suite *verify_suite(void);
Suite *fingerprint_suite(void);
Suite *alias_check_suite(void);
Suite *backend_host_suite(void);
Suite *host_pool_suite(void);
Suite *backend_fault_suite(void);
Suite *owners_suite(void);
Suite *limits_suite(void);
Suite *probe_suite(void);
Suite *realize_suite(void);
Suite *obstacles_suite(void);
Suite *addresses_suite(void);
Suite *card_suite(void);
Suite *alloc_cache_suite(void);
Suite *decode_suite(void);
Suite *headroom_suite(void);
Suite *bytes_suite(void);
Suite *unsized_suite(void);
Suite *size_suite(void);
Suite *size_random_suite(void);

/* The text with double quotes for single ones; free() it. */
char *json(const char *text);

/*
 * A small sound geometry as JSON, with changes: "key=value;key=value".
 * "key=" drops the key, and a key that is not there is added in the end.
 * Values are JSON with single quotes and hold no ';' or '='.  free() it.
 */
char *geometry_text(const char *changes);

/* Texts that do not read: code, and the message behind "g: ". */
struct fault {
	const char *changes;
	int code;
	const char *message;
};
void check_geometry_fault(const char *changes, int code, const char *message);
void check_geometry_faults(const struct fault *faults, size_t count);
#define CHECK_FAULTS(faults) \
	check_geometry_faults(faults, sizeof(faults) / sizeof(*(faults)))

/* That geometry, read.  Fails the test where it does not read. */
struct kvp_geometry geometry_of(const char *changes);

/* Its plan.  Fails the test where it cannot be planned. */
struct kvp_plan plan_of(const char *changes, enum kvp_merge merge);

struct kvp_plan plan_geometry(const struct kvp_geometry *g,
			      enum kvp_merge merge);

/* A geometry or plan as text; free() it. */
char *written(const struct kvp_geometry *g);
char *written_plan(const struct kvp_plan *plan);

/* Sixteen ranks, 24 planes: the geometry of the published figures. */
extern const char *const published_dcp16;
extern const char *const published_dcp8;

#endif
