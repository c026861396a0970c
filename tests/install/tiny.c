/* The installed library as its users see it: plan, verify, count. */
#include <stdio.h>
#include <string.h>

#include <kvplan/kvplan.h>

static const char text[] =
	"{\"format\":\"kvplan/geometry/1\",\"name\":\"tiny\",\"pages\":8,"
	"\"granularity\":4096,\"page_tokens\":4,\"snapshot_rows\":2,"
	"\"execution_rows\":1,\"row_bytes\":8192,\"ranks\":2,"
	"\"dcp_group_size\":2,\"planes\":[{\"name\":\"kv\",\"count\":2,"
	"\"bytes_per_page\":4096}]}";

int main(void)
{
	struct kvp_geometry geometry;
	struct kvp_plan plan = { 0 };
	struct kvp_verdict *verdict = NULL;
	struct kvp_error err = { 0 };
	int code = kvp_geometry_read(&geometry, "tiny", text, strlen(text),
				     &err);

	if (!code)
		code = kvp_plan_make(&plan, &geometry, KVP_MERGE_SPAN, &err);
	if (!code)
		code = kvp_verify(&plan, NULL, &verdict, &err);
	if (code)
		fprintf(stderr, "%s\n", err.text);
	else
		printf("%zu chunks, %s\n", plan.nchunks,
		       kvp_verdict_ok(verdict) ? "verified" : "not verified");
	kvp_verdict_free(verdict);
	kvp_plan_release(&plan);
	kvp_geometry_release(&geometry);
	return code != KVP_OK;
}
