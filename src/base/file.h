/*
 * Whole files in, whole files out.
 */
#ifndef KVPLAN_BASE_FILE_H
#define KVPLAN_BASE_FILE_H

#include <stddef.h>

#include <kvplan/error.h>

/* Larger files are refused: no plan within the limits is that big. */
#define KVP_FILE_MAX ((size_t)1 << 30)

/*
 * Read a whole file; "-" is standard input.  *text is zero-terminated, *len
 * does not count the zero; give it back with free().
 * Errors: KVP_EIO, KVP_ELIMIT, KVP_ENOMEM.
 */
int kvp_file_read(const char *path, char **text, size_t *len,
		  struct kvp_error *err);

/*
 * Write a file whole or not at all: into a new file beside it, synced, then
 * renamed.  Something that is not a regular file (a pipe, /dev/null) is
 * written directly.  Errors: KVP_EIO, KVP_ENOMEM.
 */
int kvp_file_write(const char *path, const char *text, size_t len,
		   struct kvp_error *err);

/* The name to show: "<stdin>" for "-". */
const char *kvp_file_label(const char *path);

#endif
