/*
 * Errors as values.
 *
 * A function that can fail returns int: KVP_OK (0) or one negative
 * enum kvp_code, and takes a struct kvp_error * as its last parameter.  The
 * caller owns that struct; it may be NULL where the text is not wanted.  On
 * success the function leaves it as it was.  Reporting an error never
 * allocates, so the text is complete also when there is no memory.
 *
 * The library never prints, exits or reads the environment.
 */
#ifndef KVPLAN_ERROR_H
#define KVPLAN_ERROR_H

#ifdef __cplusplus
extern "C" {
#endif

enum kvp_code {
	KVP_OK = 0,

	/* The input is wrong. */
	KVP_ESYNTAX = -10,	/* not JSON; the text names line and column */
	KVP_EINPUT = -11,	/* a key, type or range that the format does
				   not allow, keys that contradict each
				   other, or an argument that is not valid */
	KVP_ELIMIT = -12,	/* valid, but above a documented limit */

	/* The input is valid and the answer is no. */
	KVP_EINFEASIBLE = -20,	/* the rows do not fit the aliased backing,
				   or the pages do not fit the budget, or the
				   model has no planes */
	KVP_EREFUSED = -21,	/* realize: this machine does not suffice */
	KVP_EENTRIES = -22,	/* realize: more table entries than the limit */
	KVP_EFAILED = -23,	/* realize: the alias check found a wrong byte
				   or access */
	KVP_EBUSY = -24,	/* a page, row or block is in use, blocked, or
				   not in use when it should be released */
	KVP_EPEER = -25,	/* share: another process failed, ended, or
				   made no progress */

	/* The environment failed. */
	KVP_ENOMEM = -30,	/* the process has no memory */
	KVP_EIO = -31,		/* a file could not be read or written */
	KVP_EUNAVAILABLE = -32,	/* no driver, or no device */
	KVP_EDRIVER = -33,	/* a call to the driver or kernel failed */
	KVP_EEXHAUSTED = -34,	/* the driver or kernel says out of memory */
	KVP_ETABLE = -35,	/* as before, while access was granted: the
				   driver's table of mappings is full */
	KVP_EINTERRUPTED = -36,	/* a signal stopped it; all was undone */
	KVP_ESTUCK = -37,	/* something could not be undone */
	KVP_EDOUBT = -38,	/* share: others may have published */

	/* A mistake in kvplan.  Please report it. */
	KVP_EBUG = -40
};

/* Bytes of the longest text, with its terminating zero.  A longer text is
   cut and ends in "...". */
#define KVP_ERROR_MAX 1024

struct kvp_error {
	int code;		/* enum kvp_code; KVP_OK when empty */
	char text[KVP_ERROR_MAX];
};

/* The name of a code, such as "KVP_EINPUT"; "KVP_?" for any other number.
   The text is static. */
const char *kvp_code_name(int code);

#ifdef __cplusplus
}
#endif

#endif
