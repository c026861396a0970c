/*
 * Acquiring: each function makes room in the undo log, makes one backend
 * call, and records the step.
 */
#include "realize/realization.h"

int acquire_addresses(struct kvp_realization *r, struct rank *k,
		      uint64_t bytes, uint64_t wanted, uint64_t *address,
		      struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	int code = undo_room(&r->undo, err);

	if (!code)
		code = b->mapping.reserve(b, bytes, wanted, address, err);
	if (!code)
		undo_record(&r->undo, UNDO_RESERVE, k->rank, *address, bytes,
			    0);
	return code;
}

int acquire_memory(struct kvp_realization *r, struct rank *k,
		   uint64_t bytes, struct memory *memory,
		   struct kvp_error *err)
{
	const struct kvp_create what = {
		.device = k->device, .bytes = bytes,
		.handle_type = r->options.handle_type,
		.rdma = r->options.rdma,
	};
	struct kvp_backend *b = backend_of(r);
	int code = undo_room(&r->undo, err);

	if (!code)
		code = b->mapping.create(b, &what, &memory->handle, err);
	if (!code)
		memory->step = undo_record(&r->undo, UNDO_CREATE, k->rank,
					   memory->handle, bytes, 0);
	return code;
}

int acquire_mapping(struct kvp_realization *r, struct rank *k,
		    struct mapping *m, uint64_t address, uint64_t bytes,
		    const struct memory *memory, struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	int code = undo_room(&r->undo, err);

	if (!code)
		code = b->mapping.map(b, address, bytes, memory->handle, err);
	if (code)
		return code;
	m->address = address;
	m->bytes = bytes;
	m->step = undo_record(&r->undo, UNDO_MAP, k->rank, address, bytes,
			      memory->step);
	return KVP_OK;
}

int acquire_import(struct kvp_realization *r, struct rank *k,
		   const struct kvp_shared *shared, struct memory *memory,
		   struct kvp_error *err)
{
	struct kvp_backend *b = backend_of(r);
	int code = undo_room(&r->undo, err);

	if (!code)
		code = b->mapping.import_handle(b, k->device, shared,
						&memory->handle, err);
	if (!code)
		memory->step = undo_record(&r->undo, UNDO_CREATE, k->rank,
					   memory->handle, shared->bytes, 0);
	return code;
}
