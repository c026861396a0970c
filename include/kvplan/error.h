/*
 * Errors as values.
 *
 * A function that can fail returns int: KVP_OK (0) or one negative
 * enum kvp_code, and takes a struct kvp_error * as its last parameter.  The
 * caller owns that struct; it may be NULL where the text is not wanted.
 * Reporting never allocates, so an out-of-memory error is reported whole.
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

	/* The input's fault. */
	KVP_ESYNTAX = -10,	/* not JSON; the text names line and column */
	KVP_EINPUT = -11,	/* JSON that breaks the format: a key, type,
				   range, or two keys that contradict */
	KVP_ELIMIT = -12,	/* well formed, but beyond a stated limit */

	/* The input is sound and the answer is no. */
	KVP_EINFEASIBLE = -20,	/* the rows do not fit the aliased backing,
				   the pages not the budget; no planes */
	KVP_EREFUSED = -21,	/* realize: this machine does not suffice */
	KVP_EENTRIES = -22,	/* realize: more table entries than the limit */
	KVP_EFAILED = -23,	/* realize: a check found a wrong byte */
	KVP_EBUSY = -24,	/* owners: owned or blocked, or not owned */

	/* The environment's fault. */
	KVP_ENOMEM = -30,
	KVP_EIO = -31,		/* a file could not be read or written */
	KVP_EUNAVAILABLE = -32,	/* no driver, or no device */
	KVP_EDRIVER = -33,	/* a call to the driver or kernel failed */
	KVP_EEXHAUSTED = -34,	/* the driver says out of memory */
	KVP_ETABLE = -35,	/* ... at a grant: its table is full */
	KVP_EINTERRUPTED = -36,	/* by a signal; everything was undone */
	KVP_ESTUCK = -37,	/* something could not be undone */

	/* kvplan's fault.  Please report it. */
	KVP_EBUG = -40
};

/* Longest message with its terminating zero; longer ones are cut and end in
   "...". */
#define KVP_ERROR_MAX 1024

struct kvp_error {
	int code;		/* enum kvp_code; KVP_OK when empty */
	char text[KVP_ERROR_MAX];
};

/* The name of a code, as in "KVP_EINPUT"; "KVP_?" for an unknown one. */
const char *kvp_code_name(int code);

#ifdef __cplusplus
}
#endif

#endif
