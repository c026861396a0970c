/*
 * What prevents a realization.  Preflight collects all obstacles and reports
 * them in one error, so that a user need not remove one to learn of the next.
 */
#ifndef KVPLAN_REALIZE_OBSTACLES_H
#define KVPLAN_REALIZE_OBSTACLES_H

#include <kvplan/error.h>

struct kvp_realization;

/*
 * In the order in which they are reported.  First those that need another
 * plan, which changes memory, addresses and maps as well; then those that
 * need other devices; last those that need a higher limit of the machine.
 */
enum obstacle {
	OBSTACLE_ENTRIES, OBSTACLE_MEMORY, OBSTACLE_ADDRESS_SPACE,
	OBSTACLE_RECORDED, OBSTACLE_PEERS, OBSTACLE_GRANULARITY,
	OBSTACLE_LIMITS, OBSTACLE_MAPS, OBSTACLE_DESCRIPTORS
};
#define OBSTACLES 9

/* Zeroed: there is no obstacle. */
struct obstacles {
	struct kvp_error kind[OBSTACLES];
};

/* Separates two obstacles in the text of an error. */
#define OBSTACLES_ALSO "; also: "

/* Make one error of all obstacles, with the code of the first one; KVP_OK and
   an untouched error if there is none. */
int obstacles_report(const struct obstacles *o, struct kvp_error *err);

/*
 * Each records its obstacles in *o.  Those that call the backend return the
 * code of a call that failed, with the rank and device in the text.
 */
/* obstacles_device.c */
int check_granularity(struct kvp_realization *r, struct obstacles *o,
		      struct kvp_error *err);
int check_peers(struct kvp_realization *r, struct obstacles *o,
		struct kvp_error *err);
int check_memory(struct kvp_realization *r, struct obstacles *o,
		 struct kvp_error *err);
/* obstacles.c: do the planes and arenas of all ranks fit the addresses of a
   process, and do recorded ones end below the highest address? */
void check_address_space(const struct kvp_realization *r,
			 struct obstacles *o);
/* obstacles.c: are the system's limits for a process high enough? */
int check_process(struct kvp_realization *r, struct obstacles *o,
		  struct kvp_error *err);

#endif
