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

/*
 * SUITE(name) for every tests/unit/ROOM/test_NAME.c.  A suite is called as
 * its file is: name_suite() makes it, and suite_create("name").
 */
#define SUITE(name) Suite *name##_suite(void);
#include "tests/unit/suites.def"
#undef SUITE

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
