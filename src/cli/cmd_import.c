#include "cli/cli.h"

static const struct opt opts[] = { OPT_HELP };

static int run(const struct command *self, int argc, char **argv)
{
	(void)argc;
	(void)argv;
	opt_help(self);
	return KVP_EXIT_INPUT;
}

const struct command cmd_import = {
	.name = "import",
	.usage = "",
	.summary = "to come",
	.text = "",
	.opts = opts,
	.nopts = 1,
	.run = run,
};
