#include "cli/run/run_exec.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "cli/out/words.h"

enum { JOBS_DEFAULT = 4, SIGNAL_LAST = 64 };

/* read_output reads --exec-output. By default the commands write to stderr, so that stdout has only
 * our own lines. Returns EXIT_DONE, or complains. */
static int read_output(const struct options *options, struct job_way *way)
{
	unsigned number = (unsigned)(way->output - STDOUT_FILENO);
	int code = options_word(options, OPT_EXEC_OUTPUT, &number);

	way->output = STDOUT_FILENO + (int)number;
	return code;
}

static int read_jobs(const struct options *options, struct job_way *way)
{
	int code;

	if (!options->value[OPT_JOBS])
		return EXIT_DONE;
	code = options_count(options, OPT_JOBS, &way->max);
	if (code == EXIT_DONE && way->max > DW_HOLDS_MAX)
		code = complain(EXIT_USAGE, "--jobs %s: write at most %d", options->value[OPT_JOBS],
				DW_HOLDS_MAX);
	return code;
}

static int read_timeout(const struct options *options, struct job_way *way)
{
	int code;

	if (!options->value[OPT_TIMEOUT])
		return EXIT_DONE;
	code = options_duration(options, OPT_TIMEOUT, &way->timeout);
	if (code == EXIT_DONE && way->timeout == 0)
		code = complain(EXIT_USAGE,
				"--timeout %s would end every command at once: write "
				"as much as it may take, or leave it out",
				options->value[OPT_TIMEOUT]);
	return code;
}

/* check_exec refuses options about commands if --exec is missing. Returns EXIT_DONE, or
 * complains. */
static int check_exec(const struct options *options)
{
	static const enum option_id own[] = {OPT_EXEC_OUTPUT, OPT_JOBS, OPT_TIMEOUT};

	for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
		if (!options->value[OPT_EXEC] && options->value[own[i]])
			return complain(EXIT_USAGE, "run: --%s is for --exec CMD",
					options_name(own[i]));
	if (options->value[OPT_EXEC] && !*options->value[OPT_EXEC])
		return complain(EXIT_USAGE, "--exec \"\": write the command to run");
	return EXIT_DONE;
}

struct job_way run_exec_default(void)
{
	return (struct job_way){.output = STDERR_FILENO, .max = JOBS_DEFAULT, .timeout = DW_NEVER};
}

int run_exec_read_how(const struct options *options, struct job_way *way)
{
	int code = read_output(options, way);

	if (code == EXIT_DONE)
		code = read_jobs(options, way);
	return code == EXIT_DONE ? read_timeout(options, way) : code;
}

int run_exec_read(const struct options *options, struct job_way *ret_way)
{
	int code = check_exec(options);

	*ret_way = run_exec_default();
	if (code == EXIT_DONE)
		code = run_exec_read_how(options, ret_way);
	if (code != EXIT_DONE || !options->value[OPT_EXEC])
		return code;
	ret_way->words = words_of_shell(options->value[OPT_EXEC]);
	return ret_way->words ? EXIT_DONE : complain(EXIT_FAILED, "out of memory");
}

/* ---- Starting ---------------------------------------------------------------------------- */

static bool fill(struct job_item *items, const dw_firing *firings, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		items[i].token = *firings[i].token;
		if (!line_of_firing(&items[i].line, &firings[i]))
			return false;
	}
	return true;
}

/* join returns the lines of all items as one text, which the caller frees. Returns NULL if out of
 * memory. */
static char *join(const struct job_item *items, size_t count, size_t *ret_size)
{
	size_t size = 0;
	char *bytes;

	for (size_t i = 0; i < count; i++)
		size += items[i].line.size;
	bytes = malloc(size);
	*ret_size = size;
	for (size_t i = 0, used = 0; bytes && i < count; used += items[i++].line.size)
		memcpy(bytes + used, items[i].line.bytes, items[i].line.size);
	return bytes;
}

