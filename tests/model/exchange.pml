/*
 * The exchanges of a realization whose ranks live in their own processes:
 * begin, all-gather, exchange, all-gather, commit, all-gather, file.  Three
 * processes of one node, a rank each.  tests/model/run.sh has SPIN search all
 * that can happen, and again without each guard.
 *
 * The promise is the claims at the end of this file.  All but agree hold under
 * both transports, agree under UNIFORM.
 *
 * What can happen:
 * - begin fails; a process was started with another plan, with the rank or on
 *   the GPU of another, or on the wrong node;
 * - any step of the exchange fails, or takes until the library's deadline;
 * - up to DEATHS processes die, each at any point, one fewer after a wrong
 *   start.  A process that is stopped is one that takes long: deadlines do not
 *   wait for it;
 * - UNIFORM: a gather gives all callers the same blobs, those of the dead
 *   perhaps zeroed, or all an error, which is all blobs zeroed;
 * - PARTIAL: a gather gives each caller for itself every blob, or zero in its
 *   place, or at commit a stale one: that of the first gather, or that of
 *   another run.  It need not wait for anybody;
 * - PATIENT, with either, for the claim that all end: a gather ends when all
 *   who live have entered it, and not before;
 * - a stranger, of another user or without the token, answers at the address
 *   of a process, or calls there.  One that is refused changes nothing, so
 *   that there is a step only where a guard is missing.
 *
 * What is not here: what a blob's bytes are; a stale blob in the first gather
 * (its token is not known yet); how descriptors travel; several nodes, where
 * fewer handles travel; kvp_share_free(), after which a process neither serves
 * nor holds anything.
 *
 * One program searches all of it: the environment says TRANSPORT, 1 for
 * PARTIAL; PATIENT, 1 or 0; and WITHOUT, the number of the guard that is left
 * out.
 */
#define UNIFORM (transport == 0)
#define PARTIAL (transport == 1)
byte transport, patient, without;
c_decl {
	static int number_of(const char *name)
	{
		return getenv(name) ? atoi(getenv(name)) : 0;
	}
}

/* A blob is filled when the work that it tells of is done. */
#define blob_1_after_work 1
#define blob_2_after_work 2
/* Every process enters every gather, failed or not. */
#define enters_every_gather 3
/* exchange compares the blobs. */
#define exchange_statuses 4
#define exchange_missing 5
#define same_plan 6
#define rank_once 7
#define gpu_once 8
#define right_node 9
/* Both who is called and who calls check the other. */
#define called_user 10
#define called_token 11
#define caller_user 12
#define caller_token 13
#define exchange_deadline 14
#define undo_closes_endpoint 15
#define undo_gives_back_imports 16
/* commit looks at the blobs and at its own state. */
#define commit_statuses 17
#define commit_missing 18
#define commit_phase 19
#define commit_token 20
/* A stale blob counts as a missing one, not as one that says failed. */
#define stale_says_nothing 21
#define own_status 22
/* A process that said good and lacks a blob is IN_DOUBT, and stays so. */
#define in_doubt 23
#define doubt_does_not_undo 24
#define doubt_does_not_publish 25
/* Only who is PUBLISHED sends a part; the file needs every part. */
#define part_of_published 26
#define file_of_all_parts 27
#define GUARD(name) (without != name)

#define DEATHS 2
#define N 3
#define ALL(P) (P(0) && P(1) && P(2))
#define ANY(P) (P(0) || P(1) || P(2))
#define BIT(i) (1 << (i))
#define OTHERS(i) (7 - BIT(i))

mtype:state = {
	STARTED, GRANTED, EXCHANGING, CHECKED,
	PUBLISHED, UNWOUND, IN_DOUBT, DEAD
}
mtype:state state[N] = STARTED;
bool own[N];		/* holds memory of its own */
byte imported[N];	/* whose handles it holds, a bit for each owner */
byte taken[N];		/* who took its handle, a bit for each importer */

