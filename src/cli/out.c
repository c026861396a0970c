/*
 * Answers to standard output, talk to standard error.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/cli.h"

static int exit_code(int code)
{
	switch (code) {
	case KVP_OK:
		return EXIT_YES;
	case KVP_EINFEASIBLE:
		return EXIT_NO;
	case KVP_ESYNTAX:
	case KVP_EINPUT:
	case KVP_ELIMIT:
		return EXIT_INPUT;
	default:
		return EXIT_ENVIRONMENT;
	}
}

int out_error(const struct kvp_error *err)
{
	fprintf(stderr, "kvplan: error: %s\n", err->text);
	return exit_code(err->code);
}

static void talk(const char *kind, const char *format, va_list args)
{
	fprintf(stderr, "kvplan: %s: ", kind);
	vfprintf(stderr, format, args);
	fputc('\n', stderr);
}

int out_usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	talk("error", format, args);
	va_end(args);
	return EXIT_INPUT;
}

void out_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	talk("warning", format, args);
	va_end(args);
}

int out_text(const char *text, size_t len)
{
	if (fwrite(text, 1, len, stdout) == len && !fflush(stdout))
		return EXIT_YES;
	fprintf(stderr, "kvplan: error: <stdout>: cannot write: %s\n",
		strerror(errno));
	return EXIT_ENVIRONMENT;
}

struct number out_number(uint64_t value)
{
	struct number n;
	char digits[24], *to = n.text;
	int len = snprintf(digits, sizeof(digits), "%llu",
			   (unsigned long long)value), i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return n;
}
