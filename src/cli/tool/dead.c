/* durawheel dead: lists, requeues or drops dead letters, which are timers that could not be
 * delivered.
 *
 * --all reads the letters page by page. It skips letters that died after the command began.
 * Otherwise a requeued timer that dies again would be requeued forever. */
#include "cli/commands.h"

#include <inttypes.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/due.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/session.h"
#include "cli/out/table.h"
#include "cli/out/text.h"

/* A dead letter on the last page of --all. The command will requeue or drop it. */
struct letter {
	uint64_t generation;
	char id[DW_ID_MAX + 1];
};

struct dead {
	dw *d;
	bool json;
	bool headed;
	struct line line;
	struct table table;
	struct letter *letters; /* an array of DW_LIST_MAX; NULL if the dead letters are printed */
	size_t noted;
	size_t count; /* the number of letters on the last page */
	dw_cursor cursor;
	bool lacks; /* letters of shards that cannot be read are missing */
	dw_usec began;
	dw_usec due; /* for requeue: the new deadline */
	uint64_t done;
	int code;
};

static void worsen(struct dead *dead, int code)
{
	if (code > dead->code)
		dead->code = code;
}

/* ---- Pages ------------------------------------------------------------------------------- */

static void print_text(struct dead *dead, const dw_dead *letter)
{
	table_begin(&dead->table, letter->at, letter->id, letter->topic);
	/* session_close() reports failed writes */
	(void)printf("%-8s %7" PRIu32 " %8zu%s", dw_reason_name(letter->reason), letter->attempt,
		     letter->data_size, letter->newer ? " newer" : "");
	if (letter->why) {
		(void)fputs("  ", stdout);
		text_print(stdout, letter->why, strlen(letter->why), 0);
	}
	(void)putchar('\n');
}

static void print_page(struct dead *dead, const dw_dead *letters, size_t count)
{
	for (size_t i = 0; i < count && !dead->json; i++)
		table_fit(&dead->table, letters[i].id, letters[i].topic);
	if (!dead->headed && !dead->json) {
		table_header(&dead->table, "DIED");
		/* session_close() reports a failed write. */
		(void)puts("REASON   ATTEMPT     SIZE  WHY");
	}
	dead->headed = true;
	for (size_t i = 0; i < count; i++) {
		if (!dead->json)
			print_text(dead, &letters[i]);
		else if (line_of_dead(&dead->line, &letters[i]))
			(void)fwrite(dead->line.bytes, 1, dead->line.size,
				     stdout); /* session_close() reports a failed write */
		else
			worsen(dead, complain(EXIT_FAILED, "out of memory"));
	}
}

static void note(struct dead *dead, const dw_dead *letter)
{
	struct letter *noted = &dead->letters[dead->noted++];

	noted->generation = letter->generation;
	(void)snprintf(noted->id, sizeof noted->id, "%s", letter->id); /* every id fits in */
}

static void dead_page_answered(dw *d, int status, const dw_dead *letters, size_t count,
			       const dw_cursor *next, void *user)
{
	struct dead *dead = user;

	(void)d;
	if (status != DW_OK) {
		worsen(dead, complain(exit_of(status), "%s", dw_strerror(status)));
		return;
	}
	dead->count = count;
	dead->cursor = *next;
	dead->lacks |= next->lacks != 0;
	if (!dead->letters) {
		print_page(dead, letters, count);
		return;
	}
	for (size_t i = 0; i < count; i++)
		if (letters[i].at <= dead->began)
			note(dead, &letters[i]);
}

/* read_page reads the next page, at most `limit` letters. */
static void read_page(struct dead *dead, const char *topic, size_t limit)
{
	const dw_dead_select select = {
	    .size = sizeof select, .topic = topic, .partial = dead->letters == NULL};
	const dw_cursor after = dead->cursor;
	int status;

	dead->count = 0;
	dead->noted = 0;
	dead->cursor.ended = 1; /* unless an answer comes */
	status = dw_dead_list(dead->d, &select, after.started ? &after : NULL, limit,
			      dead_page_answered, dead);
	if (status != DW_OK)
		worsen(dead, complain(exit_of(status), "%s", why(dead->d, status)));
	else
		worsen(dead, session_sync(dead->d));
}

/* ---- Requeue and drop -------------------------------------------------------------------- */

static void dead_answered(dw *d, const dw_result *result, void *user)
{
	struct dead *dead = user;
	int code = exit_of(result->status);

	(void)d;
	if (result->status == DW_OK)
		dead->done++;
	else if (result->status == DW_ENOENT)
		worsen(dead, complain(code, "%s: no such dead letter", result->id));
	else if (result->status == DW_EEXIST)
		worsen(dead, complain(code,
				      "%s: the id has a timer again; cancel that first, unless it "
				      "is the recurring timer of this letter",
				      result->id));
	else /* a newer version wrote the dead letter; the store has not failed */
		worsen(dead, complain(result->status == DW_ENEWER ? (int)EXIT_FAILED : code,
				      "%s: %s", result->id, dw_strerror(result->status)));
}

