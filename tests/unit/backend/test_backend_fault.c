/*
 * The backends that wrap another one.  The fault backend: what is to fail
 * fails, everything else passes through with its arguments and results.  The
 * watching backend: everything passes through between its hooks.
 *
 * The inner backend here counts calls, checks arguments and hands out known
 * results.
 */
#include <string.h>

#include <kvplan/backend.h>

#include "base/error.h"

#include "backend/backend_watch.h"
#include "unit/unit.h"

#define VERBS 22

static struct {
	struct kvp_backend base;
	int calls[VERBS];
	int closed;
} stub;

static const struct kvp_create created = { .device = 1, .bytes = 4096 };
static const struct kvp_grant granted_to = { 1, KVP_READ };

/* Every argument is one of these numbers. */
enum { DEVICE = 1, OWNER = 2, ADDRESS = 0x10000, BYTES = 4096, HANDLE = 77,
       PATTERN = 0x01020304, POOL = 99 };

#define COUNT(bit)							\
	do {								\
		ck_assert_ptr_eq(b, &stub.base);			\
		stub.calls[bit]++;					\
	} while (0)

static int stub_device(struct kvp_backend *b, uint32_t device,
		       struct kvp_device_info *info, struct kvp_error *err)
{
	(void)err;
	COUNT(0);
	ck_assert_uint_eq(device, DEVICE);
	info->granularity = 1;
	return KVP_OK;
}

static int stub_peer(struct kvp_backend *b, uint32_t device, uint32_t owner,
		     bool *can, struct kvp_error *err)
{
	(void)err;
	COUNT(1);
	ck_assert_uint_eq(device, DEVICE);
	ck_assert_uint_eq(owner, OWNER);
	*can = true;
	return KVP_OK;
}

static int stub_memory(struct kvp_backend *b, uint32_t device,
		       uint64_t *free_bytes, struct kvp_error *err)
{
	(void)err;
	COUNT(2);
	ck_assert_uint_eq(device, DEVICE);
	*free_bytes = 1;
	return KVP_OK;
}

static int stub_reserve(struct kvp_backend *b, uint64_t bytes,
			uint64_t wanted, uint64_t *address,
			struct kvp_error *err)
{
	(void)err;
	COUNT(3);
	ck_assert_uint_eq(bytes, BYTES);
	ck_assert_uint_eq(wanted, ADDRESS);
	*address = 1;
	return KVP_OK;
}

static int stub_unreserve(struct kvp_backend *b, uint64_t address,
			  uint64_t bytes, struct kvp_error *err)
{
	(void)err;
	COUNT(4);
	ck_assert_uint_eq(address, ADDRESS);
	ck_assert_uint_eq(bytes, BYTES);
	return KVP_OK;
}

static int stub_create(struct kvp_backend *b, const struct kvp_create *what,
		       kvp_handle *handle, struct kvp_error *err)
{
	(void)err;
	COUNT(5);
	ck_assert_ptr_eq(what, &created);
	*handle = 1;
	return KVP_OK;
}

static int stub_release(struct kvp_backend *b, kvp_handle handle,
			struct kvp_error *err)
{
	(void)err;
	COUNT(6);
	ck_assert_uint_eq(handle, HANDLE);
	return KVP_OK;
}

static int stub_map(struct kvp_backend *b, uint64_t address, uint64_t bytes,
		    kvp_handle handle, struct kvp_error *err)
{
	(void)err;
	COUNT(7);
	ck_assert_uint_eq(address, ADDRESS);
	ck_assert_uint_eq(bytes, BYTES);
	ck_assert_uint_eq(handle, HANDLE);
	return KVP_OK;
}

static int stub_unmap(struct kvp_backend *b, uint64_t address,
		      uint64_t bytes, struct kvp_error *err)
{
	(void)err;
	COUNT(8);
	ck_assert_uint_eq(address, ADDRESS);
	ck_assert_uint_eq(bytes, BYTES);
	return KVP_OK;
}

static int stub_grant(struct kvp_backend *b, uint64_t address,
		      uint64_t bytes, const struct kvp_grant *grants,
		      size_t count, struct kvp_error *err)
{
	(void)err;
	COUNT(9);
	ck_assert_uint_eq(address, ADDRESS);
	ck_assert_uint_eq(bytes, BYTES);
	ck_assert_ptr_eq(grants, &granted_to);
	ck_assert_uint_eq(count, 1);
	return KVP_OK;
}

