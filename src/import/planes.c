/*
 * The classes of planes, as formulas find them.
 */
#include <assert.h>

#include "import/work.h"

void class_add(struct import *im, const char *name, uint64_t count,
	       uint64_t bytes_per_page)
{
	why(im, "%llu B per page, %llu plane%s\n", (ull)bytes_per_page,
	    (ull)count, count == 1 ? "" : "s");
	assert(im->nclasses < CLASSES_MAX);
	if (count)
		im->classes[im->nclasses++] = (struct plane_class){
			name, count, bytes_per_page };
}

int planes_add(struct import *im, const char *name, uint64_t count,
	       uint64_t bytes_per_token, struct kvp_error *err)
{
	uint64_t page = 0;
	int code = TIMES(&page, "page tokens x bytes per token", err,
			 im->page_tokens, bytes_per_token);

	if (code)
		return code;
	why(im, "  x %llu tokens = ", (ull)im->page_tokens);
	class_add(im, name, count, page);
	return KVP_OK;
}
