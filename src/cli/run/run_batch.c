#include "cli/run/run_batch.h"

#include "cli/out/errors.h"

#define WAIT_MAX DW_SECONDS(10)

static int read_size(const struct options *options, dw_batch_options *batch)
{
	size_t max;
	int code;

	if (!options->value[OPT_BATCH])
		return EXIT_DONE;
	code = options_count(options, OPT_BATCH, &max);
	if (code == EXIT_DONE && max > DW_BATCH_MAX)
		code = complain(EXIT_USAGE, "--batch %s: write at most %d",
				options->value[OPT_BATCH], DW_BATCH_MAX);
	if (code == EXIT_DONE)
		batch->max = max;
	return code;
}

static int read_wait(const struct options *options, dw_batch_options *batch)
{
	int code;

	if (!options->value[OPT_WAIT])
		return EXIT_DONE;
	code = options_duration(options, OPT_WAIT, &batch->wait_us);
	if (code == EXIT_DONE && batch->wait_us > WAIT_MAX)
		code =
		    complain(EXIT_USAGE, "--wait %s: write at most 10s", options->value[OPT_WAIT]);
	return code;
}

int run_batch_read_how(const struct options *options, dw_batch_options *batch)
{
	int code = read_size(options, batch);

	return code == EXIT_DONE ? read_wait(options, batch) : code;
}

int run_batch_read(const struct options *options, dw_batch_options *ret_batch)
{
	int code = EXIT_DONE;

	*ret_batch = (dw_batch_options){.size = sizeof *ret_batch};
	if (options->value[OPT_WAIT] && !options->value[OPT_BATCH])
		code = complain(EXIT_USAGE, "run: --wait is for --batch N");
	return code == EXIT_DONE ? run_batch_read_how(options, ret_batch) : code;
}
