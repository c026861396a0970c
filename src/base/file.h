/*
 * Reading and writing whole files.
 */
#ifndef KVPLAN_BASE_FILE_H
#define KVPLAN_BASE_FILE_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>

#include <kvplan/error.h>

/* The largest file that is read; every plan within the limits is smaller. */
#define KVP_FILE_MAX ((size_t)1 << 30)

/*
 * Read a whole file; "-" is standard input.  *text ends in a zero that *len
 * does not count; free it with free().  On failure it is NULL.
 * Errors: KVP_EIO, KVP_ELIMIT, KVP_ENOMEM.
 */
int kvp_file_read(const char *path, char **text, size_t *len,
		  struct kvp_error *err);

/* The part of a path after the last slash. */
const char *kvp_file_last_name(const char *path);

/*
 * A file that is written completely or not at all.  kvp_file_begin() checks
 * that a file can be created in the target's directory, and leaves none
 * there.  kvp_file_commit() creates it, without a name if the file system
 * supports that, and replaces the target by it.  A target that is not a
 * regular file (a pipe, /dev/null) or that has no name any more (/dev/stdout
 * after its file was removed) is opened by kvp_file_begin() and overwritten.
 *
 * An existing target keeps its mode, a new one gets that of the umask.
 * Zeroed: not begun.
 */
struct kvp_file_out {
	char *target;		/* NULL: not begun */
	int dir;		/* its directory; -1: it is overwritten */
	int fd;			/* the target if it is overwritten; else -1 */
	/* Set it after kvp_file_begin(); may be NULL.  If it holds a
	   signal's number, the target is not replaced. */
	const volatile sig_atomic_t *interrupt;
};

/* Begin writing.  On failure *f is not begun.  Errors: KVP_EIO,
   KVP_ENOMEM. */
int kvp_file_begin(struct kvp_file_out *f, const char *path,
		   struct kvp_error *err);

/*
 * Write the text, sync it, and replace the target.  *f is not begun
 * afterwards, also on failure.  A process that is killed during this call
 * may leave a file ".kvplan-" and 16 digits beside the target, so callers
 * should block signals that end the process.
 * Errors: KVP_EIO, KVP_EINTERRUPTED.
 */
int kvp_file_commit(struct kvp_file_out *f, const char *text, size_t len,
		    struct kvp_error *err);

/* End writing and leave the target unchanged.  Allowed if not begun. */
void kvp_file_abandon(struct kvp_file_out *f);

/* Begin and commit at once.  Errors: KVP_EIO, KVP_ENOMEM. */
int kvp_file_write(const char *path, const char *text, size_t len,
		   struct kvp_error *err);

/* The name of a file in messages: "<stdin>" for "-". */
const char *kvp_file_label(const char *path);

#endif
