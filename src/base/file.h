/*
 * Whole files in, whole files out.
 */
#ifndef KVPLAN_BASE_FILE_H
#define KVPLAN_BASE_FILE_H

#include <signal.h>
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

/* The last name of a path, a part of it; "" where it ends in a slash. */
const char *kvp_file_last_name(const char *path);

/*
 * A file being written whole or not at all.  Beginning finds out whether a
 * file can be made in the target's directory, and leaves none there; the
 * commit makes it, without a name where the file system can, and puts it in
 * the target's place.  Something that is not a regular file (a pipe,
 * /dev/null) or that has no name any more (/dev/stdout, where that is a file
 * which was removed) is opened by beginning and written in place.
 *
 * A new target gets the mode that the umask leaves, an old one keeps its
 * mode.  Zeroed: nothing begun.
 */
struct kvp_file_out {
	char *target;		/* NULL: nothing begun */
	int dir;		/* its directory; -1: it is written in place */
	int fd;			/* the target itself then; else -1 */
	/* To be set after beginning, may be NULL: once it is a signal's
	   number, nothing is put in the target's place any more. */
	const volatile sig_atomic_t *interrupt;
};

/* Errors: KVP_EIO, KVP_ENOMEM; nothing is begun then. */
int kvp_file_begin(struct kvp_file_out *f, const char *path,
		   struct kvp_error *err);

/*
 * Write, sync, put in place.  Ends the file, also on failure: KVP_EIO,
 * KVP_EINTERRUPTED.
 * Killed meanwhile, the process may leave a file ".kvplan-" and 16 digits
 * beside the target; a caller that can be ended by signals holds them back.
 */
int kvp_file_commit(struct kvp_file_out *f, const char *text, size_t len,
		    struct kvp_error *err);

/* Leave the target as it is.  Safe twice and on a zeroed one. */
void kvp_file_abandon(struct kvp_file_out *f);

/* Begin and commit at once.  Errors: KVP_EIO, KVP_ENOMEM. */
int kvp_file_write(const char *path, const char *text, size_t len,
		   struct kvp_error *err);

/* The name to show: "<stdin>" for "-". */
const char *kvp_file_label(const char *path);

#endif
