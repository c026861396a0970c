/*
 * Opens the backend that a plan is realized on, and names the readers that
 * have no device on it.
 */
#include <stdio.h>

#include "base/error.h"
#include "base/text_list.h"
#include "cli/realize.h"

static int open_host(struct kvp_backend **backend, const struct kvp_plan *plan,
		     struct realize_settings *s, struct kvp_error *err)
{
	if (!s->ranks_given)
		s->options.nranks = (uint32_t)plan->geometry.ranks;
	return kvp_backend_host(backend, s->options.nranks,
				plan->geometry.granularity, err);
}

static int open_gpus(struct kvp_backend **backend, const struct kvp_plan *plan,
		     struct realize_settings *s, struct kvp_error *err)
{
	uint32_t have;
	int code = kvp_backend_cuda(backend, s->ngpus ? s->gpu : NULL,
				    s->ngpus, err);

	if (code)
		return code;
	have = (*backend)->devices;
	if (!s->ranks_given)
		s->options.nranks = (uint32_t)plan->geometry.ranks;
	if (s->options.nranks <= have)
		return KVP_OK;
	return kvp_error_set(err, KVP_EREFUSED,
		"%u ranks need a GPU each, %u %s %s; --ranks=0-%u realizes as "
		"many as there are", s->options.nranks, have,
		have == 1 ? "is" : "are", s->ngpus ? "listed" : "visible",
		have - 1);
}

/* Write the ranks that are set as "1-7,12". */
static void format_ranks(char *text, size_t size, const bool *set)
{
	struct text_list list;
	uint32_t first, last;

	text_list_begin(&list, text, size, ",");
	for (first = 0; first < KVP_RANKS_MAX; first = last + 1) {
		last = first;
		if (!set[first])
			continue;
		while (last + 1 < KVP_RANKS_MAX && set[last + 1])
			last++;
		if (last > first)
			text_list_add(&list, last - first + 1, "%u-%u", first,
				      last);
		else
			text_list_add(&list, 1, "%u", first);
	}
	text_list_end(&list);
}

/* Print the readers that are not realized here: they get no grant. */
static void print_readers_elsewhere(const struct kvp_plan *plan,
				    const struct realize_settings *s)
{
	uint32_t first = s->options.first_rank, i, reader;
	uint32_t end = first + s->options.nranks;
	bool outside[KVP_RANKS_MAX] = { false };
	char text[256] = "";
	size_t j, count = 0;

	for (i = first; i < end; i++)
		for (j = 0; j < plan->access[i].readers.count; j++) {
			reader = plan->access[i].readers.rank[j];
			outside[reader] = reader < first || reader >= end;
		}
	for (i = 0; i < KVP_RANKS_MAX; i++)
		count += outside[i];
	format_ranks(text, sizeof(text), outside);
	if (count)
		fprintf(stderr, "kvplan: note: readers that are not realized "
			"here get no grant: %s %s\n",
			count == 1 ? "rank" : "ranks", text);
}

int realize_backend(struct kvp_backend **backend, const struct kvp_plan *plan,
		    struct realize_settings *s, struct kvp_error *err)
{
	int code = s->gpus ? open_gpus(backend, plan, s, err) :
			     open_host(backend, plan, s, err);

	if (!code)
		print_readers_elsewhere(plan, s);
	return code;
}
