#include "cli/out/ending.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cli/out/line.h"
#include "cli/out/table.h"

static void append(struct ending *ending, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void append(struct ending *ending, const char *format, ...)
{
	size_t size = strlen(ending->words);
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(ending->words + size, sizeof ending->words - size, format,
			arguments); /* the buffer is large enough */
	va_end(arguments);
}

/* never_started returns true if no handler ever got the timer. Either the owner never claimed it,
 * or the first claim came too late. */
static bool never_started(const dw_ended *ended)
{
	return ended->attempt == 0 ||
	       (ended->end == DW_END_DEAD && ended->reason == DW_REASON_LATE &&
		ended->attempt == 1 && ended->started == 0);
}

/* may_have_started returns true if nobody knows whether a handler got the timer. A cancel does not
 * learn the outcome of an earlier claim. But a retry proves that a handler got it. */
static bool may_have_started(const dw_ended *ended)
{
	return ended->end == DW_END_CANCELLED && ended->retries == 0 && ended->started == 0;
}

void ending_late(const dw_ended *ended, char ret_span[TEXT_SPAN_SIZE])
{
	dw_usec due = ended->due > 0 ? ended->due : 0;

	text_span(ended->started > due ? ended->started - due : 0, 1, ret_span);
}

/* write_words describes the end in one line. A timer that never started has no lateness. */
static void write_words(struct ending *ending, const dw_ended *ended)
{
	char time[LOCAL_TEXT_SIZE], span[TEXT_SPAN_SIZE];

	local_show(ending->zone, ended->at, time);
	append(ending, "%s %s", end_name(ended->end), time);
	if (ended->end == DW_END_DEAD)
		append(ending, ", %s", dw_reason_name(ended->reason));
	if (never_started(ended))
		append(ending, ", never started");
	else
		append(ending, ", attempt %" PRIu32 "%s", ended->attempt,
		       may_have_started(ended) ? " may have started" : "");
	if (ended->started > 0) {
		ending_late(ended, span);
		append(ending, ", %s late", span);
	}
	if (*ended->by)
		append(ending, ", by %s", ended->by);
}

/* begin forgets the end that was known before. */
static void begin(struct ending *ending, uint64_t generation)
{
	ending_free(ending);
	*ending = (struct ending){.zone = ending->zone, .is_known = true, .generation = generation};
}

void ending_keep(struct ending *ending, const dw_ended *ended)
{
	begin(ending, ended->generation);
	write_words(ending, ended);
	ending->object = line_object_of_ended(ended, true);
	ending->result_size = ended->result_size;
	if (ended->result_size > 0)
		memcpy(ending->result, ended->result, ended->result_size);
}

/* write_letter_words describes the end by the dead letter. The caller uses it only if the end of
 * that timer is not kept, because a kept end has more details. */
static void write_letter_words(struct ending *ending, const dw_dead *letter)
{
	char time[LOCAL_TEXT_SIZE];

	local_show(ending->zone, letter->at, time);
	append(ending, "dead %s, %s, attempt %" PRIu32, time, dw_reason_name(letter->reason),
	       letter->attempt);
}

const char *ending_letter_words(const dw_dead *letter)
{
	if (letter->damaged)
		return "damaged: it can only be dropped";
	return letter->newer ? "of a newer durawheel, which can requeue it" : "it can be requeued";
}

void ending_letter_command(const dw_dead *letter, char ret_command[ENDING_COMMAND_SIZE])
{
	char word[TEXT_SHELL_SIZE];

	ret_command[0] = '\0';
	if (letter->damaged || !letter->newer)
		(void)snprintf(ret_command, ENDING_COMMAND_SIZE, "durawheel dead %s %s",
			       letter->damaged ? "drop" : "requeue",
			       text_shell_word(letter->id, word)); /* the text always fits */
}

void ending_keep_letter(struct ending *ending, const dw_dead *letter)
{
	if (letter->generation < ending->generation)
		return;
	if (letter->generation > ending->generation) {
		begin(ending, letter->generation);
		write_letter_words(ending, letter);
		ending->object = line_object_of_letter(letter, true);
	} else if (ending->object && !line_add_letter(ending->object, letter, true)) {
		json_decref(ending_take(ending)); /* out of memory */
	}
	ending->is_damaged = letter->damaged;
	if (letter->damaged || letter->newer)
		append(ending, ", %s", ending_letter_words(letter));
	ending_letter_command(letter, ending->command);
	(void)snprintf(ending->reason, sizeof ending->reason, "%s",
		       letter->why ? letter->why : ""); /* the text always fits */
}

void ending_print(const struct ending *ending)
{
	text_print(stdout, ending->words, strlen(ending->words), 0);
	(void)putchar('\n'); /* session_close() reports a failed write */
	if (ending->result_size > 0)
		table_row_text("result", ending->result, ending->result_size);
	if (*ending->reason)
		table_row_text("why", ending->reason, strlen(ending->reason));
	if (*ending->command)
		table_row_text(ending->is_damaged ? "to drop" : "to requeue", ending->command,
			       strlen(ending->command));
}

json_t *ending_take(struct ending *ending)
{
	json_t *object = ending->object;

	ending->object = NULL;
	return object;
}

void ending_free(struct ending *ending)
{
	json_decref(ending_take(ending));
}
