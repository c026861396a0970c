/*
 * The host backend: what one backend exports, another imports, in the same
 * process and in another one.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* memfd_create */
#endif

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include "unit/host.h"

#define G UINT64_C(65536)
#define SEALS (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)

/* The owner has three devices, the importer two. */
static struct kvp_backend *owner, *importer, *b;
static struct kvp_error err;
static int descriptors_before;

static int count_descriptors(void)
{
	DIR *open = opendir("/proc/self/fd");
	int count = 0;

	ck_assert_ptr_nonnull(open);
	while (readdir(open))
		count++;
	closedir(open);
	return count;
}

static void open_both(void)
{
	memset(&err, 0, sizeof(err));
	descriptors_before = count_descriptors();
	ck_assert_int_eq(kvp_backend_host(&owner, 3, G, &err), KVP_OK);
	ck_assert_int_eq(kvp_backend_host(&importer, 2, G, &err), KVP_OK);
}

static void close_both(void)
{
	kvp_backend_close(owner);
	kvp_backend_close(importer);
	ck_assert_int_eq(count_descriptors(), descriptors_before);
}

static kvp_handle create(uint32_t device, uint64_t bytes,
			 enum kvp_handle_type type)
{
	const struct kvp_create what = { .device = device, .bytes = bytes,
					 .handle_type = type };
	kvp_handle handle = 0;

	check_ok(owner->mapping.create(owner, &what, &handle, &err));
	return handle;
}

static kvp_handle shareable(uint64_t bytes)
{
	return create(0, bytes, KVP_HANDLE_POSIX_FD);
}

static struct kvp_shared export(kvp_handle handle)
{
	struct kvp_shared shared = { .fd = -1 };

	check_ok(owner->mapping.export_handle(owner, handle, &shared, &err));
	return shared;
}

static kvp_handle import(const struct kvp_shared *shared)
{
	kvp_handle handle = 0;

	check_ok(importer->mapping.import_handle(importer, 1, shared, &handle,
						 &err));
	return handle;
}

/* Export, import, and close the descriptor. */
static kvp_handle pass(kvp_handle handle)
{
	struct kvp_shared shared = export(handle);
	kvp_handle imported = import(&shared);

	close(shared.fd);
	return imported;
}

/* Map a whole handle in a range of its own, for device 0 or 1. */
static uint64_t map(struct kvp_backend *of, kvp_handle handle, uint64_t bytes,
		    enum kvp_flags flags)
{
	const struct kvp_grant grant = { of == importer, flags };
	uint64_t at = 0;

	check_ok(of->mapping.reserve(of, bytes, 0, &at, &err));
	check_ok(of->mapping.map(of, at, bytes, handle, &err));
	check_ok(of->mapping.grant(of, at, bytes, &grant, 1, &err));
	return at;
}

static void fill(struct kvp_backend *of, uint64_t at, uint64_t bytes,
		 uint32_t pattern)
{
	check_ok(of->mapping.fill(of, of == importer, at, bytes, pattern,
				  &err));
}

static void check_match(struct kvp_backend *of, uint64_t at, uint64_t bytes,
			uint32_t pattern)
{
	uint64_t same = 0;

	check_ok(of->mapping.match(of, of == importer, at, bytes, pattern,
				   &same, &err));
	ck_assert_uint_eq(same, bytes);
}

static uint64_t resident(const struct kvp_backend *of)
{
	struct host_alive alive;

	host_alive(of, &alive);
	return alive.resident_bytes;
}

static uint64_t handles(const struct kvp_backend *of)
{
	struct host_alive alive;

	host_alive(of, &alive);
	return alive.handles;
}

START_TEST(both_see_what_either_writes)
{
	kvp_handle first = shareable(G), second = shareable(3 * G);
	uint64_t mine = map(owner, second, 3 * G, KVP_READWRITE), theirs;
	enum kvp_flags flags = KVP_NO_ACCESS;

	fill(owner, mine, 3 * G, 0x11223344);
	theirs = map(importer, pass(second), 3 * G, KVP_READWRITE);
	check_match(importer, theirs, 3 * G, 0x11223344);
	fill(importer, theirs + G + 3, G, 0x55667788);
	check_match(owner, mine + G + 4, G - 4, (uint32_t)0x55667788);
	check_match(owner, mine + 2 * G + 4, G - 4, 0x11223344);
	check_ok(importer->mapping.granted(importer, theirs, 1, &flags, &err));
	ck_assert_int_eq(flags, KVP_READWRITE);
	check_ok(importer->mapping.granted(importer, theirs, 0, &flags, &err));
	ck_assert_int_eq(flags, KVP_NO_ACCESS);
	/* A handle beside it is other memory. */
	theirs = map(importer, pass(first), G, KVP_READ);
	check_match(importer, theirs, G, 0);
	ck_assert_int_eq(importer->mapping.fill(importer, 1, theirs, 1, 1,
						&err), KVP_EDRIVER);
}
END_TEST