/* How the processes were started. */
mtype:start = { WELL, OTHER_PLAN, RANK_TWICE, GPU_TWICE, WRONG_NODE }
mtype:start start;

/* What a process puts into a gather, and what a caller sees of it. */
#define NONE 0		/* not there, or zeroed */
#define GOOD 1		/* a part, in the third gather */
#define FAILED 2	/* an empty part */
#define FIRST 3		/* good, but of the first gather */
#define FOREIGN 4	/* good, but with the token of another run */
typedef gathering {
	byte blob[N];
	bool over	/* UNIFORM: the blobs are what all callers get */
}
gathering gathered[3];
byte seen[N];		/* what the caller gets; only within a step */

/* What has happened, for the claims. */
bool granted[N], stood[N], published[N], doubted[N], ended[N];
bool handed, admitted, file;
byte deaths;

#define ENTERED(j) (gathered[number].blob[j] || state[j] == DEAD)

/* Wait for a gather and see what it gives this caller. */
inline all_gather(number)
{
	if
	:: UNIFORM && gathered[number].over
	:: UNIFORM && !gathered[number].over && ALL(ENTERED) ->
		gathered[number].over = true;
		lose_dead(number, 0);
		lose_dead(number, 1);
		lose_dead(number, 2)
	:: UNIFORM && !gathered[number].over && !patient ->
		d_step {
			gathered[number].over = true;
			gathered[number].blob[0] = NONE;
			gathered[number].blob[1] = NONE;
			gathered[number].blob[2] = NONE
		}
	:: PARTIAL && (ALL(ENTERED) || !patient)
	fi;
	see(number, 0);
	see(number, 1);
	see(number, 2)
}
inline lose_dead(number, j)
{
	if
	:: state[j] == DEAD -> gathered[number].blob[j] = NONE
	:: skip
	fi
}
inline see(number, j)
{
	if
	:: UNIFORM || gathered[number].blob[j] ->
		seen[j] = gathered[number].blob[j]
	:: PARTIAL && (!patient || state[j] == DEAD)
	:: PARTIAL && number == 1 && gathered[0].blob[j] == GOOD ->
		seen[j] = FIRST
	:: PARTIAL && number == 1 -> seen[j] = FOREIGN
	fi
}

inline forget()
{
	d_step { seen[0] = NONE; seen[1] = NONE; seen[2] = NONE }
}

/* Fill the blob, unless that is done, and hand it to the caller. */
inline enter(number, well)
{
	if
	:: state[me] == UNWOUND && !GUARD(enters_every_gather) -> goto over
	:: gathered[number].blob[me] || gathered[number].over
	:: else -> gathered[number].blob[me] = (well -> GOOD : FAILED)
	fi
}

inline undo()
{
	d_step {
		own[me] = false;
		taken[me] = 0;
		imported[me] =
			(GUARD(undo_gives_back_imports) -> 0 : imported[me]);
		state[me] = UNWOUND
	}
}

/* exchange: what it demands of a first blob, and of all together. */
#define WELL_1(j) (seen[j] == GOOD || \
	seen[j] == FAILED && !GUARD(exchange_statuses) || \
	seen[j] == NONE && !GUARD(exchange_missing))
#define MATCHED (start == WELL || \
	start == OTHER_PLAN && !GUARD(same_plan) || \
	start == RANK_TWICE && !GUARD(rank_once) || \
	start == GPU_TWICE && !GUARD(gpu_once) || \
	start == WRONG_NODE && !GUARD(right_node))

/* commit: a second blob that says failed; one that is missing or stale. */
#define SAYS_FAILED(j) (seen[j] == FAILED && GUARD(commit_statuses) || \
	(seen[j] == FIRST || seen[j] == FOREIGN) && !GUARD(stale_says_nothing))
#define LACKS(j) (seen[j] == NONE && GUARD(commit_missing) || \
	seen[j] == FIRST && GUARD(commit_phase) || \
	seen[j] == FOREIGN && GUARD(commit_token))

/* The file: a part that is there. */
#define WHOLE(j) (seen[j] == GOOD || !GUARD(file_of_all_parts))

