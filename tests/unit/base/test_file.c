/*
 * Files: read whole, written whole or not at all, nothing left beside; each
 * test with the three ways there are to put a file in place.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* O_TMPFILE */
#endif

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/file.h"
#include "unit/unit.h"

#define NOBODY 65534

static char dir[] = "/tmp/kvplan-unit-XXXXXX";
static char path[128];		/* dir + "/target" */

/* --- calls of the library that are the test's own --- */

static enum way {
	UNNAMED,		/* without a name, until it is linked */
	NAMED,			/* the file system has no such files */
	UNLINKABLE		/* or they cannot be linked: no /proc */
} way;

static mode_t made_mode;	/* of what was created last */

int openat(int at, const char *name, int flags, ...)
{
	struct stat st;
	va_list args;
	mode_t mode;
	int fd;

	va_start(args, flags);
	mode = va_arg(args, mode_t);
	va_end(args);
	if (way == NAMED && (flags & O_TMPFILE) == O_TMPFILE) {
		errno = EOPNOTSUPP;
		return -1;
	}
	fd = (int)syscall(SYS_openat, at, name, flags, mode);
	if (fd >= 0 && flags & (O_CREAT | (O_TMPFILE & ~O_DIRECTORY)) &&
	    !fstat(fd, &st))
		made_mode = st.st_mode & 07777;
	return fd;
}

int linkat(int at, const char *from, int to_at, const char *to, int flags)
{
	if (way == UNLINKABLE) {
		errno = ENOENT;
		return -1;
	}
	return (int)syscall(SYS_linkat, at, from, to_at, to, flags);
}

static void set_unnamed(void)
{
	way = UNNAMED;
}

static void set_named(void)
{
	way = NAMED;
}

static void set_unlinkable(void)
{
	way = UNLINKABLE;
}

static void make_dir(void)
{
	memcpy(strrchr(dir, '-'), "-XXXXXX", 8);
	ck_assert_ptr_nonnull(mkdtemp(dir));
	snprintf(path, sizeof(path), "%s/target", dir);
}

static void remove_dir(void)
{
	char name[512];
	struct dirent *entry;
	DIR *list = opendir(dir);

	while (list && (entry = readdir(list))) {
		snprintf(name, sizeof(name), "%s/%s", dir, entry->d_name);
		unlink(name);
	}
	if (list)
		closedir(list);
	ck_assert_int_eq(rmdir(dir), 0);
}

/* Entries of the directory, without "." and "..". */
static int entries(void)
{
	DIR *list = opendir(dir);
	int count = -2;

	ck_assert_ptr_nonnull(list);
	while (readdir(list))
		count++;
	closedir(list);
	return count;
}

/* Files the test makes by itself, without kvplan. */
static void put(const char *at, const char *text, mode_t mode)
{
	FILE *f = fopen(at, "w");

	ck_assert_ptr_nonnull(f);
	fputs(text, f);
	ck_assert_int_eq(fclose(f), 0);
	ck_assert_int_eq(chmod(at, mode), 0);
}

static void check_holds(const char *at, const char *text)
{
	char *got;
	size_t len;

	ck_assert_int_eq(kvp_file_read(at, &got, &len, NULL), KVP_OK);
	ck_assert_str_eq(got, text);
	ck_assert_uint_eq(len, strlen(text));
	free(got);
}

static void check_mode(const char *at, mode_t mode)
{
	struct stat st;

	ck_assert_int_eq(stat(at, &st), 0);
	ck_assert_uint_eq(st.st_mode & 07777, mode);
}

static void check_writes(const char *at, const char *text)
{
	struct kvp_error err = { 0 };
	int code = kvp_file_write(at, text, strlen(text), &err);

	ck_assert_msg(!code, "%s", err.text);
}

static void check_write_fails(const char *at, const char *verb, int reason)
{
	struct kvp_error err = { 0 };
	char text[512];

	snprintf(text, sizeof(text), "%s: cannot %s: %s", at, verb,
		 strerror(reason));
	ck_assert_int_eq(kvp_file_write(at, "new", 3, &err), KVP_EIO);
	ck_assert_int_eq(err.code, KVP_EIO);
	ck_assert_str_eq(err.text, text);
}

