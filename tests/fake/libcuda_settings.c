/*
 * The stand-in's settings, and its report.
 */
#include "fake/libcuda.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t number(const char *name, uint64_t usual, uint64_t most)
{
	const char *text = getenv(name);
	char *end;
	uint64_t value;

	if (!text)
		return usual;
	value = strtoull(text, &end, 10);
	if (end == text || *end || value > most)
		die(name, text);
	return value;
}

static void read_peers(void)
{
	const char *text = getenv("FAKE_CUDA_NO_PEER");
	const char *p = text;
	unsigned a, b;
	int used;

	while (p && *p) {
		if (sscanf(p, "%u-%u%n", &a, &b, &used) != 2 ||
		    a >= MAX_GPUS || b >= MAX_GPUS || a == b ||
		    (p[used] && p[used] != ','))
			die("FAKE_CUDA_NO_PEER", text);
		cu.cards[a].no_peer[b] = cu.cards[b].no_peer[a] = true;
		p += used + (p[used] == ',');
	}
}

/* As the driver does, what is no ordinal of the node ends the list. */
static void read_visible(uint32_t all)
{
	const char *text = getenv("CUDA_VISIBLE_DEVICES");
	bool seen[MAX_GPUS] = { false };
	unsigned card;
	int used;

	for (cu.devices = 0; !text && cu.devices < all; cu.devices++)
		cu.gpus[cu.devices].card = cu.devices;
	while (text && sscanf(text, "%u%n", &card, &used) == 1 && card < all) {
		if (seen[card])
			die("CUDA_VISIBLE_DEVICES names a GPU twice", text);
		seen[card] = true;
		cu.gpus[cu.devices++].card = card;
		text += used;
		text = *text == ',' ? text + 1 : NULL;
	}
}

static void read_take(void)
{
	const char *text = getenv("FAKE_CUDA_TAKE");
	unsigned long long bytes = 0, at = 0;

	if (text && (sscanf(text, "%llu:%llu", &bytes, &at) != 2 || !at))
		die("FAKE_CUDA_TAKE", text);
	cu.take_bytes = bytes;
	cu.take_at = at;
}

static void read_fault(char *text)
{
	struct fault f = { .error = CUDA_ERROR_UNKNOWN };
	char *save;
	char *word = strtok_r(text, ":", &save);

	if (!word || strlen(word) >= sizeof(f.call) ||
	    cu.nfaults == MAX_FAULTS)
		die("FAKE_CUDA_FAIL", "not understood");
	strcpy(f.call, word);
	word = strtok_r(NULL, ":", &save);
	f.n = word ? strtoul(word, NULL, 10) : 0;
	if (!f.n)
		die("FAKE_CUDA_FAIL", "no count, from 1");
	while ((word = strtok_r(NULL, ":", &save)) != NULL) {
		if (strcmp(word, "for-ever") == 0)
			f.for_ever = true;
		else if (atoi(word) > 0)
			f.error = atoi(word);
		else
			die("FAKE_CUDA_FAIL", word);
	}
	cu.faults[cu.nfaults++] = f;
}

static void read_faults(void)
{
	const char *text = getenv("FAKE_CUDA_FAIL");
	char copy[1024];
	char *save;
	char *word;

	cu.nfaults = 0;
	if (!text)
		return;
	if (strlen(text) >= sizeof(copy))
		die("FAKE_CUDA_FAIL", "too long");
	strcpy(copy, text);
	for (word = strtok_r(copy, ",", &save); word;
	     word = strtok_r(NULL, ",", &save))
		read_fault(word);
}

static unsigned contexts_alive(void)
{
	unsigned sum = 0;
	uint32_t i;

	for (i = 0; i < MAX_GPUS; i++)
		sum += cu.gpus[i].retained;
	return sum;
}

static bool alive(void)
{
	return contexts_alive() || cu.streams || cu.nreservations ||
	       cu.mappings_alive || cu.memories_alive || cu.nhosts ||
	       cu.pools || cu.nblocks;
}

CUresult configure(void)
{
	if (alive())
		return CUDA_SUCCESS;
	memset(cu.gpus, 0, sizeof(cu.gpus));
	memset(cu.cards, 0, sizeof(cu.cards));
	read_visible((uint32_t)number("FAKE_CUDA_DEVICES", 1, MAX_GPUS));
	cu.memory_bytes = number("FAKE_CUDA_MEMORY", UINT64_C(139) << 30,
				 INT64_MAX);
	cu.keep_bytes = number("FAKE_CUDA_KEEP", GRANULE, INT64_MAX);
	read_take();
	cu.entries = number("FAKE_CUDA_ENTRIES", 524288, INT64_MAX);
	cu.hints_from = number("FAKE_CUDA_HINTS_FROM", 0, INT64_MAX);
	cu.entries_used = number("FAKE_CUDA_ENTRIES_USED", 410, INT64_MAX);
	cu.no_pools = number("FAKE_CUDA_NO_POOLS", 0, 1) != 0;
	read_peers();
	read_faults();
	return node_join();
}

static size_t count_pools(void)
{
	const struct pool *p;
	size_t n = 0;

	for (p = cu.pools; p; p = p->next)
		n++;
	return n;
}

static size_t count_streams(void)
{
	const struct stream *s;
	size_t n = 0;

	for (s = cu.streams; s; s = s->next)
		n++;
	return n;
}

void report(void)
{
	const char *name = getenv("FAKE_CUDA_REPORT");
	FILE *out = name ? fopen(name, "a") : NULL;
	size_t shown = cu.nerrors < MAX_ERRORS ? cu.nerrors : MAX_ERRORS;
	size_t i;

	if (!name)
		return;
	if (!out)
		die("FAKE_CUDA_REPORT", name);
	fprintf(out, "{\"reservations\":%zu,\"handles\":%" PRIu32
		",\"mappings\":%" PRIu32 ",\"entries\":%" PRIu64
		",\"contexts\":%u,\"streams\":%zu,\"host\":%zu,",
		cu.nreservations, cu.memories_alive, cu.mappings_alive,
		cu.own->entries, contexts_alive(), count_streams(), cu.nhosts);
	/* Without pools the line does not speak of them. */
	if (cu.pools || cu.nblocks)
		fprintf(out, "\"pools\":%zu,\"blocks\":%zu,",
			count_pools(), cu.nblocks);
	node_report(out);
	fputs("\"errors\":[", out);
	for (i = 0; i < shown; i++)
		fprintf(out, "%s\"%s\"", i ? "," : "", cu.errors[i]);
	if (shown < cu.nerrors)
		fprintf(out, ",\"and %zu more\"", cu.nerrors - shown);
	if (depth)
		fprintf(out, "%s\"%zu contexts were left current\"",
			shown ? "," : "", depth);
	fputs("]}\n", out);
	if (fclose(out))
		die("FAKE_CUDA_REPORT", name);
}