static int stub_granted(struct kvp_backend *b, uint64_t address,
			uint32_t device, enum kvp_flags *flags,
			struct kvp_error *err)
{
	(void)err;
	COUNT(10);
	ck_assert_uint_eq(address, ADDRESS);
	ck_assert_uint_eq(device, DEVICE);
	*flags = KVP_READ;
	return KVP_OK;
}

static int stub_fill(struct kvp_backend *b, uint32_t device, uint64_t address,
		     uint64_t bytes, uint32_t pattern, struct kvp_error *err)
{
	(void)err;
	COUNT(11);
	ck_assert_uint_eq(device, DEVICE);
	ck_assert_uint_eq(address, ADDRESS);
	ck_assert_uint_eq(bytes, BYTES);
	ck_assert_uint_eq(pattern, PATTERN);
	return KVP_OK;
}

static int stub_match(struct kvp_backend *b, uint32_t device,
		      uint64_t address, uint64_t bytes, uint32_t pattern,
		      uint64_t *same_bytes, struct kvp_error *err)
{
	(void)err;
	COUNT(12);
	ck_assert_uint_eq(device, DEVICE);
	ck_assert_uint_eq(address, ADDRESS);
	ck_assert_uint_eq(bytes, BYTES);
	ck_assert_uint_eq(pattern, PATTERN);
	*same_bytes = 1;
	return KVP_OK;
}

static int stub_synchronize(struct kvp_backend *b, uint32_t device,
			    struct kvp_error *err)
{
	COUNT(13);
	ck_assert_uint_eq(device, DEVICE);
	/* The inner backend's own errors come out as they are. */
	if (stub.calls[13] < 100)
		return KVP_OK;
	err->code = KVP_EEXHAUSTED;
	strcpy(err->text, "stub");
	return KVP_EEXHAUSTED;
}

static int stub_pool_create(struct kvp_backend *b, uint32_t device,
			    kvp_pool *pool, struct kvp_error *err)
{
	(void)err;
	COUNT(14);
	ck_assert_uint_eq(device, DEVICE);
	*pool = 1;
	return KVP_OK;
}

static int stub_pool_destroy(struct kvp_backend *b, kvp_pool pool,
			     struct kvp_error *err)
{
	(void)err;
	COUNT(15);
	ck_assert_uint_eq(pool, POOL);
	return KVP_OK;
}

static int stub_allocate(struct kvp_backend *b, kvp_pool pool, uint64_t bytes,
			 uint64_t *address, struct kvp_error *err)
{
	(void)err;
	COUNT(16);
	ck_assert_uint_eq(pool, POOL);
	ck_assert_uint_eq(bytes, BYTES);
	*address = 1;
	return KVP_OK;
}

static int stub_deallocate(struct kvp_backend *b, kvp_pool pool,
			   uint64_t address, struct kvp_error *err)
{
	(void)err;
	COUNT(17);
	ck_assert_uint_eq(pool, POOL);
	ck_assert_uint_eq(address, ADDRESS);
	return KVP_OK;
}

static const struct kvp_demand demanded = { 1, 2, 3, 4 };

static int stub_process(struct kvp_backend *b,
			const struct kvp_demand *demand,
			struct kvp_process *process, struct kvp_error *err)
{
	(void)err;
	COUNT(18);
	ck_assert_ptr_eq(demand, &demanded);
	process->maps.need = 1;
	return KVP_OK;
}

static const struct kvp_shared shared_in = { 5, 0, BYTES };

static int stub_export_handle(struct kvp_backend *b, kvp_handle handle,
			      struct kvp_shared *shared, struct kvp_error *err)
{
	(void)err;
	COUNT(19);
	ck_assert_uint_eq(handle, HANDLE);
	shared->bytes = 1;
	return KVP_OK;
}

static int stub_import_handle(struct kvp_backend *b, uint32_t device,
			      const struct kvp_shared *shared,
			      kvp_handle *handle, struct kvp_error *err)
{
	(void)err;
	COUNT(20);
	ck_assert_uint_eq(device, DEVICE);
	ck_assert_ptr_eq(shared, &shared_in);
	*handle = 1;
	return KVP_OK;
}

