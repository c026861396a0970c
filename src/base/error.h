/*
 * Filling a struct kvp_error.  These functions return the error's code, so
 * that callers can write  return kvp_error_set(err, KVP_EINPUT, ...).
 */
#ifndef KVPLAN_BASE_ERROR_H
#define KVPLAN_BASE_ERROR_H

#include <stdarg.h>
#include <stddef.h>

#include <kvplan/error.h>

#ifdef __GNUC__
#define KVP_PRINTF(fmt, args) __attribute__((format(printf, fmt, args)))
#else
#define KVP_PRINTF(fmt, args)
#endif

/* vsnprintf() that never cuts unseen: a text that is cut ends in "...". */
void kvp_error_format(char *text, size_t size, const char *format,
		      va_list args);

/* Set code and text.  err may be NULL. */
int kvp_error_set(struct kvp_error *err, int code, const char *format, ...)
	KVP_PRINTF(3, 4);

/* Put "context: " in front of the text, keep the code and return it. */
int kvp_error_wrap(struct kvp_error *err, int code, const char *format, ...)
	KVP_PRINTF(3, 4);

/* Give the error another code, keep its text and return the code. */
int kvp_error_recode(struct kvp_error *err, int code);

/* KVP_ENOMEM with the one text it always has. */
int kvp_error_nomem(struct kvp_error *err);

/*
 * What the system calls an errno, as strerror() does, whose text another
 * thread may overwrite.
 */
struct system_text {
	char text[128];
};
struct system_text system_text(int number);

/*
 * The exit status that goes with a code, the same for every program: yes,
 * the answer is no, bad usage or input, the environment's fault.
 */
enum kvp_exit {
	KVP_EXIT_YES, KVP_EXIT_NO, KVP_EXIT_INPUT, KVP_EXIT_ENVIRONMENT,
	KVP_EXIT_STUCK
};
int kvp_exit_status(int code);

#endif
