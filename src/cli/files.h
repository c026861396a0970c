/*
 * The files of a run: what every command that writes one needs.
 */
#ifndef KVPLAN_CLI_FILES_H
#define KVPLAN_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/file.h"

/* A file that a run reads or writes. */
struct run_file {
	const char *path;	/* NULL: not given */
	const char *option;	/* as in "--trace=" or "-o " */
	const char *what;	/* "the plan", "the file of --trace" */
	bool output;
	/* The option whose output may replace this input, which is read
	   whole before; NULL: none. */
	const char *replaced_by;
};

/*
 * No output may be an input or another output.  Paths are compared by what
 * they lead to: the same file or, where it is not there yet, the same name
 * in the same directory, through symbolic links also where they lead
 * nowhere.  The standard error, and the standard output of a command that
 * answers there beside its files, are outputs as well where they are files.  Pipes and devices are never the same.  KVP_EXIT_YES or, after a
 * message, KVP_EXIT_INPUT.
 */
int files_check(const struct run_file *files, size_t count, bool answers);

/* kvp_file_write() and kvp_file_begin(); a signal that ends the process
   leaves no file beside the target. */
int files_write(const char *path, const char *text, size_t len,
		struct kvp_error *err);
int files_begin(struct kvp_file_out *f, const char *path,
		struct kvp_error *err);

/*
 * Where `path` is a pipe, wait for a reader: to be done before signals are
 * caught, since a caught one does not end the wait.  The pipe then stays
 * open until the process ends.
 */
void files_await_reader(const char *path);

#endif