static int stub_visible(struct kvp_backend *b, const char *uuid, bool *is,
			struct kvp_error *err)
{
	(void)err;
	COUNT(21);
	ck_assert_str_eq(uuid, "GPU-1");
	*is = true;
	return KVP_OK;
}

static void stub_close(struct kvp_backend *b)
{
	ck_assert_ptr_eq(b, &stub.base);
	stub.closed++;
}

static const struct kvp_backend stub_backend = {
	.device = { stub_device, stub_peer, stub_visible, stub_memory, stub_synchronize,
		    stub_process },
	.mapping = { stub_reserve, stub_unreserve, stub_create, stub_release,
		     stub_export_handle, stub_import_handle, stub_map,
		     stub_unmap, stub_grant, stub_granted, stub_fill,
		     stub_match },
	.pool = { stub_pool_create, stub_pool_destroy, stub_allocate,
		  stub_deallocate },
	.close = stub_close, .name = "stub", .devices = 3,
};

static struct kvp_fault fault;
static struct kvp_backend *b;

static void open_fault(void)
{
	memset(&stub, 0, sizeof(stub));
	memset(&fault, 0, sizeof(fault));
	fault.code = KVP_EDRIVER;
	stub.base = stub_backend;
	ck_assert_int_eq(kvp_backend_fault(&b, &stub.base, &fault, NULL),
			 KVP_OK);
}

static void close_fault(void)
{
	kvp_backend_close(b);
	ck_assert_int_eq(stub.closed, 0);
}

/* The verbs of pools, likewise. */
static int call_pool(int bit, uint64_t *out, struct kvp_error *err)
{
	int code = -1;

	switch (bit) {
	case 14:
		code = b->pool.pool_create(b, DEVICE, out, err);
		break;
	case 15:
		code = b->pool.pool_destroy(b, POOL, err);
		break;
	case 16:
		code = b->pool.allocate(b, POOL, BYTES, out, err);
		break;
	case 17:
		code = b->pool.deallocate(b, POOL, ADDRESS, err);
		break;
	default:
		ck_abort();
	}
	return code;
}

/* Call one verb.  *out is 1 after a success of one with a result, else 0. */
static int call(int bit, uint64_t *out, struct kvp_error *err)
{
	struct kvp_device_info info = { .granularity = 0 };
	struct kvp_process process = { .maps.need = 0 };
	struct kvp_shared shared = { .bytes = 0 };
	enum kvp_flags flags = KVP_NO_ACCESS;
	bool can = false;
	int code = -1;

	*out = 0;
	switch (bit) {
	case 0:
		code = b->device.device(b, DEVICE, &info, err);
		*out = info.granularity;
		break;
	case 1:
		code = b->device.peer(b, DEVICE, OWNER, &can, err);
		*out = can;
		break;
	case 2:
		code = b->device.memory(b, DEVICE, out, err);
		break;
	case 3:
		code = b->mapping.reserve(b, BYTES, ADDRESS, out, err);
		break;
	case 4:
		code = b->mapping.unreserve(b, ADDRESS, BYTES, err);
		break;
	case 5:
		code = b->mapping.create(b, &created, out, err);
		break;
	case 6:
		code = b->mapping.release(b, HANDLE, err);
		break;
	case 7:
		code = b->mapping.map(b, ADDRESS, BYTES, HANDLE, err);
		break;
	case 8:
		code = b->mapping.unmap(b, ADDRESS, BYTES, err);
		break;
	case 9:
		code = b->mapping.grant(b, ADDRESS, BYTES, &granted_to, 1, err);
		break;
	case 10:
		code = b->mapping.granted(b, ADDRESS, DEVICE, &flags, err);
		*out = flags;
		break;
	case 11:
		code = b->mapping.fill(b, DEVICE, ADDRESS, BYTES, PATTERN, err);
		break;
	case 12:
		code = b->mapping.match(b, DEVICE, ADDRESS, BYTES, PATTERN, out,
					err);
		break;
	case 13:
		code = b->device.synchronize(b, DEVICE, err);
		break;
	case 18:
		code = b->device.process(b, &demanded, &process, err);
		*out = process.maps.need;
		break;
	case 19:
		code = b->mapping.export_handle(b, HANDLE, &shared, err);
		*out = shared.bytes;
		break;
	case 20:
		code = b->mapping.import_handle(b, DEVICE, &shared_in, out,
						err);
		break;
	case 21:
		code = b->device.visible(b, "GPU-1", &can, err);
		*out = can;
		break;
	default:
		code = call_pool(bit, out, err);
		break;
	}
	return code;
}

