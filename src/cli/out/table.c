#include "cli/out/table.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "cli/session.h"
#include "cli/out/text.h"

/* The widths of columns, in characters. A longer id or topic shifts only the rest of its own
 * row. */
enum {
	TIME_WIDTH = 27,
	LOCAL_WIDTH = 32,
	DISTANCE_WIDTH = 12,
	ID_MAX = 60,
	TOPIC_MAX = 30,
	NAME_WIDTH = 16
};

static void widen(size_t *width, const char *text, size_t most)
{
	size_t here = text_width(text, strlen(text));

	if (here > most)
		here = most;
	if (here > *width)
		*width = here;
}

void table_fit(struct table *table, const char *id, const char *topic)
{
	widen(&table->id, id, ID_MAX);
	widen(&table->topic, topic, TOPIC_MAX);
}

/* print_columns prints four columns. In this file session_flush() reports failed writes. */
static void print_columns(const struct table *table, const char *const *texts)
{
	text_print(stdout, texts[0], strlen(texts[0]), table->zone ? LOCAL_WIDTH : TIME_WIDTH);
	(void)putchar(' ');
	text_print(stdout, texts[1], strlen(texts[1]), DISTANCE_WIDTH);
	(void)putchar(' ');
	text_print(stdout, texts[2], strlen(texts[2]), table->id);
	(void)putchar(' ');
	text_print(stdout, texts[3], strlen(texts[3]), table->topic);
	(void)putchar(' ');
}

void table_begin(const struct table *table, dw_usec time, const char *id, const char *topic)
{
	char when[LOCAL_TEXT_SIZE];
	char distance[TEXT_SPAN_SIZE];

	local_show(table->zone, time, when);
	text_distance(time, session_now(), distance);
	print_columns(table, (const char *const[]){when, distance, id, topic});
}

void table_header(struct table *table, const char *time_name)
{
	table_fit(table, "ID", "TOPIC");
	print_columns(table, (const char *const[]){time_name, "", "ID", "TOPIC"});
}

void table_row_text(const char *name, const void *text, size_t size)
{
	(void)printf("%-*s ", NAME_WIDTH, name);
	text_print(stdout, text, size, 0);
	(void)putchar('\n');
}

void table_row_count(const char *name, uint64_t count)
{
	(void)printf("%-*s %" PRIu64 "\n", NAME_WIDTH, name, count);
}

void table_row_time(const char *name, dw_usec time, const struct local_zone *zone)
{
	char when[LOCAL_TEXT_SIZE];
	char distance[TEXT_SPAN_SIZE];

	local_show(zone, time, when);
	text_distance(time, session_now(), distance);
	(void)printf("%-*s %s%s%s\n", NAME_WIDTH, name, when, *distance ? ", " : "", distance);
}

void table_row_span(const char *name, dw_usec duration)
{
	char span[TEXT_SPAN_SIZE];

	text_span(duration, 6, span);
	table_row_text(name, span, strlen(span));
}
