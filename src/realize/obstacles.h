/*
 * What stands in the way of a realization, gathered by preflight so that all
 * of it is told at once: whoever mends one thing should not meet the next
 * one only then.
 */
#ifndef KVPLAN_REALIZE_OBSTACLES_H
#define KVPLAN_REALIZE_OBSTACLES_H

#include <kvplan/error.h>

struct kvp_realization;

/*
 * In the order in which they are told.  First what takes another plan, since
 * that one asks for other memory, addresses and maps as well; then what takes
 * other devices; last what is raised on the machine and changes nothing else.
 */
enum obstacle {
	OBSTACLE_ENTRIES, OBSTACLE_MEMORY, OBSTACLE_ADDRESS_SPACE,
	OBSTACLE_RECORDED, OBSTACLE_PEERS, OBSTACLE_GRANULARITY,
	OBSTACLE_LIMITS, OBSTACLE_MAPS, OBSTACLE_DESCRIPTORS
};
#define OBSTACLES 9

/* Zeroed: nothing stands in the way. */
struct obstacles {
	struct kvp_error kind[OBSTACLES];
};

/* Stands between two obstacles in the text of an error. */
#define OBSTACLES_ALSO "; also: "

/* The code of the first obstacle and a text with all of them; KVP_OK and an
   untouched error where there is none. */
int obstacles_tell(const struct obstacles *o, struct kvp_error *err);

/*
 * Each note what they find in *o.  Those that ask the backend answer the code
 * of a call that failed, with its place in the text.
 */
/* obstacles_device.c */
int check_granularity(struct kvp_realization *r, struct obstacles *o,
		      struct kvp_error *err);
int check_peers(struct kvp_realization *r, struct obstacles *o,
		struct kvp_error *err);
int check_memory(struct kvp_realization *r, struct obstacles *o,
		 struct kvp_error *err);
/* obstacles.c: do all ranks fit the addresses of a process, and those that
   are recorded? */
void check_address_space(const struct kvp_realization *r,
			 struct obstacles *o);
/* obstacles.c: what the system allows a process. */
int check_process(struct kvp_realization *r, struct obstacles *o,
		  struct kvp_error *err);

#endif