static const char *const names[VERBS] = {
	"device", "peer", "memory", "reserve", "unreserve", "create",
	"release", "map", "unmap", "grant", "granted", "fill", "match",
	"synchronize", "pool_create", "pool_destroy", "allocate",
	"deallocate", "process", "export_handle", "import_handle",
	"visible",
};
static const enum kvp_op bits[VERBS] = {
	KVP_OP_DEVICE, KVP_OP_PEER, KVP_OP_MEMORY, KVP_OP_RESERVE,
	KVP_OP_UNRESERVE, KVP_OP_CREATE, KVP_OP_RELEASE, KVP_OP_MAP,
	KVP_OP_UNMAP, KVP_OP_GRANT, KVP_OP_GRANTED, KVP_OP_FILL,
	KVP_OP_MATCH, KVP_OP_SYNCHRONIZE, KVP_OP_POOL_CREATE,
	KVP_OP_POOL_DESTROY, KVP_OP_ALLOCATE, KVP_OP_DEALLOCATE,
	KVP_OP_PROCESS, KVP_OP_EXPORT, KVP_OP_IMPORT,
	KVP_OP_VISIBLE,
};

static bool has_result(int bit)
{
	return bit < 4 || bit == 5 || bit == 10 || bit == 12 || bit == 14 ||
	       bit == 16 || bit >= 18;
}

static void check_passes(int bit)
{
	struct kvp_error err = { 0 };
	int before = stub.calls[bit];
	uint64_t out;

	ck_assert_int_eq(call(bit, &out, &err), KVP_OK);
	ck_assert_int_eq(stub.calls[bit], before + 1);
	ck_assert_uint_eq(out, has_result(bit));
	ck_assert_int_eq(err.code, KVP_OK);
}

static void check_fails(int bit, int code)
{
	struct kvp_error err = { 0 };
	int before = stub.calls[bit];
	char text[64];
	uint64_t out;

	ck_assert_int_eq(call(bit, &out, &err), code);
	ck_assert_int_eq(stub.calls[bit], before);
	ck_assert_uint_eq(out, 0);
	ck_assert_int_eq(err.code, code);
	strcat(strcpy(text, names[bit]), ": made to fail");
	ck_assert_str_eq(err.text, text);
}

START_TEST(without_a_fault_every_verb_passes_through)
{
	int bit;

	fault.ops = KVP_OP_ALL;
	for (bit = 0; bit < VERBS; bit++)
		check_passes(bit);
	ck_assert_uint_eq(fault.countdown, 0);
	ck_assert_str_eq(b->name, "stub");
	ck_assert_uint_eq(b->devices, 3);
}
END_TEST

START_TEST(every_verb_fails_alone_under_its_own_bit)
{
	int bit, other;
	unsigned all = 0;

	for (bit = 0; bit < VERBS; bit++) {
		fault = (struct kvp_fault){ bits[bit], 1, false, KVP_EIO, 0 };
		for (other = 0; other < VERBS; other++)
			if (other != bit)
				check_passes(other);
		check_fails(bit, KVP_EIO);
		ck_assert_uint_eq(fault.countdown, 0);
		check_passes(bit);
		all |= (unsigned)bits[bit];
	}
	ck_assert_uint_eq(all, KVP_OP_ALL);
}
END_TEST

START_TEST(the_call_counted_down_to_fails_once)
{
	uint64_t n, i;

	for (n = 1; n < 30; n++) {
		fault = (struct kvp_fault){ KVP_OP_ALL, n, false,
					    KVP_EEXHAUSTED, 0 };
		for (i = 1; i < n; i++)
			check_passes((int)(i % VERBS));
		check_fails((int)(n % VERBS), KVP_EEXHAUSTED);
		for (i = 0; i < VERBS; i++)
			check_passes((int)i);
	}
}
END_TEST