static void check_read_fails(const char *at, const char *verb, int reason)
{
	struct kvp_error err = { 0 };
	char *got = path;
	size_t len = 7;
	char text[512];

	snprintf(text, sizeof(text), "%s: cannot %s: %s", at, verb,
		 strerror(reason));
	ck_assert_int_eq(kvp_file_read(at, &got, &len, &err), KVP_EIO);
	ck_assert_str_eq(err.text, text);
	ck_assert_ptr_null(got);
	ck_assert_uint_eq(len, 0);
}

START_TEST(a_missing_file_is_named_with_the_reason)
{
	check_read_fails(path, "open", ENOENT);
}
END_TEST

START_TEST(a_directory_cannot_be_read)
{
	check_read_fails(dir, "read", EISDIR);
}
END_TEST

START_TEST(an_empty_file_is_an_empty_text)
{
	put(path, "", 0644);
	check_holds(path, "");
}
END_TEST

START_TEST(a_file_with_zeros_is_read_whole)
{
	char *got;
	size_t len;

	ck_assert_int_eq(kvp_file_write(path, "a\0b", 3, NULL), KVP_OK);
	ck_assert_int_eq(kvp_file_read(path, &got, &len, NULL), KVP_OK);
	ck_assert_uint_eq(len, 3);
	ck_assert_mem_eq(got, "a\0b", 4);
	free(got);
}
END_TEST

/* Sizes around the first buffer and its growth. */
START_TEST(files_of_any_size_come_back_as_they_were)
{
	static const size_t sizes[] = {
		1, 61438, 61439, 61440, 61441, 65534, 65535, 65536, 65537,
		131072, 1000000,
	};
	char *text = malloc(1000001), *got;
	size_t i, j, len;

	ck_assert_ptr_nonnull(text);
	for (j = 0; j < 1000000; j++)
		text[j] = (char)('a' + j % 23);
	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		ck_assert_int_eq(kvp_file_write(path, text, sizes[i], NULL),
				 KVP_OK);
		ck_assert_int_eq(kvp_file_read(path, &got, &len, NULL),
				 KVP_OK);
		ck_assert_uint_eq(len, sizes[i]);
		ck_assert_mem_eq(got, text, len);
		ck_assert_int_eq(got[len], '\0');
		free(got);
	}
	free(text);
}
END_TEST

