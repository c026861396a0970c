/*
 * Writing files: for every command that has an output file.
 */
#ifndef KVPLAN_CLI_FILES_H
#define KVPLAN_CLI_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/file.h"

/* A file that a command reads or writes. */
struct run_file {
	const char *path;	/* NULL: not given */
	const char *option;	/* as in "--trace=" or "-o " */
	const char *what;	/* "the plan", "the file of --trace" */
	bool output;
	/* The option whose output may replace this input, since all of it is
	   read first; NULL: none. */
	const char *replaced_by;
};

/*
 * Refuse an output that is an input or another output.  Two paths are the
 * same if they lead to the same file or, if there is none yet, to the same
 * name in the same directory; symbolic links are followed, dangling ones too.
 * Standard error and, if the command `prints`, standard output count as
 * outputs if they are files.  Pipes and devices are never the same.
 * KVP_EXIT_YES or, after a message, KVP_EXIT_INPUT.
 */
int files_check(const struct run_file *files, size_t count, bool prints);

/* As kvp_file_write() and kvp_file_begin(), and a signal that ends the
   process leaves no temporary file. */
int files_write(const char *path, const char *text, size_t len,
		struct kvp_error *err);
int files_begin(struct kvp_file_out *f, const char *path,
		struct kvp_error *err);

/*
 * If `path` is a pipe, wait until a process opens it for reading.  Call this
 * before signals are caught, since a caught signal does not end the wait.
 * The pipe stays open until the process ends.
 */
void files_await_reader(const char *path);

#endif