START_TEST(for_ever_fails_all_masked_calls_from_there_on)
{
	int i;

	fault = (struct kvp_fault){ KVP_OP_MAP | KVP_OP_UNMAP, 3, true,
				    KVP_EDRIVER, 0 };
	check_passes(7);
	check_passes(7);
	for (i = 0; i < 5; i++) {
		check_fails(7, KVP_EDRIVER);
		check_fails(8, KVP_EDRIVER);
		check_passes(9);
	}
}
END_TEST

START_TEST(only_masked_calls_count_down)
{
	int i;

	fault = (struct kvp_fault){ KVP_OP_GRANT, 2, false, KVP_EDRIVER, 0 };
	for (i = 0; i < 10; i++)
		check_passes(7);
	ck_assert_uint_eq(fault.countdown, 2);
	check_passes(9);
	ck_assert_uint_eq(fault.countdown, 1);
	check_passes(7);
	check_fails(9, KVP_EDRIVER);
}
END_TEST

START_TEST(the_fault_is_read_at_every_call)
{
	fault = (struct kvp_fault){ KVP_OP_ALL, 1, true, KVP_EDRIVER, 0 };
	check_fails(6, KVP_EDRIVER);
	fault.ops &= ~(unsigned)KVP_OP_RELEASE;
	check_passes(6);
	fault.code = KVP_EEXHAUSTED;
	check_fails(5, KVP_EEXHAUSTED);
	fault.countdown = 0;
	check_passes(5);
}
END_TEST

START_TEST(the_inner_backends_errors_come_out_as_they_are)
{
	struct kvp_error err = { 0 };
	uint64_t out;

	stub.calls[13] = 99;
	ck_assert_int_eq(call(13, &out, &err), KVP_EEXHAUSTED);
	ck_assert_str_eq(err.text, "stub");
}
END_TEST

START_TEST(an_error_that_nobody_wants_is_not_written)
{
	uint64_t out;

	fault = (struct kvp_fault){ KVP_OP_ALL, 1, true, KVP_EDRIVER, 0 };
	ck_assert_int_eq(call(7, &out, NULL), KVP_EDRIVER);
	kvp_backend_close(NULL);
}
END_TEST

/* --- the watching backend --- */

static struct {
	struct backend_watch watch;
	int code;		/* of the hook before */
	int asked, told;
	struct watch_call call;	/* told last */
} watched;

static int ask(void *cookie, struct kvp_error *err)
{
	ck_assert_ptr_eq(cookie, &watched);
	watched.asked++;
	return watched.code ? kvp_error_set(err, watched.code, "stopped") :
			      KVP_OK;
}

static void hear(void *cookie, const struct watch_call *call)
{
	ck_assert_ptr_eq(cookie, &watched);
	watched.told++;
	watched.call = *call;
}

static void open_watch(void)
{
	static const struct watch_hooks hooks = { ask, hear };

	memset(&stub, 0, sizeof(stub));
	memset(&watched, 0, sizeof(watched));
	stub.base = stub_backend;
	backend_watch_init(&watched.watch, &stub.base, &hooks, &watched);
	b = &watched.watch.base;
}

START_TEST(every_verb_passes_through_and_is_told)
{
	static const struct { uint64_t address, bytes; } range[VERBS] = {
		[3] = { ADDRESS, BYTES }, [4] = { ADDRESS, BYTES },
		[5] = { 0, BYTES }, [7] = { ADDRESS, BYTES },
		[8] = { ADDRESS, BYTES }, [9] = { ADDRESS, BYTES },
		[10] = { ADDRESS, 0 }, [11] = { ADDRESS, BYTES },
		[12] = { ADDRESS, BYTES }, [16] = { 0, BYTES },
		[17] = { ADDRESS, 0 }, [20] = { 0, BYTES },
	};
	int bit;

	ck_assert_str_eq(b->name, "stub");
	ck_assert_uint_eq(b->devices, 3);
	for (bit = 0; bit < VERBS; bit++) {
		check_passes(bit);
		ck_assert_int_eq(watched.asked, bit + 1);
		ck_assert_int_eq(watched.told, bit + 1);
		ck_assert_int_eq(watched.call.op, bits[bit]);
		ck_assert_str_eq(watched.call.name, names[bit]);
		ck_assert_int_eq(watched.call.code, KVP_OK);
		ck_assert_uint_eq(watched.call.address, range[bit].address);
		ck_assert_uint_eq(watched.call.bytes, range[bit].bytes);
		ck_assert_int_eq(watched.watch.last.op, bits[bit]);
	}
}
END_TEST