/* treat requeues or drops one dead letter. Generation 0 means the newest dead letter of the id for
 * a requeue, and all dead letters of the id for a drop. */
static void treat(struct dead *dead, bool drops, const char *id, uint64_t generation)
{
	int status = drops
			 ? dw_dead_drop(dead->d, id, generation, dead_answered, dead)
			 : dw_dead_requeue(dead->d, id, generation, dead->due, dead_answered, dead);

	if (status != DW_OK)
		worsen(dead,
		       complain(exit_of(status), "id \"%.300s\": %s", id, why(dead->d, status)));
}

static void treat_all(struct dead *dead, bool drops, const char *topic)
{
	dead->letters = calloc(DW_LIST_MAX, sizeof *dead->letters);
	if (!dead->letters) {
		worsen(dead, complain(EXIT_FAILED, "out of memory"));
		return;
	}
	do {
		read_page(dead, topic, DW_LIST_MAX);
		for (size_t i = 0; i < dead->noted; i++)
			treat(dead, drops, dead->letters[i].id, dead->letters[i].generation);
		worsen(dead, session_sync(dead->d));
	} while (dead->code != EXIT_STORE && !dead->cursor.ended);
	(void)printf("%s %" PRIu64 "\n", drops ? "dropped" : "requeued",
		     dead->done); /* session_close() reports a failed write */
}

static int check_words(const struct options *options, const char *what)
{
	bool all = options->value[OPT_ALL] != NULL;

	if (all == (options->word_count > 1))
		return complain(EXIT_USAGE, "dead %s: write ids, or --all for all of them", what);
	if (!all && options->topic_count > 0)
		return complain(EXIT_USAGE, "dead %s: --topic is for --all", what);
	if (options->topic_count > 1)
		return complain(EXIT_USAGE, "dead %s: write --topic once", what);
	return EXIT_DONE;
}

static int change(const struct options *options, bool drops)
{
	const char *what = options->words[0];
	dw_usec now = session_now();
	struct dead dead = {.began = now, .due = now};
	int code = check_words(options, what);

	if (code == EXIT_DONE && (options->value[OPT_IN] || options->value[OPT_AT]))
		code = due_of_options(options, "dead requeue", &dead.due);
	if (code == EXIT_DONE)
		code = session_look(options, (dw_options){.role = DW_CLIENT}, &dead.d);
	if (code != EXIT_DONE)
		return code;
	if (options->value[OPT_ALL])
		treat_all(&dead, drops, options->value[OPT_TOPIC]);
	for (size_t i = 1; i < options->word_count; i++)
		treat(&dead, drops, options->words[i], 0);
	worsen(&dead, session_sync(dead.d));
	code = session_close(dead.d, dead.code);
	free(dead.letters);
	return code;
}

/* ---- The commands ------------------------------------------------------------------------ */

/* command_dead complains, because the word after `dead` must be list, requeue or drop. */
int command_dead(const struct options *options)
{
	return complain(EXIT_USAGE, "dead%s%.64s: write dead list, dead requeue or dead drop",
			options->word_count > 1 ? " " : "",
			options->word_count > 1 ? presentable(options->words[1]) : "");
}

int command_dead_list(const struct options *options)
{
	struct dead dead = {.json = options->value[OPT_JSON] != NULL};
	struct local_zone zone;
	size_t left = SIZE_MAX;
	int code = shown_zone(options, &zone, &dead.table.zone);

	if (code != EXIT_DONE)
		return code;
	if (options->topic_count > 1)
		return complain(EXIT_USAGE, "dead list: write --topic once");
	if (options->value[OPT_LIMIT])
		code = options_count(options, OPT_LIMIT, &left);
	if (code == EXIT_DONE)
		code = session_look(options, (dw_options){.role = DW_CLIENT}, &dead.d);
	if (code != EXIT_DONE)
		return code;
	do {
		read_page(&dead, options->value[OPT_TOPIC],
			  left < DW_LIST_MAX ? left : DW_LIST_MAX);
		left -= dead.count;
	} while (dead.code == EXIT_DONE && !dead.cursor.ended && left > 0 && !ferror(stdout));
	if (dead.lacks)
		worsen(&dead, complain(EXIT_STORE, "the list lacks the letters of shards that "
						   "cannot be read now"));
	line_free(&dead.line);
	return session_close(dead.d, dead.code);
}

int command_dead_requeue(const struct options *options)
{
	return change(options, false);
}

int command_dead_drop(const struct options *options)
{
	return change(options, true);
}
