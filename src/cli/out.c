/*
 * Results go to standard output, messages to standard error.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/utf8.h"
#include "cli/cli.h"
#include "cli/interrupt.h"

const char *out_program = "kvplan";
bool out_silent;
struct kvp_error *out_kept;

int out_status(int code)
{
	return code == KVP_EINTERRUPTED ? 128 + (int)interrupt_signal :
					  kvp_exit_status(code);
}

int out_error(const struct kvp_error *err)
{
	if (out_kept)
		*out_kept = *err;
	else if (!out_silent)
		fprintf(stderr, "%s: error: %s\n", out_program, err->text);
	return out_status(err->code);
}

static void print_message(const char *kind, const char *format, va_list args)
{
	char text[KVP_ERROR_MAX];

	if (out_silent && !out_kept)
		return;
	kvp_error_format(text, sizeof(text), format, args);
	utf8_clean(text);
	if (out_kept && !strcmp(kind, "error"))
		kvp_error_set(out_kept, KVP_EINPUT, "%s", text);
	else if (!out_silent)
		fprintf(stderr, "%s: %s: %s\n", out_program, kind, text);
}

int out_usage_error(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message("error", format, args);
	va_end(args);
	return KVP_EXIT_INPUT;
}

void out_warning(const char *format, ...)
{
	va_list args;

	va_start(args, format);
	print_message("warning", format, args);
	va_end(args);
}

/* Print the error the first time only. */
static int report_stdout_error(void)
{
	static bool reported;

	if (!reported)
		fprintf(stderr, "%s: error: <stdout>: cannot write: %s\n",
			out_program, strerror(errno));
	reported = true;
	return KVP_EXIT_ENVIRONMENT;
}

int out_text(const char *text, size_t len)
{
	if (out_silent)
		return KVP_EXIT_YES;
	return fwrite(text, 1, len, stdout) == len && !fflush(stdout) ?
	       KVP_EXIT_YES : report_stdout_error();
}

int out_close(void)
{
	bool failed = ferror(stdout);

	failed |= fclose(stdout) != 0;
	return failed ? report_stdout_error() : KVP_EXIT_YES;
}

struct number out_number(uint64_t value)
{
	struct number n;
	char digits[24], *to = n.text;
	int len = snprintf(digits, sizeof(digits), "%llu",
			   (ull)value), i;

	for (i = 0; i < len; i++) {
		if (i && (len - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return n;
}

struct count out_count(uint64_t value, const char *noun)
{
	struct count c;

	snprintf(c.text, sizeof(c.text), "%s %s%s", out_number(value).text,
		 noun, value == 1 ? "" : "s");
	return c;
}
