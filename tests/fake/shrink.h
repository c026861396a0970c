/*
 * Making a failing geometry smaller.
 */
#ifndef TESTS_FAKE_SHRINK_H
#define TESTS_FAKE_SHRINK_H

#include <stdbool.h>
#include <stddef.h>

/* Whether a smaller geometry fails as well. */
typedef bool shrink_fails(const char *text, size_t len, void *cookie);

/* The smallest text found, to be freed; NULL without memory. */
char *shrink(const char *text, shrink_fails *fails, void *cookie);

#endif
