/*
 * Errors as values: fills the caller's struct and never allocates.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int kvp_error_set(struct kvp_error *err, int code, const char *format, ...)
{
	va_list args;

	if (err) {
		err->code = code;
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
	}
	return code;
}

int kvp_error_wrap(struct kvp_error *err, int code, const char *format, ...)
{
	char text[KVP_ERROR_MAX];
	va_list args;
	size_t used;

	if (!err)
		return code;
	memcpy(text, err->text, sizeof(text));
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", text);
	return code;
}

int kvp_error_nomem(struct kvp_error *err)
{
	return kvp_error_set(err, KVP_ENOMEM, "out of memory");
}

const char *kvp_code_name(int code)
{
	switch (code) {
	case KVP_OK:
		return "KVP_OK";
	case KVP_ESYNTAX:
		return "KVP_ESYNTAX";
	case KVP_EINPUT:
		return "KVP_EINPUT";
	case KVP_ELIMIT:
		return "KVP_ELIMIT";
	case KVP_EINFEASIBLE:
		return "KVP_EINFEASIBLE";
	case KVP_ENOMEM:
		return "KVP_ENOMEM";
	case KVP_EIO:
		return "KVP_EIO";
	case KVP_EBUG:
		return "KVP_EBUG";
	default:
		return "KVP_?";
	}
}

int kvp_exit_status(int code)
{
	switch (code) {
	case KVP_OK:
		return KVP_EXIT_YES;
	case KVP_EINFEASIBLE:
		return KVP_EXIT_NO;
	case KVP_ESYNTAX:
	case KVP_EINPUT:
	case KVP_ELIMIT:
		return KVP_EXIT_INPUT;
	default:
		return KVP_EXIT_ENVIRONMENT;
	}
}
