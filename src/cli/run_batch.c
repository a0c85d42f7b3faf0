#include "cli/run_batch.h"

#include <string.h>

#include "cli/errors.h"

#define WAIT_MAX DW_SECONDS(10)

/* check_topics: a batch has one topic, so each is named. */
static int check_topics(const struct options *options)
{
	if (options->topic_count == 0)
		return complain(EXIT_USAGE, "run: --batch needs --topic: a batch has one topic");
	for (size_t i = 0; i < options->topic_count; i++)
		if (strcmp(options->topics[i], "*") == 0)
			return complain(EXIT_USAGE, "--topic \"*\": with --batch name each topic");
	return EXIT_DONE;
}

static int read_wait(const struct options *options, dw_usec *ret_wait)
{
	int code = options_duration(options, OPT_WAIT, ret_wait);

	if (code == EXIT_DONE && *ret_wait > WAIT_MAX)
		code =
		    complain(EXIT_USAGE, "--wait %s: write at most 10s", options->value[OPT_WAIT]);
	return code;
}

int run_batch_read(const struct options *options, dw_batch_options *ret_batch)
{
	dw_batch_options batch = {.size = sizeof batch};
	int code;

	if (!options->value[OPT_BATCH]) {
		*ret_batch = batch;
		return options->value[OPT_WAIT]
			   ? complain(EXIT_USAGE, "run: --wait is for --batch N")
			   : EXIT_DONE;
	}
	code = options_count(options, OPT_BATCH, &batch.max);
	if (code == EXIT_DONE && batch.max > DW_BATCH_MAX)
		code = complain(EXIT_USAGE, "--batch %s: write at most %d",
				options->value[OPT_BATCH], DW_BATCH_MAX);
	if (code == EXIT_DONE)
		code = check_topics(options);
	if (code == EXIT_DONE && options->value[OPT_WAIT])
		code = read_wait(options, &batch.wait_us);
	if (code == EXIT_DONE)
		*ret_batch = batch;
	return code;
}