START_TEST(a_new_file_gets_the_mode_of_the_umask)
{
	mode_t mask = umask(027);

	check_writes(path, "new");
	umask(mask);
	check_holds(path, "new");
	check_mode(path, 0640);
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(writing_replaces_the_target_and_keeps_its_mode)
{
	put(path, "the old and longer text", 0604);
	check_writes(path, "new");
	check_holds(path, "new");
	check_mode(path, 0604);
	ck_assert_int_eq(entries(), 1);
}
END_TEST

/* Nor is it while it is made, whatever the umask. */
START_TEST(what_others_may_not_read_is_never_open_to_them)
{
	mode_t mask = umask(0);

	put(path, "old", 0600);
	check_writes(path, "new");
	umask(mask);
	ck_assert_uint_eq(made_mode, 0600);
	check_mode(path, 0600);
}
END_TEST

START_TEST(writing_nothing_leaves_an_empty_file)
{
	put(path, "old", 0644);
	check_writes(path, "");
	check_holds(path, "");
}
END_TEST

START_TEST(a_reader_keeps_the_old_file)
{
	char got[8] = "";
	int fd;

	put(path, "old", 0644);
	fd = open(path, O_RDONLY);
	check_writes(path, "new");
	ck_assert_int_eq(read(fd, got, sizeof(got)), 3);
	ck_assert_str_eq(got, "old");
	close(fd);
}
END_TEST

START_TEST(a_symbolic_link_is_written_through)
{
	char link[160];
	struct stat st;

	put(path, "old", 0600);
	snprintf(link, sizeof(link), "%s/link", dir);
	ck_assert_int_eq(symlink("target", link), 0);
	check_writes(link, "new");
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	check_holds(path, "new");
	check_mode(path, 0600);
	ck_assert_int_eq(entries(), 2);
}
END_TEST

START_TEST(a_relative_name_is_written_where_we_are)
{
	int here = open(".", O_RDONLY | O_DIRECTORY);

	ck_assert_int_eq(chdir(dir), 0);
	check_writes("target", "new");
	ck_assert_int_eq(fchdir(here), 0);
	close(here);
	check_holds(path, "new");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_missing_directory_is_an_error)
{
	char missing[160];

	snprintf(missing, sizeof(missing), "%s/no/target", dir);
	check_write_fails(missing, "create a file beside it", ENOENT);
	ck_assert_int_eq(entries(), 0);
}
END_TEST

START_TEST(a_directory_is_never_replaced)
{
	check_write_fails(dir, "open", EISDIR);
	ck_assert_int_eq(entries(), 0);
}
END_TEST

/* In a child, since root may write everywhere. */
static int write_as_nobody(void)
{
	struct kvp_error err = { 0 };
	int status = 0;
	pid_t child = fork();

	ck_assert_int_ge(child, 0);
	if (!child) {
		if (!geteuid() && (setgid(NOBODY) || setuid(NOBODY)))
			_exit(2);
		_exit(kvp_file_write(path, "new", 3, &err) != KVP_EIO ||
		      err.code != KVP_EIO ||
		      !strstr(err.text, strerror(EACCES)));
	}
	ck_assert_int_eq(waitpid(child, &status, 0), child);
	return status;
}

START_TEST(an_unwritable_directory_leaves_the_old_file)
{
	put(path, "old", 0666);
	ck_assert_int_eq(chmod(dir, 0555), 0);
	ck_assert_int_eq(write_as_nobody(), 0);
	ck_assert_int_eq(chmod(dir, 0755), 0);
	check_holds(path, "old");
	check_mode(path, 0666);
	ck_assert_int_eq(entries(), 1);
}
END_TEST

START_TEST(a_full_device_is_an_error)
{
	struct stat st;

	check_write_fails("/dev/full", "write", ENOSPC);
	ck_assert_int_eq(stat("/dev/full", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

START_TEST(a_device_is_written_and_stays_a_device)
{
	struct stat st;

	check_writes("/dev/null", "new");
	ck_assert_int_eq(stat("/dev/null", &st), 0);
	ck_assert(S_ISCHR(st.st_mode));
}
END_TEST

/* The room for the open end lets the write go through in one piece. */
START_TEST(a_pipe_is_written_directly)
{
	char got[8] = "";
	int fd;

	ck_assert_int_eq(mkfifo(path, 0600), 0);
	fd = open(path, O_RDWR | O_NONBLOCK);
	ck_assert_int_ge(fd, 0);
	check_writes(path, "new");
	ck_assert_int_eq(read(fd, got, sizeof(got)), 3);
	ck_assert_str_eq(got, "new");
	close(fd);
	ck_assert_int_eq(entries(), 1);
}
END_TEST

/* As /dev/stdout leads to one: the link stays what it is. */
START_TEST(a_removed_file_is_written_through_its_link)
{
	char link[160], descriptor[64], got[64] = "";
	struct stat st;
	int fd;

	put(path, "the old and longer text", 0644);
	fd = open(path, O_RDWR);
	ck_assert_int_ge(fd, 0);
	unlink(path);
	snprintf(link, sizeof(link), "%s/link", dir);
	snprintf(descriptor, sizeof(descriptor), "/proc/self/fd/%d", fd);
	ck_assert_int_eq(symlink(descriptor, link), 0);
	check_writes(link, "new");
	ck_assert_int_eq(lstat(link, &st), 0);
	ck_assert(S_ISLNK(st.st_mode));
	ck_assert_int_eq(pread(fd, got, sizeof(got), 0), 3);
	ck_assert_str_eq(got, "new");
	ck_assert_int_eq(entries(), 1);
	close(fd);
}
END_TEST

START_TEST(until_the_commit_the_old_file_stands)
{
	struct kvp_file_out f;

	put(path, "old", 0640);
	ck_assert_int_eq(kvp_file_begin(&f, path, NULL), KVP_OK);
	ck_assert_int_eq(entries(), 1);
	check_holds(path, "old");
	ck_assert_int_eq(kvp_file_commit(&f, "new", 3, NULL), KVP_OK);
	check_holds(path, "new");
	check_mode(path, 0640);
	ck_assert_int_eq(entries(), 1);
	kvp_file_abandon(&f);
	check_holds(path, "new");
}
END_TEST

START_TEST(an_abandoned_file_leaves_the_old_one)
{
	struct kvp_file_out f, zeroed = { 0 };

	put(path, "old", 0644);
	ck_assert_int_eq(kvp_file_begin(&f, path, NULL), KVP_OK);
	kvp_file_abandon(&f);
	kvp_file_abandon(&f);
	kvp_file_abandon(&zeroed);
	check_holds(path, "old");
	ck_assert_int_eq(entries(), 1);
	ck_assert_int_ne(fcntl(STDIN_FILENO, F_GETFD), -1);
}
END_TEST

START_TEST(an_interrupted_commit_leaves_the_old_file)
{
	const volatile sig_atomic_t number = SIGTERM;
	struct kvp_file_out f;
	struct kvp_error err = { 0 };

	put(path, "old", 0644);
	ck_assert_int_eq(kvp_file_begin(&f, path, NULL), KVP_OK);
	f.interrupt = &number;
	ck_assert_int_eq(kvp_file_commit(&f, "new", 3, &err),
			 KVP_EINTERRUPTED);
	ck_assert_str_eq(err.text, "interrupted by signal 15");
	check_holds(path, "old");
	ck_assert_int_eq(entries(), 1);
}
END_TEST

/* A directory takes the target's place between begin and commit. */
START_TEST(a_commit_that_fails_leaves_nothing_beside)
{
	char sub[160], inner[192];
	struct kvp_file_out f;
	struct kvp_error err = { 0 };

	snprintf(sub, sizeof(sub), "%s/sub", dir);
	snprintf(inner, sizeof(inner), "%s/target", sub);
	ck_assert_int_eq(mkdir(sub, 0755), 0);
	ck_assert_int_eq(kvp_file_begin(&f, inner, NULL), KVP_OK);
	ck_assert_int_eq(mkdir(inner, 0755), 0);
	ck_assert_int_eq(kvp_file_commit(&f, "new", 3, &err), KVP_EIO);
	ck_assert_ptr_nonnull(strstr(err.text, "cannot replace"));
	ck_assert_int_eq(rmdir(inner), 0);
	ck_assert_int_eq(rmdir(sub), 0);	/* nothing is left in it */
}
END_TEST

START_TEST(standard_input_has_a_name_to_show)
{
	ck_assert_str_eq(kvp_file_label("-"), "<stdin>");
	ck_assert_str_eq(kvp_file_label("--"), "--");
	ck_assert_str_eq(kvp_file_label("a/b"), "a/b");
	ck_assert_str_eq(kvp_file_label(""), "");
}
END_TEST

static void add_failures(TCase *tests)
{
	tcase_add_test(tests, a_missing_directory_is_an_error);
	tcase_add_test(tests, a_directory_is_never_replaced);
	tcase_add_test(tests, an_unwritable_directory_leaves_the_old_file);
	tcase_add_test(tests, a_full_device_is_an_error);
	tcase_add_test(tests, a_device_is_written_and_stays_a_device);
	tcase_add_test(tests, a_pipe_is_written_directly);
	tcase_add_test(tests, a_removed_file_is_written_through_its_link);
	tcase_add_test(tests, until_the_commit_the_old_file_stands);
	tcase_add_test(tests, an_abandoned_file_leaves_the_old_one);
	tcase_add_test(tests, an_interrupted_commit_leaves_the_old_file);
	tcase_add_test(tests, a_commit_that_fails_leaves_nothing_beside);
	tcase_add_test(tests, standard_input_has_a_name_to_show);
}

static TCase *all_tests(const char *name, void (*set_way)(void))
{
	TCase *tests = tcase_create(name);

	tcase_add_checked_fixture(tests, set_way, NULL);
	tcase_add_checked_fixture(tests, make_dir, remove_dir);
	tcase_add_test(tests, a_missing_file_is_named_with_the_reason);
	tcase_add_test(tests, a_directory_cannot_be_read);
	tcase_add_test(tests, an_empty_file_is_an_empty_text);
	tcase_add_test(tests, a_file_with_zeros_is_read_whole);
	tcase_add_test(tests, files_of_any_size_come_back_as_they_were);
	tcase_add_test(tests, a_new_file_gets_the_mode_of_the_umask);
	tcase_add_test(tests, writing_replaces_the_target_and_keeps_its_mode);
	tcase_add_test(tests, what_others_may_not_read_is_never_open_to_them);
	tcase_add_test(tests, writing_nothing_leaves_an_empty_file);
	tcase_add_test(tests, a_reader_keeps_the_old_file);
	tcase_add_test(tests, a_symbolic_link_is_written_through);
	tcase_add_test(tests, a_relative_name_is_written_where_we_are);
	add_failures(tests);
	return tests;
}

Suite *file_suite(void)
{
	Suite *suite = suite_create("file");

	suite_add_tcase(suite, all_tests("unnamed", set_unnamed));
	suite_add_tcase(suite, all_tests("named", set_named));
	suite_add_tcase(suite, all_tests("unlinkable", set_unlinkable));
	return suite;
}
