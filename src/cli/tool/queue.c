/* durawheel push, take and ack: add, take and answer messages of queue topics. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/out/base64.h"
#include "cli/out/data.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/reader.h"
#include "cli/session.h"
#include "durawheel/topic.h"

#define TAKE_DEFAULT 128
#define RETRY_NOW 1 /* the smallest delay in microseconds, for --retry 0 */

struct queue_command {
	dw *d;
	const struct options *options;
	struct line line;
	uint64_t pushed;
	bool is_over_limit; /* the server has refused a message because of its limits */
	bool stops;         /* no further lines are read, because the store cannot be used */
	dw_answer answer;   /* for ack: the answer that all given tokens get */
	int code;
};

static void worsen(struct queue_command *command, int code)
{
	if (code > command->code)
		command->code = code;
	command->stops = command->stops || code >= EXIT_STORE;
}

/* ---- Push ---------------------------------------------------------------------------------- */

static int exit_of_queue(int status)
{
	return status == DW_ELIMIT || status == DW_ECORRUPT ? EXIT_STORE : exit_of(status);
}

static const char *words_of_queue(const struct queue_command *command, int status,
				  char room[SESSION_WHY_SIZE])
{
	switch (status) {
	case DW_ELIMIT:
		return command->is_over_limit ? "its queue is full, or the server's limits are too "
						"low for the message"
					      : "its queue is full";
	case DW_ECORRUPT:
		return "its queue is damaged: durawheel check says where";
	case DW_ENOENT:
		return "it is no queue: see durawheel topic set";
	default:
		return session_why(command->options, status, room);
	}
}

/* is_of_one returns true if the failure may concern only this message, so that other messages can
 * still be pushed. */
static bool is_of_one(const struct queue_command *command, int status)
{
	return command->is_over_limit && (status == DW_EUNKNOWN || status == DW_ELIMIT);
}

static void pushed(dw *d, const dw_result *result, void *user)
{
	struct queue_command *command = user;
	bool stops = command->stops;
	char room[SESSION_WHY_SIZE];

	(void)d;
	if (result->status == DW_OK) {
		command->pushed++;
		return;
	}
	worsen(command,
	       complain(exit_of_queue(result->status), "%s: %s", command->options->value[OPT_TOPIC],
			words_of_queue(command, result->status, room)));
	if (is_of_one(command, result->status))
		command->stops = stops;
}

/* push_event is the on_event callback of push. It prints which limit of the server was reached. */
static void push_event(dw *d, const dw_event *event, void *user)
{
	struct queue_command *command = user;

	(void)d;
	if (event->kind != DW_EVENT_LIMIT)
		return;
	command->is_over_limit = true;
	(void)complain(EXIT_STORE, "%s", event->message); /* the answer sets the exit code */
}

/* A line of `push -`. The message has pointers into `object` and `decoded`. */
struct push_line {
	json_t *object;
	void *decoded;
	dw_timer message;
};

static void push_line_free(struct push_line *line)
{
	json_decref(line->object);
	free(line->decoded);
}

/* read_data sets the data of the message. Returns false if the line is invalid. */
static bool read_data(struct push_line *line)
{
	const json_t *data = json_object_get(line->object, "data");
	const json_t *encoded = json_object_get(line->object, "data_base64");

	if (data && !encoded && json_is_string(data)) {
		line->message.data = json_string_value(data);
		line->message.data_size = json_string_length(data);
		return true;
	}
	if (!data && encoded && json_is_string(encoded)) {
		if (!base64_decode(json_string_value(encoded), json_string_length(encoded),
				   &line->decoded, &line->message.data_size))
			return false;
		line->message.data = line->decoded;
		return true;
	}
	return !data && !encoded;
}

static bool read_push_line(struct push_line *line, const char *text, size_t size, const char *topic)
{
	json_error_t error;
	const json_t *id;

	*line = (struct push_line){.message = {.size = sizeof line->message, .topic = topic}};
	line->object = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
	if (!json_is_object(line->object))
		return false;
	id = json_object_get(line->object, "id");
	if (id && !json_is_string(id))
		return false;
	line->message.id = json_string_value(id);
	return read_data(line);
}

/* push_text pushes the message of one line. It complains about an invalid line. */
static void push_text(struct queue_command *command, const char *text, size_t size, uint64_t number)
{
	struct push_line line;
	int status;

	if (!read_push_line(&line, text, size, command->options->value[OPT_TOPIC])) {
		worsen(command, complain(EXIT_FAILED,
					 "line %" PRIu64 ": write an object with the texts id, and "
					 "data or data_base64",
					 number));
	} else {
		status = dw_push(command->d, &line.message, 1, pushed, command);
		if (status != DW_OK)
			worsen(command, complain(exit_of(status), "line %" PRIu64 ": %s", number,
						 why(command->d, status)));
	}
	push_line_free(&line);
}

/* each_line calls `take` for each line of stdin. Before it waits for more lines, it waits for the
 * store's answers to the earlier ones. */
