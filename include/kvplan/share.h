/*
 * Sharing: one realization made by many processes, which hold one or more
 * ranks each, on one or several nodes.
 *
 * The library moves no data between nodes.  The caller carries three
 * all-gathers (with MPI, torch.distributed, or its launcher): in each of them
 * every process gives a buffer, and gets the buffers of all processes in the
 * same order.
 *
 *   kvp_share_begin()        realize the ranks of this process; fill a blob
 *       gather 1: blobs
 *   kvp_share_exchange()     pass chunks to the importers; fill a second blob
 *       gather 2: blobs
 *   kvp_share_commit()       publish, undo, or be in doubt
 *       gather 3: texts of kvp_realization_write() with access records, of
 *                 any length, empty unless PUBLISHED
 *   kvp_capacity_join()      (capacity.h) in one process, which then writes
 *                            the capacity file
 *
 * A process whose call failed still enters all later gathers, with the blob
 * that was filled.  If a gather gave blobs, pass them, however late it was.
 * If the blob of one process is missing, because it died, zero that one.  If
 * the gather failed, and others may have got the blobs, zero all.  Deadlines
 * inside kvp_share_exchange() are the library's; those of gathers are the
 * caller's.
 *
 * What is promised, and no more:
 *
 * - No process is PUBLISHED unless every rank stood when its process filled
 *   the second blob, whatever the gathers do.  A rank stands when it is
 *   realized, and all that it imports is mapped, granted and, if asked for,
 *   checked.
 * - If every gather gives all processes the same blobs, or fails for all,
 *   then of the processes that survive all are PUBLISHED or none is, and all
 *   that gave a good second blob are in the same state.
 * - A process that gave a good second blob, and did not get all second blobs,
 *   is IN_DOUBT: others may be PUBLISHED.  It must not serve, and it does not
 *   undo: it keeps its memory until kvp_share_free().  Its caller ends the
 *   job.
 * - When gather 3 gave all parts, all processes were PUBLISHED.  Whether they
 *   live still, it does not say.
 *
 * The access mode of an importer ("read") is kept by the importer itself: a
 * process that got a chunk could grant itself more.
 */
#ifndef KVPLAN_SHARE_H
#define KVPLAN_SHARE_H

#include <kvplan/realize.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Bytes of a blob.  It holds no pointers and may be sent to any process. */
#define KVP_SHARE_BYTES 512

/* Most ranks of one process. */
#define KVP_SHARE_RANKS_MAX 16

struct kvp_share_blob {
	unsigned char bytes[KVP_SHARE_BYTES];
};

struct kvp_share_options {
	/*
	 * The ranks of this process and how to realize them.  handle_type is
	 * set to KVP_HANDLE_POSIX_FD if it is KVP_HANDLE_NONE; `publish` must
	 * be NULL.  `event` and `interrupt` stay in use until
	 * kvp_share_free().
	 */
	struct kvp_realize_options realize;
	/* May be NULL.  The name of this node, 1 to KVP_NODE_MAX printable
	   characters without spaces; NULL: the kernel's boot id.  Processes exchange chunks
	   if their nodes have the same name. */
	const char *node;
	/* May be NULL.  The directory for this process's socket, for
	   processes that are in different network namespaces; NULL: an
	   abstract socket, which leaves no name behind. */
	const char *directory;
	/* Several processes of a node may use one GPU. */
	bool share_gpu;
	/* kvp_share_exchange() gives up after so many milliseconds in which
	   no process of this node made progress; 0: KVP_SHARE_DEADLINE. */
	uint32_t deadline;
};
#define KVP_NODE_MAX 63
#define KVP_SHARE_DEADLINE 60000

struct kvp_share;

/*
 * Realize the ranks of this process up to GRANTED, without access for ranks
 * of other processes, check them if asked to, open the socket that other
 * processes of the node connect to, and fill *blob.  Preflight counts the
 * table entries of the whole node.
 *
 * On failure everything is undone and *blob states the error; *s is valid
 * and takes part in the other calls, or is NULL if there is no memory, which
 * the other calls allow.  Errors: those of kvp_realize(); KVP_EINPUT if
 * options->realize.publish is given, or for a node, directory or number of
 * ranks that is not allowed; KVP_EREFUSED for KVP_HANDLE_FABRIC, which this
 * version does not pass on; KVP_EIO if there is no socket.
 */
int kvp_share_begin(struct kvp_share **s, const struct kvp_plan *plan,
		    const struct kvp_verdict *verdict,
		    struct kvp_backend *backend,
		    const struct kvp_share_options *options,
		    struct kvp_share_blob *blob, struct kvp_error *err);

/*
 * Pass chunks to all importers and get those that ranks of this process
 * import, and fill *blob, the second one.  `blobs` holds the first blobs of
 * all `count` processes, that of this process among them.
 *
 * No chunk leaves this process unless all blobs are well, state the same
 * plan, hold each rank once and on the node where the plan has it, and no GPU
 * twice (unless options->share_gpu).  What is imported is mapped in address
 * ranges of this process and granted to its own devices only, with the plan's
 * importer mode; if a check was asked for, all importers must read what the
 * owner wrote.
 *
 * On failure everything is undone and *blob states the error.  Errors:
 *
 *   KVP_EREFUSED  the blobs do not fit together; the text names the rank
 *                 that differs, and both values
 *   KVP_EINPUT    count is 0, or there cannot be so many
 *   KVP_EPEER     another process failed, ended, or made no progress
 *   KVP_EFAILED   an importer read something else than the owner wrote
 *   KVP_EIO       a socket failed
 *   and what backend calls return, KVP_ENOMEM, KVP_EINTERRUPTED, KVP_ESTUCK,
 *   as kvp_realize(); after a failed kvp_share_begin(), its error
 */
int kvp_share_exchange(struct kvp_share *s, const struct kvp_share_blob *blobs,
		       size_t count, struct kvp_share_blob *blob,
		       struct kvp_error *err);

/*
 * Decide, with the second blobs of all processes, in the order of the first.
 * No driver call is made, except to undo.  It is called once.
 *
 *   KVP_OK       PUBLISHED
 *   KVP_EDOUBT   IN_DOUBT
 *   any other    UNWOUND: the error of the first process that failed by
 *                itself, with its ranks and host; or this process's own
 */
int kvp_share_commit(struct kvp_share *s, const struct kvp_share_blob *blobs,
		     size_t count, struct kvp_error *err);

/* Undo and free, in any state.  NULL is allowed.  Errors: KVP_ESTUCK, as
   kvp_realization_free(). */
int kvp_share_free(struct kvp_share *s, struct kvp_error *err);

/* The state of the ranks of this process; KVP_UNWOUND if s is NULL. */
enum kvp_state kvp_share_state(const struct kvp_share *s);

/* The ranks of this process, for the functions of realize.h; s owns it.  NULL
   unless the state is PUBLISHED. */
const struct kvp_realization *
kvp_share_realization(const struct kvp_share *s);

/* The address in this process of a plane of any rank that is realized here
   or imported; 0 for others, and unless the state is PUBLISHED. */
uint64_t kvp_share_plane(const struct kvp_share *s, uint32_t rank,
			 uint32_t plane);

#ifdef __cplusplus
}
#endif

#endif