START_TEST(a_call_that_the_hook_refuses_is_not_made)
{
	struct kvp_error err = { 0 };
	uint64_t out;
	int bit;

	watched.code = KVP_EINTERRUPTED;
	for (bit = 0; bit < VERBS; bit++) {
		ck_assert_int_eq(call(bit, &out, &err), KVP_EINTERRUPTED);
		ck_assert_str_eq(err.text, "stopped");
		ck_assert_int_eq(stub.calls[bit], 0);
		ck_assert_uint_eq(out, 0);
	}
	ck_assert_int_eq(watched.told, 0);
	ck_assert_int_eq(watched.watch.last.op, 0);
}
END_TEST

static int failing_grant(struct kvp_backend *self, uint64_t address,
			 uint64_t bytes, const struct kvp_grant *grants,
			 size_t count, struct kvp_error *err)
{
	(void)self, (void)address, (void)bytes, (void)grants, (void)count;
	return kvp_error_set(err, KVP_EEXHAUSTED, "full");
}

static int failing_unmap(struct kvp_backend *self, uint64_t address,
			 uint64_t bytes, struct kvp_error *err)
{
	(void)self, (void)address, (void)bytes;
	return kvp_error_set(err, KVP_EDRIVER, "stuck");
}

START_TEST(grants_take_entries_and_unmaps_give_back_what_was_told)
{
	struct backend_watch *w = &watched.watch;

	w->entries = 10;
	check_passes(9);
	ck_assert_uint_eq(w->entries, 11);
	ck_assert_uint_eq(watched.call.entries, 1);
	w->unmap_entries = 4;
	check_passes(8);
	ck_assert_uint_eq(w->entries, 7);
	ck_assert_uint_eq(watched.call.entries, 4);
	stub.base.mapping.grant = failing_grant;
	stub.base.mapping.unmap = failing_unmap;
	ck_assert_int_eq(b->mapping.grant(b, ADDRESS, BYTES, &granted_to, 1,
					  NULL), KVP_EEXHAUSTED);
	ck_assert_int_eq(watched.call.code, KVP_EEXHAUSTED);
	ck_assert_uint_eq(w->last.entries, 1);
	ck_assert_int_eq(b->mapping.unmap(b, ADDRESS, BYTES, NULL),
			 KVP_EDRIVER);
	ck_assert_int_eq(watched.call.code, KVP_EDRIVER);
	ck_assert_uint_eq(w->entries, 7);
	check_passes(7);
	ck_assert_uint_eq(w->entries, 7);
	ck_assert_uint_eq(watched.call.entries, 0);
}
END_TEST

Suite *backend_fault_suite(void)
{
	TCase *watch = tcase_create("backend_watch");
	Suite *suite = suite_create("backend_fault");
	TCase *tests = tcase_create("backend_fault");

	tcase_add_checked_fixture(tests, open_fault, close_fault);
	tcase_add_test(tests, without_a_fault_every_verb_passes_through);
	tcase_add_test(tests, every_verb_fails_alone_under_its_own_bit);
	tcase_add_test(tests, the_call_counted_down_to_fails_once);
	tcase_add_test(tests, for_ever_fails_all_masked_calls_from_there_on);
	tcase_add_test(tests, only_masked_calls_count_down);
	tcase_add_test(tests, the_fault_is_read_at_every_call);
	tcase_add_test(tests, the_inner_backends_errors_come_out_as_they_are);
	tcase_add_test(tests, an_error_that_nobody_wants_is_not_written);
	suite_add_tcase(suite, tests);
	tcase_add_checked_fixture(watch, open_watch, close_fault);
	tcase_add_test(watch, every_verb_passes_through_and_is_told);
	tcase_add_test(watch, a_call_that_the_hook_refuses_is_not_made);
	tcase_add_test(watch,
		grants_take_entries_and_unmaps_give_back_what_was_told);
	suite_add_tcase(suite, watch);
	return suite;
}