START_TEST(a_descriptor_is_the_callers_and_closed_by_exec)
{
	kvp_handle handle = shareable(2 * G);
	struct kvp_shared shared;

	(void)shareable(G);
	shared = export(handle);
	ck_assert_int_ge(shared.fd, 3);
	ck_assert_int_eq(fcntl(shared.fd, F_GETFD), FD_CLOEXEC);
	ck_assert_uint_eq(shared.offset, 0);
	ck_assert_uint_eq(shared.bytes, 2 * G);
	ck_assert_int_eq(fcntl(shared.fd, F_GET_SEALS) & SEALS, SEALS);
	ck_assert_int_eq(ftruncate(shared.fd, 0), -1);
	(void)import(&shared);
	ck_assert_int_eq(close(shared.fd), 0);
}
END_TEST

/* Standard input is closed: no descriptor gets its number. */
static int share_without_input(void)
{
	struct kvp_shared shared = { .fd = -1 };
	kvp_handle handle = shareable(G), imported;
	int sent;

	close(STDIN_FILENO);
	if (owner->mapping.export_handle(owner, handle, &shared, &err) ||
	    shared.fd < 3)
		return 1;
	if (importer->mapping.import_handle(importer, 1, &shared, &imported,
					    &err))
		return 2;
	sent = open("/", O_PATH);
	return sent ? 3 : 0;
}

START_TEST(descriptors_stay_clear_of_the_standard_ones)
{
	host_in_child(share_without_input);
}
END_TEST

START_TEST(only_what_was_created_for_it_is_exported)
{
	kvp_handle plain = create(0, G, KVP_HANDLE_NONE), handle = shareable(G);
	kvp_handle imported = pass(handle);
	struct kvp_shared shared = { 77, 78, 79 };

	b = owner;
	check_refused(b->mapping.export_handle(b, plain, &shared, &err),
		      "was not created to be exported");
	check_refused(b->mapping.export_handle(b, handle + 5, &shared, &err),
		      "no handle");
	check_ok(b->mapping.release(b, handle, &err));
	check_refused(b->mapping.export_handle(b, handle, &shared, &err),
		      "released already");
	b = importer;
	check_refused(b->mapping.export_handle(b, imported, &shared, &err),
		      "is imported; only its owner exports it");
	ck_assert_int_eq(shared.fd, 77);
	ck_assert_uint_eq(shared.offset, 78);
	ck_assert_uint_eq(shared.bytes, 79);
}
END_TEST

/* A memfd of the tests' own with these seals; the caller closes it. */
static int make_file(uint64_t bytes, int seals)
{
	int fd = memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	ck_assert_int_ge(fd, 0);
	ck_assert_int_eq(ftruncate(fd, (off_t)bytes), 0);
	ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
	return fd;
}

static void check_not_imported(int fd, uint64_t offset, uint64_t bytes,
			       const char *text)
{
	const struct kvp_shared shared = { fd, offset, bytes };
	kvp_handle handle = 99;

	b = importer;
	check_refused(b->mapping.import_handle(b, 1, &shared, &handle, &err),
		      text);
	ck_assert_uint_eq(handle, 99);
}

START_TEST(a_file_that_may_change_its_size_is_refused)
{
	static const int seals[] = {
		0, SEALS & ~F_SEAL_SHRINK, SEALS & ~F_SEAL_GROW,
		SEALS & ~F_SEAL_SEAL,
	};
	size_t i;
	int fd;

	for (i = 0; i < sizeof(seals) / sizeof(*seals); i++) {
		fd = make_file(4 * G, seals[i]);
		check_not_imported(fd, 0, G, "and not all of 0x7");
		close(fd);
	}
	fd = make_file(4 * G, SEALS);
	(void)import(&(struct kvp_shared){ fd, 0, G });
	close(fd);
}
END_TEST