static void each_line(struct queue_command *command,
		      void (*take)(struct queue_command *, const char *text, size_t size,
				   uint64_t number))
{
	struct reader reader;
	enum reader_state state = READER_MORE;
	const char *text;
	size_t size;

	if (!reader_open(&reader, STDIN_FILENO)) {
		worsen(command, complain(EXIT_FAILED, "out of memory"));
		return;
	}
	while (state != READER_END && !command->stops) {
		state = reader_next(&reader, &text, &size);
		if (state == READER_LINE && size > 0)
			take(command, text, size, reader.number);
		else if (state == READER_LONG)
			worsen(command, complain(EXIT_FAILED, "line %" PRIu64 " is too long",
						 reader.number));
		if (state != READER_MORE)
			continue;
		worsen(command, session_sync(command->d));
		if (!reader_fill(&reader)) {
			worsen(command, complain(EXIT_FAILED, "cannot read stdin"));
			break;
		}
	}
	worsen(command, session_sync(command->d));
	reader_close(&reader);
}

static void push_lines(struct queue_command *command)
{
	each_line(command, push_text);
	/* session_close() reports a failed write. */
	(void)printf("%" PRIu64 " pushed\n", command->pushed);
}

static void push_one(struct queue_command *command)
{
	dw_timer message = {.size = sizeof message,
			    .id = command->options->value[OPT_ID],
			    .topic = command->options->value[OPT_TOPIC]};
	void *file = NULL;
	int code = data_of_options(command->options, "push", &message, &file);
	int status;

	worsen(command, code);
	if (code == EXIT_DONE) {
		status = dw_push(command->d, &message, 1, pushed, command);
		worsen(command, status == DW_OK
				    ? session_sync(command->d)
				    : complain(exit_of(status), "%s", why(command->d, status)));
	}
	free(file);
}

int command_push(const struct options *options)
{
	struct queue_command command = {.options = options};
	bool lines = options->word_count > 1;
	int code;

	if (options->topic_count != 1)
		return complain(EXIT_USAGE, "push: exactly one --topic is required");
	if (lines && strcmp(options->words[1], "-") != 0)
		return complain(EXIT_USAGE, "push: write - to read lines from stdin");
	if (lines &&
	    (options->value[OPT_ID] || options->value[OPT_DATA] || options->value[OPT_DATA_FILE]))
		return complain(EXIT_USAGE, "push -: the lines have the ids and the data");
	code = session_look(
	    options,
	    (dw_options){.role = DW_CLIENT, .on_event = push_event, .on_event_user = &command},
	    &command.d);
	if (code != EXIT_DONE)
		return code;
	(lines ? push_lines : push_one)(&command);
	return session_close(command.d, command.code);
}

/* ---- Take ---------------------------------------------------------------------------------- */

static void take_command_answered(dw *d, int status, const dw_message *messages, size_t count,
				  void *user)
{
	struct queue_command *command = user;

	command->code = EXIT_DONE;
	if (status == DW_ENOENT)
		command->code =
		    complain(EXIT_ABSENT, "%s: see durawheel topic set", why(d, status));
	else if (status == DW_ECORRUPT)
		command->code =
		    complain(EXIT_STORE, "a queue is damaged: durawheel check says where");
	else if (status == DW_ELIMIT)
		command->code = complain(EXIT_STORE, "the server sends no message as large as the "
						     "first: raise its client-output-buffer-limit "
						     "normal");
	else if (status != DW_OK)
		command->code = complain(exit_of(status), "%s", dw_strerror(status));
	for (size_t i = 0; i < count; i++)
		if (line_of_message(&command->line, &messages[i]))
			(void)fwrite(command->line.bytes, 1, command->line.size,
				     stdout); /* session_close() reports a failed write */
		else
			worsen(command, complain(EXIT_FAILED, "out of memory"));
}

int take_of_options(const struct options *options, const char *command, dw_take_options *ret_take)
{
	dw_take_options take = {.size = sizeof take,
				.topics = options->topics,
				.topic_count = options->topic_count,
				.max = TAKE_DEFAULT};
	int code = EXIT_DONE;

	if (options->topic_count == 0)
		return complain(EXIT_USAGE, "%s: write --topic T", command);
	if (options->value[OPT_MAX])
		code = options_count(options, OPT_MAX, &take.max);
	else if (options->value[OPT_BATCH])
		code = options_count(options, OPT_BATCH, &take.max);
	if (code == EXIT_DONE && take.max > DW_TAKE_MAX)
		code = complain(EXIT_USAGE, "%s: write at most %d messages", command, DW_TAKE_MAX);
	if (code == EXIT_DONE && options->value[OPT_WAIT])
		code = options_duration(options, OPT_WAIT, &take.wait_us);
	if (code == EXIT_DONE && take.wait_us > DW_HOURS(1))
		code =
		    complain(EXIT_USAGE, "--wait %s: write at most 1h", options->value[OPT_WAIT]);
	*ret_take = take;
	return code;
}