/* This process's handle can go to j: j is there and has it not yet. */
#define TAKES(j) (j != me && !(taken[me] & BIT(j)) && \
	(state[j] == EXCHANGING || \
	 state[j] == UNWOUND && !GUARD(undo_closes_endpoint)))
inline hand_to(j)
{
	if
	:: d_step {
		taken[me] = taken[me] | BIT(j);
		imported[j] = imported[j] | BIT(me);
		handed = true
	   }
	:: fail()
	fi
}
inline fail()
{
	undo();
	enter(1, false)
}
/* One of another user may have overheard the token, one of this user has none:
   each check is the only one that refuses one of them. */
#define STRANGER_PASSES (!GUARD(called_user) || !GUARD(called_token) || \
	!GUARD(caller_user) || !GUARD(caller_token))

proctype rank(byte me)
{
	{
	/* begin */
	atomic {
		if
		:: d_step {
			state[me] = GRANTED;
			own[me] = true;
			granted[me] = true
		   }
		:: state[me] = UNWOUND
		fi;
		enter(0, state[me] == GRANTED)
	}

	/* exchange */
	atomic {
		all_gather(0);
		if
		:: state[me] == GRANTED && ALL(WELL_1) && MATCHED ->
			state[me] = EXCHANGING;
			forget();
			if
			:: GUARD(blob_2_after_work)
			:: else -> enter(1, true)
			fi
		:: else ->
			forget();
			fail()
		fi
	}
	do
	:: atomic { state[me] != EXCHANGING -> break }
	:: atomic { state[me] == EXCHANGING && TAKES(0) -> hand_to(0) }
	:: atomic { state[me] == EXCHANGING && TAKES(1) -> hand_to(1) }
	:: atomic { state[me] == EXCHANGING && TAKES(2) -> hand_to(2) }
	:: atomic {
		state[me] == EXCHANGING && taken[me] == OTHERS(me) &&
		imported[me] == OTHERS(me) ->
		if
		:: d_step {
			state[me] = CHECKED;
			stood[me] = true;
			taken[me] = 0
		   };
			enter(1, true)
		:: fail()	/* the check found another's bytes */
		fi
	   }
	:: atomic {
		state[me] == EXCHANGING && GUARD(exchange_deadline) -> fail()
	   }
	:: atomic {
		state[me] == EXCHANGING && STRANGER_PASSES && !admitted ->
		admitted = true
	   }
	od;

	/* commit */
	atomic {
		all_gather(1);
		if
		:: state[me] == UNWOUND && GUARD(own_status) ||
		   ANY(SAYS_FAILED) -> undo()
		:: else ->
			if
			:: !ANY(LACKS) ->
				state[me] = PUBLISHED;
				published[me] = true
			:: ANY(LACKS) && GUARD(in_doubt) ->
				state[me] = IN_DOUBT;
				doubted[me] = true
			:: ANY(LACKS) && !GUARD(in_doubt) -> undo()
			fi
		fi;
		forget();
		enter(2, state[me] == PUBLISHED || !GUARD(part_of_published))
	}

	/* The capacity file */
	atomic {
		all_gather(2);
		if
		:: me == 0 && ALL(WHOLE) -> file = true
		:: else
		fi;
		forget();
		if
		:: state[me] == IN_DOUBT && !GUARD(doubt_does_not_undo) ->
			undo()
		:: state[me] == IN_DOUBT && !GUARD(doubt_does_not_publish) ->
			state[me] = PUBLISHED;
			published[me] = true
		:: else
		fi;
		ended[me] = true
	}
	} unless { state[me] == DEAD };
over:	skip
}

/* The kernel gives back what a dead process held. */
#define DIES(i) d_step { \
		deaths < DEATHS && state[i] != DEAD && !ended[i] -> \
		deaths++; \
		state[i] = DEAD; \
		own[i] = false; \
		imported[i] = 0; \
		taken[i] = 0 \
	}