START_TEST(what_is_no_memory_is_refused)
{
	FILE *file = tmpfile();
	int pipes[2], sockets[2], root = open("/", O_PATH | O_CLOEXEC);

	ck_assert_int_eq(pipe(pipes), 0);
	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	ck_assert_ptr_nonnull(file);
	check_not_imported(pipes[0], 0, G, "is no memory: Invalid argument");
	check_not_imported(sockets[0], 0, G, "is no memory: Invalid argument");
	check_not_imported(root, 0, G, "is no memory: Bad file descriptor");
	check_not_imported(-1, 0, G,
			   "descriptor -1 is no memory: Bad file descriptor");
	ck_assert_int_eq(ftruncate(fileno(file), (off_t)G), 0);
	/* On tmpfs such a file has a seal. */
	check_not_imported(fileno(file), 0, G, "import_handle: descriptor ");
	fclose(file);
	close(root);
	close(pipes[0]);
	close(pipes[1]);
	close(sockets[0]);
	close(sockets[1]);
}
END_TEST

START_TEST(a_range_outside_the_file_is_refused)
{
	int fd = make_file(4 * G, SEALS);
	kvp_handle handle;

	check_not_imported(fd, 0, 5 * G, "has 262144 bytes, too few for 327680"
			   " bytes at offset 0x0");
	check_not_imported(fd, 4 * G, G, "too few for 65536 bytes at offset "
			   "0x40000");
	check_not_imported(fd, UINT64_MAX - G + 1, G, "too few for 65536");
	check_not_imported(fd, 0, UINT64_MAX - G + 1, "too few for");
	check_not_imported(fd, 4096, G, "65536 bytes at offset 0x1000 are no "
			   "whole granules of 65536 bytes");
	check_not_imported(fd, 0, G + 4096, "no whole granules");
	check_not_imported(fd, 0, 0, "no whole granules");
	check_refused(b->mapping.import_handle(b, 2,
			&(struct kvp_shared){ fd, 0, G }, &handle, &err),
		      "import_handle: no device 2: there are 2");
	(void)import(&(struct kvp_shared){ fd, 3 * G, G });
	close(fd);
}
END_TEST

START_TEST(an_imported_handle_is_mapped_whole_and_released_once)
{
	kvp_handle handle = pass(shareable(2 * G));
	uint64_t at = 0;

	b = importer;
	check_ok(b->mapping.reserve(b, 4 * G, 0, &at, &err));
	check_refused(b->mapping.map(b, at, G, handle, &err), "whole handle");
	check_refused(b->mapping.map(b, at, 4 * G, handle, &err),
		      "whole handle");
	check_ok(b->mapping.map(b, at, 2 * G, handle, &err));
	check_ok(b->mapping.map(b, at + 2 * G, 2 * G, handle, &err));
	check_ok(b->mapping.release(b, handle, &err));
	check_refused(b->mapping.release(b, handle, &err), "released already");
	check_ok(b->mapping.unmap(b, at, 2 * G, &err));
	ck_assert_uint_eq(handles(b), 1);
	check_ok(b->mapping.unmap(b, at + 2 * G, 2 * G, &err));
	ck_assert_uint_eq(handles(b), 0);
}
END_TEST

START_TEST(an_importer_that_lets_go_takes_nothing_from_the_owner)
{
	kvp_handle handle = shareable(2 * G), imported = pass(handle);
	uint64_t mine = map(owner, handle, 2 * G, KVP_READWRITE), theirs;

	fill(owner, mine, 2 * G, 7);
	theirs = map(importer, imported, 2 * G, KVP_READWRITE);
	check_ok(importer->mapping.unmap(importer, theirs, 2 * G, &err));
	check_ok(importer->mapping.release(importer, imported, &err));
	check_match(owner, mine, 2 * G, 7);
	ck_assert_uint_eq(resident(owner), 2 * G);
	ck_assert_uint_eq(resident(importer), 0);
}
END_TEST

START_TEST(an_owner_that_frees_leaves_zeroes_and_no_other_handle)
{
	kvp_handle handle = shareable(2 * G), next;
	uint64_t mine = map(owner, handle, 2 * G, KVP_READWRITE);
	uint64_t theirs = map(importer, pass(handle), 2 * G, KVP_READWRITE);

	fill(owner, mine, 2 * G, 7);
	check_ok(owner->mapping.unmap(owner, mine, 2 * G, &err));
	check_match(importer, theirs, 2 * G, 7);
	check_ok(owner->mapping.release(owner, handle, &err));
	ck_assert_uint_eq(resident(owner), 0);
	check_match(importer, theirs, 2 * G, 0);
	/* The owner's next handles lie elsewhere. */
	next = shareable(2 * G);
	mine = map(owner, next, 2 * G, KVP_READWRITE);
	fill(owner, mine, 2 * G, 8);
	check_match(importer, theirs, 2 * G, 0);
	check_match(importer, map(importer, pass(next), 2 * G, KVP_READ),
		    2 * G, 8);
}
END_TEST

