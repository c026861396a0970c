/*
 * What is in the memory of the stand-in's GPUs.
 */
#include "fake/libcuda.h"

#include <stdlib.h>
#include <string.h>

/* What memory holds that was never written. */
#define JUNK UINT32_C(0xdeadbeef)

static unsigned char pattern_byte(uint32_t pattern, uint64_t at)
{
	return (unsigned char)(pattern >> 8 * (at % 4));
}

static uint32_t run_start(const struct granule *g, uint32_t i)
{
	return i ? g->runs[i - 1].end : 0;
}

/* The run that holds a byte. */
static uint32_t run_at(const struct granule *g, uint32_t at)
{
	uint32_t low = 0;
	uint32_t high = g->count - 1;
	uint32_t middle;

	while (low < high) {
		middle = low + (high - low) / 2;
		if (g->runs[middle].end > at)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* Put `n` runs in the place of [i, j). */
static void splice(struct granule *g, uint32_t i, uint32_t j,
		   const struct run *with, uint32_t n)
{
	uint32_t count = g->count - (j - i) + n;

	if (count > g->room) {
		g->room = count > 4 ? 2 * count : count;
		g->runs = realloc(g->runs, g->room * sizeof(*g->runs));
		if (!g->runs)
			die("realloc", "no memory");
	}
	memmove(g->runs + i + n, g->runs + j,
		(g->count - j) * sizeof(*g->runs));
	memcpy(g->runs + i, with, n * sizeof(*with));
	g->count = count;
}

/* Do two patterns mean the same bytes in [from, to)? */
static bool agree(uint32_t p, uint32_t q, uint32_t from, uint32_t to)
{
	if (p == q)
		return true;
	if (to - from >= 4)
		return false;
	for (; from < to; from++)
		if (pattern_byte(p, from) != pattern_byte(q, from))
			return false;
	return true;
}

/* Make runs i and i + 1 one if a single pattern says both. */
static bool join(struct granule *g, uint32_t i)
{
	struct run a = g->runs[i];
	struct run b = g->runs[i + 1];

	if (agree(a.pattern, b.pattern, a.end, b.end))
		b.pattern = a.pattern;
	else if (!agree(a.pattern, b.pattern, run_start(g, i), a.end))
		return false;
	splice(g, i, i + 2, &b, 1);
	return true;
}

void granule_write(struct granule *g, uint32_t from, uint32_t to,
		   uint32_t pattern)
{
	static const struct run junk = { (uint32_t)GRANULE, JUNK };
	struct run with[3];
	uint32_t n = 0;
	uint32_t i, j;

	if (!g->count)
		splice(g, 0, 0, &junk, 1);
	i = run_at(g, from);
	j = run_at(g, to - 1);
	if (run_start(g, i) < from)
		with[n++] = (struct run){ from, g->runs[i].pattern };
	with[n++] = (struct run){ to, pattern };
	if (g->runs[j].end > to)
		with[n++] = g->runs[j];
	splice(g, i, j + 1, with, n);
	if (with[0].end == from)
		i++;
	while (i && join(g, i - 1))
		i--;
	while (i + 1 < g->count && join(g, i))
		continue;
}

/* The pattern from byte `at` on, doubled while it fits the cache. */
void expand(unsigned char *to, uint64_t at, uint64_t bytes,
	    uint32_t pattern)
{
	uint64_t done, n;

	for (done = 0; done < 4 && done < bytes; done++)
		to[done] = pattern_byte(pattern, at + done);
	for (; done < bytes; done += n) {
		n = done < 32768 ? done : 32768;
		n = n < bytes - done ? n : bytes - done;
		memcpy(to + done, to, n);
	}
}

void granule_read(const struct granule *g, uint32_t from, uint32_t to,
		  unsigned char *host)
{
	uint32_t i, end;

	if (!g || !g->count) {
		expand(host, from, to - from, JUNK);
		return;
	}
	for (i = run_at(g, from); from < to; i++) {
		end = g->runs[i].end < to ? g->runs[i].end : to;
		expand(host, from, end - from, g->runs[i].pattern);
		host += end - from;
		from = end;
	}
}