int run_exec_start_lines(struct jobs *jobs, struct job_way *way, const struct shell_input *input,
			 struct job_item *items)
{
	struct shell_input whole = *input;
	char *bytes = join(items, input->count, &whole.size);
	int error = ENOMEM;

	whole.bytes = bytes;
	if (bytes)
		error = jobs_start(jobs, way, &whole, items, input->count);
	free(bytes);
	return error;
}

static int start_one(struct jobs *jobs, struct job_way *way, const dw_firing *firing,
		     struct job_item *item)
{
	struct shell_input input = {.topic = firing->topic,
				    .firing = firing,
				    .count = 1,
				    .bytes = firing->data,
				    .size = firing->data_size};

	return jobs_start(jobs, way, &input, item, 1);
}

static int start_batch(struct jobs *jobs, struct job_way *way, const dw_firing *firings,
		       size_t count, struct job_item *items)
{
	struct shell_input input = {.topic = firings->topic, .count = count};

	return run_exec_start_lines(jobs, way, &input, items);
}

int run_exec_start(struct jobs *jobs, struct job_way *way, const dw_firing *firings, size_t count,
		   bool is_batch)
{
	struct job_item *items = jobs_items(count);
	int error = ENOMEM;

	if (items && fill(items, firings, count))
		error = is_batch ? start_batch(jobs, way, firings, count, items)
				 : start_one(jobs, way, firings, items);
	if (error != 0)
		jobs_items_free(items, count);
	return error;
}

/* ---- The end ------------------------------------------------------------------------------- */

dw_verdict run_exec_verdict(const struct exec_job *job)
{
	if (job->end != JOB_EXITED)
		return DW_RETRY;
	if (job->status == JOB_DEAD_EXIT)
		return DW_DEAD;
	return job->status == 0 ? DW_DONE : DW_RETRY;
}

/* signal_of returns the signal that ended the command, or 0. A shell exits with 128 and the signal
 * of its command; ssh and others exit with 255. */
static int signal_of(const struct exec_job *job)
{
	int signal = job->status - 128;

	return signal > 0 && signal <= SIGNAL_LAST ? signal : 0;
}

void run_exec_why(const struct exec_job *job, char ret_text[EXEC_WHY_SIZE])
{
	char status[64];

	if (job->end == JOB_OVERDUE)
		(void)snprintf(status, sizeof status, "longer than --timeout");
	else if (signal_of(job))
		(void)snprintf(status, sizeof status, "signal %d", signal_of(job));
	else
		(void)snprintf(status, sizeof status, "exit status %d", job->status);
	(void)snprintf(ret_text, EXEC_WHY_SIZE, "%s%s%s", status, *job->last ? ": " : "",
		       job->last); /* the text always fits */
}

void run_exec_say(const struct exec_job *job, dw *d)
{
	char text[EXEC_WHY_SIZE];

	run_exec_why(job, text);
	for (size_t i = 0; i < job->count; i++)
		/* dw_set_why() fails if the delivery has ended meanwhile. */
		(void)dw_set_why(d, &job->items[i].token, text);
}

void run_exec_tell(const struct exec_job *job)
{
	const dw_token *token = &job->items->token;
	const char *message = job->items->message;
	char who[2 * DW_ID_MAX + 64], more[32] = "";

	if (job->count > 1)
		(void)snprintf(more, sizeof more, " and %zu more", job->count - 1);
	if (*message)
		(void)snprintf(who, sizeof who, "%s (%s)%s", message, token->id, more);
	else
		(void)snprintf(who, sizeof who, "%s%s", token->id, more);
	if (job->end == JOB_OVERDUE)
		warn("%s: the command took longer than --timeout and was ended (attempt "
		     "%" PRIu32 ")",
		     who, token->attempt);
	else if (signal_of(job))
		warn("%s: the command ended by signal %d (attempt %" PRIu32 ")", who,
		     signal_of(job), token->attempt);
	else if (job->status != 0)
		warn("%s: the command exits with %d (attempt %" PRIu32 ")", who, job->status,
		     token->attempt);
}
