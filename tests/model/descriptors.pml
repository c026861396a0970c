/*
 * How descriptors travel: each process sends BATCHES batches to each other and
 * receives as many, in one poll loop and without a thread.  The kernel counts
 * what a user has sent and nobody received yet, in all processes, and refuses
 * to send (ETOOMANYREFS) while that is more than LIMIT.
 *
 * Nobody is refused, and all ends.  With what other programs of the user have
 * in flight, a send may be refused after all; it is tried again, which needs
 * nobody's help, until the deadline.  Deaths are in exchange.pml.
 *
 * The environment says WITHOUT, the number of the guard that is left out.
 */
byte without;
c_decl {
	static int number_of(const char *name)
	{
		return getenv(name) ? atoi(getenv(name)) : 0;
	}
}

/* A sender has one unacknowledged batch in all, not one for each receiver. */
#define one_batch 1
/* A batch is at most the limit / (processes + 1). */
#define batch_limit 2
/* Who waits for an acknowledgement receives. */
#define receives_while_waiting 3
#define GUARD(name) (without != name)

#define N 3
#define BATCHES 2
#define LIMIT 8
#define BATCH (GUARD(batch_limit) -> LIMIT / (N + 1) : LIMIT)

/* From one process to another, at N * sender + receiver. */
#define WAY(sender, receiver) (N * (sender) + (receiver))
byte sent[N * N];	/* batches that the sender has sent */
byte received[N * N];	/* those that the receiver has received */
byte acked[N * N];	/* those whose acknowledgement has come back */
byte in_flight;		/* descriptors of the user */
bool refused, ended[N];

#define OPEN(from, to) (sent[WAY(from, to)] > acked[WAY(from, to)])
#define WAITS (OPEN(me, 0) || OPEN(me, 1) || OPEN(me, 2))
#define MAY_SEND(to) (to != me && sent[WAY(me, to)] < BATCHES && \
	!OPEN(me, to) && (!WAITS || !GUARD(one_batch)))
#define MAY_RECEIVE(from) (sent[WAY(from, me)] > received[WAY(from, me)] && \
	(!WAITS || GUARD(receives_while_waiting)))
#define MAY_END(peer) (peer == me || acked[WAY(me, peer)] == BATCHES && \
	received[WAY(peer, me)] == BATCHES)

inline send(to)
{
	if
	:: in_flight > LIMIT -> refused = true
	:: else ->
		in_flight = in_flight + BATCH;
		sent[WAY(me, to)]++
	fi
}
inline receive(from)
{
	in_flight = in_flight - BATCH;
	received[WAY(from, me)]++
}

proctype process(byte me)
{
	do
	:: d_step { MAY_SEND(0) -> send(0) }
	:: d_step { MAY_SEND(1) -> send(1) }
	:: d_step { MAY_SEND(2) -> send(2) }
	:: d_step { MAY_RECEIVE(0) -> receive(0) }
	:: d_step { MAY_RECEIVE(1) -> receive(1) }
	:: d_step { MAY_RECEIVE(2) -> receive(2) }
	:: d_step {
		acked[WAY(me, 0)] < received[WAY(me, 0)] -> acked[WAY(me, 0)]++
	   }
	:: d_step {
		acked[WAY(me, 1)] < received[WAY(me, 1)] -> acked[WAY(me, 1)]++
	   }
	:: d_step {
		acked[WAY(me, 2)] < received[WAY(me, 2)] -> acked[WAY(me, 2)]++
	   }
	:: d_step {
		MAY_END(0) && MAY_END(1) && MAY_END(2) -> ended[me] = true
	   };
		break
	od
}

init
{
	atomic {
		c_code { now.without = (uchar)number_of("WITHOUT"); };
		run process(0);
		run process(1);
		run process(2)
	}
}

/* The kernel refuses nobody. */
ltl never_refused { [] !refused }
/* All receive everything.  Where nobody is refused no run is infinite, so that
   this needs no fairness. */
ltl ends { <> (ended[0] && ended[1] && ended[2]) }