proctype killer()
{
end:	do
	:: DIES(0)
	:: DIES(1)
	:: DIES(2)
	od
}

init
{
	atomic {
		c_code {
			now.transport = (uchar)number_of("TRANSPORT");
			now.patient = (uchar)number_of("PATIENT");
			now.without = (uchar)number_of("WITHOUT");
		};
		if
		:: start = WELL
		:: start = OTHER_PLAN; deaths = 1
		:: start = RANK_TWICE; deaths = 1
		:: start = GPU_TWICE; deaths = 1
		:: start = WRONG_NODE; deaths = 1
		fi;
		if
		:: GUARD(blob_1_after_work)
		:: else ->
			gathered[0].blob[0] = GOOD;
			gathered[0].blob[1] = GOOD;
			gathered[0].blob[2] = GOOD
		fi;
		run rank(0);
		run rank(1);
		run rank(2);
		run killer()
	}
}

/* The claims.  States from PUBLISHED on are the last ones of a process. */
#define IS_PUBLISHED(i) (state[i] == PUBLISHED)
#define IS_UNWOUND(i) (state[i] == UNWOUND)
#define IS_IN_DOUBT(i) (state[i] == IN_DOUBT)
#define STOOD(i) (stood[i])
#define HAS_ENDED(i) (ended[i] || state[i] == DEAD)
#define MIXED (ANY(IS_PUBLISHED) && ANY(IS_UNWOUND))

/* Nobody is PUBLISHED unless all stood when they filled their second blob. */
ltl standing { [] (!ANY(IS_PUBLISHED) || ALL(STOOD)) }
/* No survivor is UNWOUND beside one that is PUBLISHED. */
ltl together { [] !MIXED }
/* UNIFORM: survivors are all PUBLISHED or none is, and all that stood are in
   the same state.  One that failed is UNWOUND whatever the gathers do. */
#define STOOD_UNWOUND(i) (state[i] == UNWOUND && stood[i])
ltl agree {
	[] !(ANY(IS_PUBLISHED) && (ANY(IS_UNWOUND) || ANY(IS_IN_DOUBT)) ||
	     ANY(STOOD_UNWOUND) && ANY(IS_IN_DOUBT))
}
/* The file says that all have been PUBLISHED. */
#define WAS_PUBLISHED(i) (published[i])
ltl file_true { [] (!file || ALL(WAS_PUBLISHED)) }
/* No handle leaves before all are GRANTED. */
#define WAS_GRANTED(i) (granted[i])
ltl granted_first { [] (!handed || ALL(WAS_GRANTED)) }
/* Handles go only between processes of one plan, each rank once, on its node,
   no GPU twice. */
ltl matched { [] (!handed || start == WELL) }
/* Nothing is received from a stranger or handed to one. */
ltl no_stranger { [] !admitted }
/* Who is IN_DOUBT stays so and, like who is PUBLISHED, holds all it had. */
#define LOOSE(i) (doubted[i] && state[i] != IN_DOUBT && state[i] != DEAD || \
	(state[i] == PUBLISHED || state[i] == IN_DOUBT) && \
	!(own[i] && imported[i] == 7 - BIT(i)))
ltl keeps { [] !ANY(LOOSE) }
/* Who is UNWOUND holds nothing. */
#define LEFT(i) (state[i] == UNWOUND && (own[i] || imported[i]))
ltl clean { [] !ANY(LEFT) }
/* Everyone ends.  No run is infinite, so that this needs no fairness. */
ltl ends { <> ALL(HAS_ENDED) }

/* What does happen, so that the claims above are not empty. */
ltl no_file { [] !file }

/* What is impossible. */
/* PARTIAL, without in_doubt: together, not even where nobody dies. */
ltl together_alive { [] !(MIXED && deaths == 0) }
/* UNIFORM: all survivors in one state.  A failed second gather leaves those
   that stood IN_DOUBT beside one that failed. */
ltl same_state {
	[] !(ANY(IS_UNWOUND) && ANY(IS_IN_DOUBT))
}