START_TEST(an_importer_keeps_what_a_closed_owner_had)
{
	kvp_handle handle = shareable(2 * G), imported = pass(handle);
	uint64_t at = map(owner, handle, 2 * G, KVP_READWRITE);

	fill(owner, at, 2 * G, 0x0badcafe);
	kvp_backend_close(owner);
	owner = NULL;
	at = map(importer, imported, 2 * G, KVP_READWRITE);
	check_match(importer, at, 2 * G, 0x0badcafe);
}
END_TEST

START_TEST(a_file_takes_one_descriptor_until_its_last_handle)
{
	kvp_handle handle[64];
	int before, i;

	for (i = 0; i < 64; i++)
		handle[i] = create((uint32_t)i % 3, G, KVP_HANDLE_POSIX_FD);
	before = count_descriptors();
	for (i = 0; i < 64; i++)
		handle[i] = pass(handle[i]);
	ck_assert_int_eq(count_descriptors(), before + 3);
	/* One of each file, in another order than they came. */
	for (i = 63; i > 2; i--)
		check_ok(importer->mapping.release(importer, handle[i], &err));
	for (i = 0; i < 3; i++) {
		ck_assert_int_eq(count_descriptors(), before + 3 - i);
		check_ok(importer->mapping.release(importer, handle[i], &err));
	}
	ck_assert_int_eq(count_descriptors(), before);
	ck_assert_uint_eq(handles(importer), 0);
}
END_TEST

/* Every descriptor is taken: what fails has kept nothing. */
static int share_without_descriptors(void)
{
	struct kvp_shared shared = { .fd = -1 }, other = { .fd = -1 };
	kvp_handle handle = shareable(G), imported = 99;
	struct rlimit none;

	if (owner->mapping.export_handle(owner, handle, &shared, &err))
		return 1;
	getrlimit(RLIMIT_NOFILE, &none);
	none.rlim_cur = 0;
	if (setrlimit(RLIMIT_NOFILE, &none))
		return 2;
	if (owner->mapping.export_handle(owner, handle, &other, &err) !=
		    KVP_EDRIVER || other.fd != -1 ||
	    !strstr(err.text, "export_handle: fcntl"))
		return 3;
	if (importer->mapping.import_handle(importer, 0, &shared, &imported,
					    &err) != KVP_EDRIVER ||
	    imported != 99 || !strstr(err.text, "import_handle: fcntl") ||
	    handles(importer))
		return 4;
	return 0;
}

START_TEST(running_out_of_descriptors_is_named)
{
	host_in_child(share_without_descriptors);
}
END_TEST

/* `ulimit -f` bounds what can be created; no signal is sent. */
static int create_at_file_limit(void)
{
	const struct rlimit most = { 5 * G, 5 * G };
	struct kvp_create what = { .bytes = 4 * G,
				   .handle_type = KVP_HANDLE_POSIX_FD };
	kvp_handle handle, other = 99;

	if (setrlimit(RLIMIT_FSIZE, &most) ||
	    owner->mapping.create(owner, &what, &handle, &err))
		return 1;
	what.bytes = 2 * G;
	if (owner->mapping.create(owner, &what, &other, &err) != KVP_EDRIVER ||
	    other != 99 || !strstr(err.text, "File too large"))
		return 2;
	what.bytes = G;
	return owner->mapping.create(owner, &what, &other, &err) ? 3 : 0;
}

START_TEST(the_limit_on_files_bounds_what_can_be_shared)
{
	host_in_child(create_at_file_limit);
}
END_TEST

/* --- another process --- */

