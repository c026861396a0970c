/*
 * Whole files in, whole files out.
 */
#ifndef KVPLAN_BASE_FILE_H
#define KVPLAN_BASE_FILE_H

#include <stdbool.h>
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
 * A file being written whole or not at all: begun in a new file beside the
 * target, so that it is known early whether it can be written, and renamed
 * by the commit.  Something that is not a regular file (a pipe, /dev/null)
 * is written directly.  Zeroed: nothing begun.
 */
struct kvp_file_out {
	char *target;
	char *beside;		/* NULL: the target itself is open */
	int fd;
};

/* Errors: KVP_EIO, KVP_ENOMEM; nothing is begun then. */
int kvp_file_begin(struct kvp_file_out *f, const char *path,
		   struct kvp_error *err);

/* Write, sync, rename.  Ends the file, also on failure: KVP_EIO. */
int kvp_file_commit(struct kvp_file_out *f, const char *text, size_t len,
		    struct kvp_error *err);

/* Leave the target as it is.  Safe twice and on a zeroed one. */
void kvp_file_abandon(struct kvp_file_out *f);

/* Begin and commit at once.  Errors: KVP_EIO, KVP_ENOMEM. */
int kvp_file_write(const char *path, const char *text, size_t len,
		   struct kvp_error *err);

/*
 * Do two paths name one regular file, or the same file that is to come?
 * "-" is no file.
 */
bool kvp_file_same(const char *a, const char *b);

/* The name to show: "<stdin>" for "-". */
const char *kvp_file_label(const char *path);

#endif
