/*
 * Errors as values: fills the caller's struct and never allocates.
 */
#include "base/error.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

int kvp_error_set(struct kvp_error *err, int code, const char *format, ...)
{
	va_list args;

	if (err) {
		err->code = code;
		va_start(args, format);
		vsnprintf(err->text, sizeof(err->text), format, args);
		va_end(args);
		utf8_clean(err->text);	/* one error is one line */
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
	err->code = code;
	memcpy(text, err->text, sizeof(text));
	va_start(args, format);
	vsnprintf(err->text, sizeof(err->text), format, args);
	va_end(args);
	used = strlen(err->text);
	snprintf(err->text + used, sizeof(err->text) - used, ": %s", text);
	utf8_clean(err->text);
	return code;
}

int kvp_error_nomem(struct kvp_error *err)
{
	return kvp_error_set(err, KVP_ENOMEM, "out of memory");
}

#define CODES(X) \
	X(KVP_OK) X(KVP_ESYNTAX) X(KVP_EINPUT) X(KVP_ELIMIT) \
	X(KVP_EINFEASIBLE) X(KVP_EREFUSED) X(KVP_EENTRIES) X(KVP_EFAILED) \
	X(KVP_EBUSY) X(KVP_ENOMEM) X(KVP_EIO) X(KVP_EUNAVAILABLE) \
	X(KVP_EDRIVER) X(KVP_EEXHAUSTED) X(KVP_ETABLE) X(KVP_EINTERRUPTED) \
	X(KVP_ESTUCK) X(KVP_EBUG)

const char *kvp_code_name(int code)
{
#define NAME(name) case name: return #name;
	switch (code) {
	CODES(NAME)
	default:
		return "KVP_?";
	}
#undef NAME
}

int kvp_exit_status(int code)
{
	switch (code) {
	case KVP_OK:
		return KVP_EXIT_YES;
	case KVP_EINFEASIBLE:
	case KVP_EREFUSED:
	case KVP_EENTRIES:
	case KVP_EFAILED:
	case KVP_EBUSY:
		return KVP_EXIT_NO;
	case KVP_ESYNTAX:
	case KVP_EINPUT:
	case KVP_ELIMIT:
		return KVP_EXIT_INPUT;
	case KVP_ESTUCK:
		return KVP_EXIT_STUCK;
	default:
		return KVP_EXIT_ENVIRONMENT;
	}
}