static void send_shared(int socket, const struct kvp_shared *shared)
{
	union {
		struct cmsghdr first;
		char room[CMSG_SPACE(sizeof(int))];
	} control = { .room = { 0 } };
	struct kvp_shared sent = *shared;
	struct iovec part = { &sent, sizeof(sent) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	control.first = (struct cmsghdr){
		.cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS,
		.cmsg_len = CMSG_LEN(sizeof(int)),
	};
	memcpy(CMSG_DATA(&control.first), &shared->fd, sizeof(int));
	ck_assert_int_eq(sendmsg(socket, &m, 0), sizeof(sent));
	close(shared->fd);
}

static bool receive_shared(int socket, struct kvp_shared *shared)
{
	union {
		struct cmsghdr first;
		char room[CMSG_SPACE(sizeof(int))];
	} control;
	struct iovec part = { shared, sizeof(*shared) };
	struct msghdr m = { .msg_iov = &part, .msg_iovlen = 1,
			    .msg_control = &control,
			    .msg_controllen = sizeof(control) };

	if (recvmsg(socket, &m, MSG_CMSG_CLOEXEC) != sizeof(*shared))
		return false;
	memcpy(&shared->fd, CMSG_DATA(&control.first), sizeof(int));
	return true;
}

static int sockets[2];

/* Import two handles of the parent, read one and write the other; wait until
   the parent has closed its backend, and read again.  A number on failure. */
static int import_in_child(void)
{
	struct kvp_shared shared;
	kvp_handle handle;
	uint64_t at[2], same = 0;
	uint32_t i;
	char go;

	for (i = 0; i < 2; i++) {
		const struct kvp_grant grant = { i, i ? KVP_READWRITE :
							KVP_READ };

		if (!receive_shared(sockets[1], &shared) ||
		    importer->mapping.import_handle(importer, i, &shared,
						    &handle, NULL) ||
		    close(shared.fd) ||
		    importer->mapping.reserve(importer, shared.bytes, 0,
					      &at[i], NULL) ||
		    importer->mapping.map(importer, at[i], shared.bytes,
					  handle, NULL) ||
		    importer->mapping.grant(importer, at[i], shared.bytes,
					    &grant, 1, NULL))
			return 1;
	}
	if (importer->mapping.fill(importer, 1, at[1], G, 22, NULL) ||
	    write(sockets[1], "w", 1) != 1 || read(sockets[1], &go, 1) != 1)
		return 2;
	if (importer->mapping.match(importer, 0, at[0], 2 * G, 11, &same,
				    NULL) || same != 2 * G)
		return 3;
	return importer->mapping.fill(importer, 0, at[0], 1, 1, NULL) ?
		       0 : 4;
}

START_TEST(another_process_reads_writes_and_outlives_the_owner)
{
	kvp_handle read_by = shareable(2 * G), written_by = shareable(G);
	struct kvp_shared shared;
	uint64_t at;
	int status;
	pid_t pid;
	char done;

	ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
	pid = fork();
	ck_assert_int_ge(pid, 0);
	if (!pid) {
		close(sockets[0]);
		kvp_backend_close(owner);
		_exit(import_in_child());
	}
	close(sockets[1]);
	shared = export(read_by);
	send_shared(sockets[0], &shared);
	shared = export(written_by);
	send_shared(sockets[0], &shared);
	fill(owner, map(owner, read_by, 2 * G, KVP_READWRITE), 2 * G, 11);
	at = map(owner, written_by, G, KVP_READ);
	ck_assert_int_eq(read(sockets[0], &done, 1), 1);
	check_match(owner, at, G, 22);
	kvp_backend_close(owner);
	owner = NULL;
	ck_assert_int_eq(write(sockets[0], "g", 1), 1);
	ck_assert_int_eq(waitpid(pid, &status, 0), pid);
	ck_assert_msg(WIFEXITED(status) && !WEXITSTATUS(status),
		      "the child ended with 0x%x", (unsigned)status);
	close(sockets[0]);
}
END_TEST

Suite *host_share_suite(void)
{
	Suite *suite = suite_create("host_share");
	TCase *tests = tcase_create("host_share");

	tcase_add_checked_fixture(tests, open_both, close_both);
	tcase_add_test(tests, both_see_what_either_writes);
	tcase_add_test(tests, a_descriptor_is_the_callers_and_closed_by_exec);
	tcase_add_test(tests, descriptors_stay_clear_of_the_standard_ones);
	tcase_add_test(tests, only_what_was_created_for_it_is_exported);
	tcase_add_test(tests, a_file_that_may_change_its_size_is_refused);
	tcase_add_test(tests, what_is_no_memory_is_refused);
	tcase_add_test(tests, a_range_outside_the_file_is_refused);
	tcase_add_test(tests,
		an_imported_handle_is_mapped_whole_and_released_once);
	tcase_add_test(tests,
		an_importer_that_lets_go_takes_nothing_from_the_owner);
	tcase_add_test(tests,
		an_owner_that_frees_leaves_zeroes_and_no_other_handle);
	tcase_add_test(tests, an_importer_keeps_what_a_closed_owner_had);
	tcase_add_test(tests, a_file_takes_one_descriptor_until_its_last_handle);
	tcase_add_test(tests, running_out_of_descriptors_is_named);
	tcase_add_test(tests, the_limit_on_files_bounds_what_can_be_shared);
	tcase_add_test(tests,
		another_process_reads_writes_and_outlives_the_owner);
	suite_add_tcase(suite, tests);
	return suite;
}
