/*
 * What the files of a shared realization share: share.c (the calls),
 * blob.c (blobs), compare.c (do the processes fit together),
 * link.c (sockets), exchange.c (the loop that passes chunks) and
 * import.c (what is received).
 */
#ifndef KVPLAN_SHARE_STATE_H
#define KVPLAN_SHARE_STATE_H

#include "base/error.h"
#include "realize/realization.h"
#include "share/blob.h"

/* Connections of processes that have not shown a token. */
#define SHARE_STRANGERS_MAX 32	/* beside one for each peer */

/* The kernel passes no more descriptors in one message. */
#define SHARE_BATCH_MAX 253

enum message_type {
	/* Halves of both tokens: the process that connects shows the first,
	   the other answers with the second, so that neither can give back
	   what it got. */
	MESSAGE_HELLO = 1,
	MESSAGE_BATCH,		/* descriptors of chunks or a static item */
	MESSAGE_ACK,		/* the batch has been received */
	MESSAGE_WRITTEN,	/* the patterns are written */
	MESSAGE_CHECKED,	/* the patterns were read */
	MESSAGE_ALIVE		/* the sender is at work */
};

struct message {
	uint32_t type;
	uint32_t from;		/* index of the sender's blob */
	uint32_t rank;		/* BATCH: the owner */
	uint32_t count;		/* BATCH: items */
	uint64_t item;		/* BATCH: the first, see item_is_static() */
	unsigned char to[SHARE_TOKEN_BYTES];	/* HELLO */
	unsigned char token[SHARE_TOKEN_BYTES];	/* HELLO: the sender's */
	uint64_t offset[SHARE_BATCH_MAX];	/* BATCH, [count] */
};

/* A process of this node that gives chunks to this one, or gets some. */
struct peer {
	const struct share_blob *blob;
	uint32_t index;		/* of its blob */
	int fd;			/* -1: not connected */
	bool greeted;		/* both sides have shown their tokens */
	bool exports;		/* this process imports from it */
	bool imports;		/* it imports from this process */
	unsigned owed;		/* bit of each message_type to send */
	uint64_t heard;		/* when its last message came */
	bool checked;		/* it has read the patterns */
	bool matched;		/* this process has read its patterns */
	/* The next item to come: of rank blob->first_rank + rank; rank ==
	   blob->nranks: all have come. */
	uint32_t rank;
	uint64_t item;
};

/* What is sent next, to one importer after the other.  Its descriptors are
   made once for all of them. */
struct sender {
	uint32_t rank;		/* index in r->ranks; r->nranks: all is sent */
	uint64_t item;
	uint32_t count;		/* 0: not exported yet */
	struct kvp_shared shared[SHARE_BATCH_MAX];
	uint32_t nopen;		/* descriptors that are not closed */
	uint32_t most;		/* descriptors of a batch */
	uint32_t first;		/* the peer whose turn is the first */
	uint32_t turn;		/* peers that are done with the batch */
	bool waiting;		/* for peers' acknowledgement */
};

struct kvp_share {
	struct kvp_realization *r;	/* NULL: kvp_share_begin() failed */
	const struct kvp_plan *plan;
	struct share_blob self;		/* what this process stated first */
	struct kvp_error cause;		/* code: this process failed */
	enum kvp_state state;
	bool share_gpu;
	uint32_t deadline;
	struct share_blob *blobs;	/* [2 * count]: the first blobs, then
					   room for the second */
	size_t count;
	uint32_t own;			/* index of this process */
	uint64_t share_id;		/* 0 before the exchange */
	int listen;			/* -1: none */
	bool named;			/* the socket is a file */
	int *strangers;		/* connected, but no peer yet */
	uint32_t nstrangers, strangers_room;
	struct peer *peers;		/* [npeers], in order of blobs */
	uint32_t npeers;
	struct sender sender;
	bool written;			/* the patterns */
	bool follows;			/* this process failed because
					   another ended */
	bool committed;
	uint64_t alive;			/* when peers were last told */
};

/*
 * compare.c: read the first blobs into s->blobs, find this process
 * among them, and refuse what does not fit together.  KVP_EPEER if another
 * process failed, KVP_EREFUSED.
 */
int share_compare(struct kvp_share *s, const struct kvp_share_blob *blobs,
		  size_t count, struct kvp_error *err);
/* Write "rank 3 on node-a" or "ranks 4 to 7 on node-b". */
void share_describe(const struct share_blob *b, char *text, size_t size);
#define SHARE_WHO_MAX 96

/* share.c: random bytes; KVP_EIO. */
int share_random(void *bytes, size_t len, struct kvp_error *err);

/* link.c: listen at a new socket, in a directory or at an abstract
   name; KVP_EIO. */
int share_listen(struct kvp_share *s, const char *directory,
		 struct kvp_error *err);
/* Close all sockets; a peer that still waits for this process notices. */
void share_close(struct kvp_share *s);
/* Connect to the peers whose blobs follow this process's; the others connect
   to this one. */
int share_connect(struct kvp_share *s, struct kvp_error *err);
/* KVP_EPEER if a peer that has not connected yet does not listen any more. */
int share_probe(struct kvp_share *s, const struct peer *p,
		struct kvp_error *err);
/* The peer has closed its connection; it does so before it undoes anything. */
bool share_has_ended(const struct peer *p);
/* Accept connections, and read the HELLO of those that have not shown a token;
   *progress becomes true if one is a peer's now.  KVP_EIO. */
int share_accept(struct kvp_share *s, bool *progress, struct kvp_error *err);
/* Send a message, with descriptors if it is a batch.  *sent is false if the
   kernel takes no more now. */
int share_send(struct kvp_share *s, struct peer *p, enum message_type type,
	       bool *sent, struct kvp_error *err);
/* Receive one message and its descriptors, fds[SHARE_BATCH_MAX], which the
   caller closes; *got is false if there is none. */
int share_receive(struct kvp_share *s, struct peer *p, struct message *m,
		  int *fds, bool *got, struct kvp_error *err);
/* KVP_EPEER: "rank 3 on node-a " and why. */
int share_fail_ended(struct kvp_share *s, const struct peer *p,
		     struct kvp_error *err);
int share_fail_peer(const struct peer *p, struct kvp_error *err,
		    const char *format, ...) KVP_PRINTF(3, 4);

/* exchange.c: pass chunks to importers, get what is imported here, and
   check it. */
int share_run(struct kvp_share *s, struct kvp_error *err);

/*
 * The items of a rank: its static items, then its chunks by plane.  Does a
 * process with these ranks import this item?
 */
uint64_t share_count_items(const struct kvp_share *s);
bool share_is_imported(const struct kvp_share *s, uint32_t owner,
		       uint64_t item, uint32_t first, uint32_t count);

/* import.c: what is imported from a rank of another process, or NULL. */
const struct import *share_find_import(const struct kvp_realization *r,
				       uint32_t owner);

/* import.c: reserve the address ranges of all imported planes; import,
   map and grant one item; read the patterns in a rank's planes; fill the
   access records. */
int share_reserve(struct kvp_share *s, struct kvp_error *err);
int share_import(struct kvp_share *s, uint32_t owner, uint64_t item,
		 const struct kvp_shared *shared, struct kvp_error *err);
uint64_t share_item_bytes(const struct kvp_share *s, uint64_t item);
int share_write_patterns(struct kvp_share *s, struct kvp_error *err);
int share_match_patterns(struct kvp_share *s, const struct share_blob *owner,
			 struct kvp_error *err);
void share_fill_records(struct kvp_share *s);

#endif
