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

/* Every 64-bit number in a text is printed by %llu or %llx of (ull). */
typedef unsigned long long ull;

/* vsnprintf(), but a text that does not fit ends in "...". */
void kvp_error_format(char *text, size_t size, const char *format,
		      va_list args);

/* Set code and text.  err may be NULL. */
int kvp_error_set(struct kvp_error *err, int code, const char *format, ...)
	KVP_PRINTF(3, 4);

/* Put "context: " before the text, set the code and return it. */
int kvp_error_wrap(struct kvp_error *err, int code, const char *format, ...)
	KVP_PRINTF(3, 4);

/* Give the error another code, keep its text and return the code. */
int kvp_error_recode(struct kvp_error *err, int code);

/* Set KVP_ENOMEM, always with the text "out of memory". */
int kvp_error_nomem(struct kvp_error *err);

/* The system's text for an errno: strerror() without a shared buffer. */
struct system_text {
	char text[128];
};
struct system_text system_text(int number);

/*
 * The exit status of a program for a code: success; the answer is no; bad
 * usage or input; the environment failed; something could not be undone.
 */
enum kvp_exit {
	KVP_EXIT_YES, KVP_EXIT_NO, KVP_EXIT_INPUT, KVP_EXIT_ENVIRONMENT,
	KVP_EXIT_STUCK
};
int kvp_exit_status(int code);

#endif
