/*
 * The plan as a noun: its modes' names, and giving it back.
 */
#include <stdlib.h>
#include <string.h>

#include <kvplan/plan.h>

static const char *const merge_names[] = {
	[KVP_MERGE_NONE] = "none",
	[KVP_MERGE_ROW] = "row",
	[KVP_MERGE_SPAN] = "span",
};

const char *kvp_merge_name(enum kvp_merge merge)
{
	return merge_names[merge];
}

int kvp_merge_find(const char *name, enum kvp_merge *merge)
{
	size_t i;

	for (i = 0; i < sizeof(merge_names) / sizeof(*merge_names); i++)
		if (!strcmp(name, merge_names[i])) {
			*merge = (enum kvp_merge)i;
			return KVP_OK;
		}
	return KVP_EINPUT;
}

void kvp_plan_release(struct kvp_plan *plan)
{
	size_t i;

	for (i = 0; i < plan->naccess; i++)
		free(plan->access[i].readers.rank);
	free(plan->access);
	free(plan->summary.per_rank);
	free(plan->summary.per_node);
	free(plan->spans);
	free(plan->rows);
	free(plan->chunks);
	kvp_geometry_release(&plan->geometry);
	*plan = (struct kvp_plan){ 0 };
}

size_t kvp_plan_sizeof(void)
{
	return sizeof(struct kvp_plan);
}
