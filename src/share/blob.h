/*
 * Blobs: what a process states about itself, as bytes that another process
 * can read without trusting them.
 */
#ifndef KVPLAN_SHARE_BLOB_H
#define KVPLAN_SHARE_BLOB_H

#include <kvplan/share.h>

#define SHARE_TOKEN_BYTES 16
#define SHARE_TOKEN_HALF (SHARE_TOKEN_BYTES / 2)
#define SHARE_HOST_BYTES 40
#define SHARE_ENDPOINT_BYTES 108	/* of sockaddr_un's path */
#define SHARE_TEXT_BYTES 304

/* The last 12 bytes of a GPU's UUID; zero: it has none.  All 16 of 16 ranks
   do not fit a blob. */
struct share_gpu {
	unsigned char end[12];
};

struct share_blob {
	uint32_t phase;		/* 1 or 2: the gather it is for */
	int code;		/* KVP_OK: well */
	uint32_t handle_type;
	uint32_t uid;
	uint32_t first_rank;
	uint32_t nranks;
	uint64_t plan;		/* fingerprint */
	uint64_t share;		/* phase 2: the joint realization's id */
	uint32_t follows;	/* 1: it failed because another ended */
	unsigned char token[SHARE_TOKEN_BYTES]; /* random: this process, now */
	char node[KVP_NODE_MAX + 1];
	char host[SHARE_HOST_BYTES];
	/* If it is well: */
	char endpoint[SHARE_ENDPOINT_BYTES];	/* "@NAME" or a path */
	struct share_gpu gpus[KVP_SHARE_RANKS_MAX];
	/* If it failed: */
	char text[SHARE_TEXT_BYTES];
};

enum share_reading { SHARE_READ, SHARE_MISSING, SHARE_UNREADABLE };

void share_blob_write(const struct share_blob *b, struct kvp_share_blob *out);

/* Read a blob for a phase.  SHARE_MISSING: it is all zero.  Unless
   SHARE_READ, *why says what is wrong. */
enum share_reading share_blob_read(const struct kvp_share_blob *in,
				   uint32_t phase, struct share_blob *b,
				   struct kvp_error *why);

/* FNV-1a, 64 bits. */
uint64_t share_hash(const void *bytes, size_t len);

#endif
