/*
 * Errors as values: fills the caller's struct and never allocates.
 */
#include "base/error.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"

#define CUT "..."

void kvp_error_format(char *text, size_t size, const char *format,
		      va_list args)
{
	int len = vsnprintf(text, size, format, args);

	assert(size >= sizeof(CUT));
	if (len >= 0 && (size_t)len >= size)
		strcpy(text + size - sizeof(CUT), CUT);
}

int kvp_error_set(struct kvp_error *err, int code, const char *format, ...)
{
	va_list args;

	assert(code && format);
	if (err) {
		err->code = code;
		va_start(args, format);
		kvp_error_format(err->text, sizeof(err->text), format, args);
		va_end(args);
		utf8_clean(err->text);	/* one error is one line */
	}
	return code;
}

int kvp_error_wrap(struct kvp_error *err, int code, const char *format, ...)
{
	char front[KVP_ERROR_MAX], text[KVP_ERROR_MAX];
	va_list args;

	if (!err)
		return code;
	assert(code && memchr(err->text, 0, sizeof(err->text)));
	memcpy(text, err->text, sizeof(text));
	va_start(args, format);
	kvp_error_format(front, sizeof(front), format, args);
	va_end(args);
	return kvp_error_set(err, code, "%s: %s", front, text);
}

int kvp_error_recode(struct kvp_error *err, int code)
{
	assert(code && (!err || err->code));
	if (err)
		err->code = code;
	return code;
}

int kvp_error_nomem(struct kvp_error *err)
{
	return kvp_error_set(err, KVP_ENOMEM, "out of memory");
}

struct system_text system_text(int number)
{
	struct system_text t;

	if (strerror_r(number, t.text, sizeof(t.text)))
		snprintf(t.text, sizeof(t.text), "error %d", number);
	return t;
}

#define CODES(X) \
	X(KVP_OK) X(KVP_ESYNTAX) X(KVP_EINPUT) X(KVP_ELIMIT) \
	X(KVP_EINFEASIBLE) X(KVP_EREFUSED) X(KVP_EENTRIES) X(KVP_EFAILED) \
	X(KVP_EBUSY) X(KVP_EPEER) X(KVP_ENOMEM) X(KVP_EIO) X(KVP_EUNAVAILABLE) \
	X(KVP_EDRIVER) X(KVP_EEXHAUSTED) X(KVP_ETABLE) X(KVP_EINTERRUPTED) \
	X(KVP_ESTUCK) X(KVP_EDOUBT) X(KVP_EBUG)

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
	case KVP_EPEER:
		return KVP_EXIT_NO;
	case KVP_ESYNTAX:
	case KVP_EINPUT:
	case KVP_ELIMIT:
		return KVP_EXIT_INPUT;
	case KVP_ESTUCK:
	case KVP_EDOUBT:
		return KVP_EXIT_STUCK;
	default:
		return KVP_EXIT_ENVIRONMENT;
	}
}