void take_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	if (event->kind == DW_EVENT_CORRUPT || event->kind == DW_EVENT_DEAD ||
	    event->kind == DW_EVENT_LIMIT)
		warn_each("%s", event->message);
}

int command_take(const struct options *options)
{
	struct queue_command command = {.options = options, .code = -1};
	dw_take_options take;
	int code = take_of_options(options, "take", &take);
	int status;

	if (code == EXIT_DONE)
		code = session_look(
		    options, (dw_options){.role = DW_CLIENT, .on_event = take_event}, &command.d);
	if (code != EXIT_DONE)
		return code;
	status = dw_take(command.d, &take, take_command_answered, &command);
	if (status != DW_OK)
		command.code = complain(exit_of(status), "%s", why(command.d, status));
	while (command.code < 0 && (status = session_turn(command.d, -1)) != DW_ESYS)
		;
	if (command.code < 0)
		command.code = complain(EXIT_FAILED, "cannot wait");
	line_free(&command.line);
	return session_close(command.d, command.code);
}

/* ---- Ack ----------------------------------------------------------------------------------- */

static void acked(dw *d, const dw_result *results, size_t count, void *user)
{
	struct queue_command *command = user;

	(void)d;
	for (size_t i = 0; i < count; i++) {
		char room[SESSION_WHY_SIZE];
		int status = results[i].status;

		if (status == DW_ESTALE)
			worsen(command,
			       complain(EXIT_LATE, "%s: this delivery is over", results[i].id));
		else if (status != DW_OK)
			worsen(command, complain(exit_of_queue(status), "%s: %s", results[i].id,
						 words_of_queue(command, status, room)));
	}
}

static int read_verdict(const struct options *options, dw_answer *answer)
{
	int given = (options->value[OPT_RETRY] != NULL) + (options->value[OPT_DEAD] != NULL) +
		    (options->value[OPT_TOUCH] != NULL);
	int code = EXIT_DONE;

	if (given > 1)
		return complain(EXIT_USAGE, "ack: write one of --retry, --dead and --touch");
	answer->why = options->value[OPT_WHY];
	if (answer->why && !options->value[OPT_RETRY] && !options->value[OPT_DEAD])
		return complain(EXIT_USAGE, "ack: --why is for --retry or --dead");
	if (answer->why && strlen(answer->why) > DW_WHY_MAX)
		return complain(EXIT_USAGE, "ack: --why has %zu bytes: write at most %d",
				strlen(answer->why), DW_WHY_MAX);
	if (options->value[OPT_RETRY])
		code = options_duration(options, OPT_RETRY, &answer->retry_in);
	if (options->value[OPT_RETRY] && answer->retry_in == 0)
		answer->retry_in = RETRY_NOW;
	if (options->value[OPT_RETRY])
		answer->verdict = DW_RETRY;
	if (options->value[OPT_DEAD])
		answer->verdict = DW_DEAD;
	return code;
}

static void answer_tokens(struct queue_command *command, const char *const *tokens, size_t count)
{
	int status;

	command->answer.tokens = tokens;
	command->answer.count = count;
	status = command->options->value[OPT_TOUCH]
		     ? dw_touch(command->d, tokens, count, acked, command)
		     : dw_ack(command->d, &command->answer, acked, command);
	if (status != DW_OK)
		worsen(command, complain(exit_of(status), "%s", why(command->d, status)));
	worsen(command, session_sync(command->d));
}

/* answer_line answers the message of one line. The line is a token, or an object with a token as
 * `take` prints it. */
static void answer_line(struct queue_command *command, const char *text, size_t size,
			uint64_t number)
{
	json_t *object = json_loadb(text, size, 0, NULL);
	const char *token = json_string_value(json_object_get(object, "token"));
	char copy[DW_TOKEN_SIZE];

	if (!token && size < sizeof copy && !memchr(text, '\0', size)) {
		memcpy(copy, text, size);
		copy[size] = '\0';
		token = copy;
	}
	if (token)
		answer_tokens(command, &token, 1);
	else
		worsen(command, complain(EXIT_USAGE,
					 "line %" PRIu64 " is neither a token nor an object with "
					 "one",
					 number));
	json_decref(object);
}

int command_ack(const struct options *options)
{
	struct queue_command command = {.options = options, .answer = {.size = sizeof(dw_answer)}};
	size_t count = options->word_count - 1;
	int code = read_verdict(options, &command.answer);

	if (code == EXIT_DONE && count > DW_TAKE_MAX)
		code = complain(EXIT_USAGE, "ack: write at most %d tokens", DW_TAKE_MAX);
	if (code == EXIT_DONE)
		code = session_look(
		    options, (dw_options){.role = DW_CLIENT, .on_event = take_event}, &command.d);
	if (code != EXIT_DONE)
		return code;
	if (count == 1 && strcmp(options->words[1], "-") == 0)
		each_line(&command, answer_line);
	else
		answer_tokens(&command, options->words + 1, count);
	return session_close(command.d, command.code);
}
