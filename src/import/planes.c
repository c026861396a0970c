/*
 * The classes of planes.
 */
#include <assert.h>

#include "import/import.h"

int class_add(struct import *im, const char *name, uint64_t count,
	      struct kvp_error *err, const struct term *terms)
{
	uint64_t page = 0;
	int code;

	assert(im->page_tokens && count <= im->stage.layers);
	report(im, "%s: ", name);
	code = compute(im, &page, err, terms);
	if (code)
		return code;
	report(im, ", %llu plane%s\n", (ull)count, count == 1 ? "" : "s");
	assert(im->nclasses < CLASSES_MAX);
	if (count)
		im->classes[im->nclasses++] = (struct plane_class){
			name, count, page };
	return KVP_OK;
}

int planes_add(struct import *im, const char *name, uint64_t count,
	       struct kvp_error *err, const struct term *terms)
{
	struct term page[TERMS_MAX + 1] = { OP(NULL) };

	terms_append(page, terms);
	terms_append(page, TERMS(COUNT("\n  x", im->page_tokens, "tokens"),
				 EQUALS("B per page")));
	return class_add(im, name, count, err, page);
}
