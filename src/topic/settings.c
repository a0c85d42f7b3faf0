#include "topic/settings.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grown.h"
#include "base/message.h"
#include "base/usec.h"
#include "base/utf8.h"
#include "durawheel/ended.h"

#define BACKOFF_FIRST DW_SECONDS(1)
#define BACKOFF_MAX DW_MINUTES(5)
#define HIDE DW_SECONDS(30)
#define VERSION_MAX ((uint64_t)1 << 53) /* Lua's numbers are exact up to this value */

#define NAME_CHARACTERS "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_"

enum {
	BACKOFF_FACTOR = 2,
	JITTER_PERCENT = 20,
	QUEUE_MAX = 100000,
	RETRIES_LIMIT = 255,
	WORD_SIZE = 64
};

/* ---- The text ------------------------------------------------------------------------------ */

enum kind { NUMBER_32, NUMBER_64, NUMBER_MOST, NUMBER_FIRST, NUMBER_PLACE };

struct settings_field {
	const char *word;
	size_t offset;
	enum kind kind;
};

#define SETTING(word, member)                                                                      \
	{                                                                                          \
		word, offsetof(dw_topic_settings, member),                                         \
		    sizeof(((dw_topic_settings *)0)->member) == 4 ? NUMBER_32 : NUMBER_64          \
	}
#define NUMBER(word, member)                                                                       \
	{                                                                                          \
		word, offsetof(dw_topic_info, member), NUMBER_64                                   \
	}

#define MOST(word, member)                                                                         \
	{                                                                                          \
		word, offsetof(dw_topic_info, member), NUMBER_MOST                                 \
	}
#define FIRST(word, member)                                                                        \
	{                                                                                          \
		word, offsetof(dw_topic_info, member), NUMBER_FIRST                                \
	}
#define PLACE(word, member)                                                                        \
	{                                                                                          \
		word, offsetof(dw_topic_info, member), NUMBER_PLACE                                \
	}

static const struct settings_field settings_fields[] = {
    SETTING("paused", paused),
    SETTING("retries", retries_max),
    SETTING("first", backoff_first_us),
    SETTING("longest", backoff_max_us),
    SETTING("factor", backoff_factor),
    SETTING("jitter", jitter_percent),
    SETTING("limit", limit_us),
    SETTING("queue", queue),
    SETTING("max", max),
    SETTING("overflow", overflow),
    SETTING("expire", expire_us),
    SETTING("hide", hide_us),
    SETTING("keep", keep_us),
};

/* The numbers of a topic's timers, which an owner writes. The numbers of several owners are
 * combined to a sum (NUMBER), to the largest one (MOST), or to the smallest one that is not 0
 * (FIRST). add_place() combines places (PLACE). Of the reasons in `waits` a smaller number is
 * worse. */
static const struct settings_field timer_fields[] = {
    NUMBER("pending", pending),    NUMBER("due", due),
    NUMBER("running", running),    NUMBER("done", done),
    NUMBER("retried", retried),    NUMBER("dead", dead),
    FIRST("oldest", oldest),       NUMBER("started", started),
    NUMBER("late", late),          MOST("late50", late_p50_us),
    MOST("late99", late_p99_us),   MOST("late100", late_max_us),
    MOST("took50", took_p50_us),   MOST("took99", took_p99_us),
    MOST("took100", took_max_us),  MOST("timed", timed),
    FIRST("waits", waits),         NUMBER("purpose", on_purpose),
    PLACE("first", unstarted_due), PLACE("first_ver", unstarted_generation),
    PLACE("last", started_due),    PLACE("last_ver", started_generation),
};

/* The numbers of a topic's queue, which a store reports. */
static const struct settings_field queue_fields[] = {
    NUMBER("waiting", waiting), NUMBER("taken", taken),     NUMBER("later", later),
    NUMBER("dropped", dropped), NUMBER("expired", expired), NUMBER("first_due", oldest_message),
};

#define COUNT(array) (sizeof(array) / sizeof(array)[0])

static int64_t get(const void *object, const struct settings_field *field)
{
	const char *at = (const char *)object + field->offset;
	uint32_t number;
	int64_t value;

	if (field->kind != NUMBER_32) {
		memcpy(&value, at, sizeof value);
		return value;
	}
	memcpy(&number, at, sizeof number);
	return number;
}

static void set(void *object, const struct settings_field *field, int64_t value)
{
	char *at = (char *)object + field->offset;
	uint32_t number = (uint32_t)value;

	if (field->kind != NUMBER_32)
		memcpy(at, &value, sizeof value);
	else
		memcpy(at, &number, sizeof number);
}

/* write_fields writes the fields that differ from those of `from`. If from is NULL, it writes the
 * fields that are not 0. */
static size_t write_fields(const struct settings_field *fields, size_t count, const void *from,
			   const void *object, char *text)
{
	size_t size = 0;

	text[0] = '\0';
	for (size_t i = 0; i < count; i++) {
		int64_t value = get(object, &fields[i]);

		if (value != (from ? get(from, &fields[i]) : 0))
			size += (size_t)snprintf(text + size, SETTINGS_TEXT_SIZE - size,
						 "%s%s=%" PRId64, size ? " " : "", fields[i].word,
						 value); /* always fits */
	}
	return size;
}

size_t settings_write(const dw_topic_settings *settings, char ret_text[SETTINGS_TEXT_SIZE])
{
	return write_fields(settings_fields, COUNT(settings_fields), NULL, settings, ret_text);
}

size_t settings_write_changes(const dw_topic_settings *from, const dw_topic_settings *to,
			      char ret_text[SETTINGS_TEXT_SIZE])
{
	return write_fields(settings_fields, COUNT(settings_fields), from, to, ret_text);
}

size_t numbers_write(const dw_topic_info *info, char ret_text[SETTINGS_TEXT_SIZE])
{
	return write_fields(timer_fields, COUNT(timer_fields), NULL, info, ret_text);
}

/* is_word returns true if the text has the form "word=123" or "word=-1". */
static bool is_word(const char *text)
{
	size_t name = strspn(text, NAME_CHARACTERS), digits;
	const char *number = text + name + 1;

	if (name == 0 || text[name] != '=')
		return false;
	number += *number == '-';
	digits = strspn(number, "0123456789");
	return digits > 0 && number[digits] == '\0';
}

/* read_word sets the field of "word=123", if it is one of the fields. */
static void read_word(const struct settings_field *fields, size_t count, void *object,
		      const char *text)
{
	const char *sign = is_word(text) ? strchr(text, '=') : NULL;

	for (size_t i = 0; sign && i < count; i++)
		if (strlen(fields[i].word) == (size_t)(sign - text) &&
		    strncmp(fields[i].word, text, (size_t)(sign - text)) == 0)
			set(object, &fields[i], strtoll(sign + 1, NULL, 10));
}

static void read_text(dw_topic_settings *settings, dw_topic_info *info, const char *text,
		      size_t size)
{
	char copy[SETTINGS_TEXT_SIZE];
	char *rest = NULL;

	size = size < sizeof copy ? size : sizeof copy - 1;
	if (size > 0)
		memcpy(copy, text, size);
	copy[size] = '\0';
	for (char *word = strtok_r(copy, " ", &rest); word; word = strtok_r(NULL, " ", &rest)) {
		read_word(settings_fields, COUNT(settings_fields), settings, word);
		if (info)
			read_word(timer_fields, COUNT(timer_fields), info, word);
		if (info)
			read_word(queue_fields, COUNT(queue_fields), info, word);
	}
}

void settings_read(dw_topic_settings *settings, const char *text, size_t size)
{
	read_text(settings, NULL, text, size);
}

void info_read(dw_topic_info *info, const char *text, size_t size)
{
	read_text(&info->settings, info, text, size);
}

/* total combines a number of two owners to one number. */
static int64_t total(enum kind kind, int64_t one, int64_t other)
{
	if (kind == NUMBER_MOST)
		return one > other ? one : other;
	if (kind == NUMBER_FIRST && one != 0 && other != 0)
		return one < other ? one : other;
	return one + other;
}

/* add_place keeps the earlier of two places in the order of deadline and generation, or the later
 * one. Generation 0 is no place. */
static void add_place(dw_usec *due, uint64_t *generation, dw_usec other_due,
		      uint64_t other_generation, bool later)
{
	bool is_before = other_due < *due || (other_due == *due && other_generation < *generation);

	if (other_generation == 0 || (*generation != 0 && is_before == later))
		return;
	*due = other_due;
	*generation = other_generation;
}

void numbers_add(dw_topic_info *info, const char *text, size_t size)
{
	dw_topic_info added = {.size = sizeof added};

	read_text(&added.settings, &added, text, size);
	for (size_t i = 0; i < COUNT(timer_fields); i++) {
		const struct settings_field *field = &timer_fields[i];

		if (field->kind != NUMBER_PLACE)
			set(info, field, total(field->kind, get(info, field), get(&added, field)));
	}
	add_place(&info->unstarted_due, &info->unstarted_generation, added.unstarted_due,
		  added.unstarted_generation, false);
	add_place(&info->started_due, &info->started_generation, added.started_due,
		  added.started_generation, true);
}

/* ---- The ranges ---------------------------------------------------------------------------- */

static int check_times(const dw_topic_settings *settings, char *message)
{
	if (settings->retries_max > RETRIES_LIMIT && settings->retries_max != DW_NO_RETRIES)
		return message_refuse(message, "retries_max is %" PRIu32 ": at most %d",
				      settings->retries_max, RETRIES_LIMIT);
	if (settings->backoff_first_us < 0 || settings->backoff_first_us > DW_DAYS(1))
		return message_refuse(message, "backoff_first_us is not 0 to 1 day");
	if (settings->backoff_max_us < 0 || settings->backoff_max_us > DW_DAYS(30))
		return message_refuse(message, "backoff_max_us is not 0 to 30 days");
	if (settings->backoff_factor > 10)
		return message_refuse(message, "backoff_factor is %" PRIu32 ": 1 to 10",
				      settings->backoff_factor);
	if (settings->jitter_percent > 100 && settings->jitter_percent != DW_NO_JITTER)
		return message_refuse(message, "jitter_percent is %" PRIu32 ": at most 100",
				      settings->jitter_percent);
	if (settings->limit_us < 0 || settings->limit_us > DW_DAYS(1))
		return message_refuse(message, "limit_us is not 0 to 1 day");
	if (settings->keep_us < 0 || settings->keep_us > DW_KEEP_MAX)
		return message_refuse(message, "keep_us is not 0 to 90 days");
	return DW_OK;
}

static int check_queue(const dw_topic_settings *settings, char *message)
{
	bool hides = settings->hide_us >= DW_SECONDS(1) && settings->hide_us <= DW_HOURS(12);

	if (settings->queue != 0 && settings->queue != 1)
		return message_refuse(message, "queue is 0 or 1");
	if (settings->max > DW_QUEUE_MAX)
		return message_refuse(message, "max is %" PRIu32 ": at most %d", settings->max,
				      DW_QUEUE_MAX);
	if (settings->overflow != DW_DROP_OLDEST && settings->overflow != DW_REFUSE)
		return message_refuse(message, "overflow is DW_DROP_OLDEST or DW_REFUSE");
	if (settings->expire_us < 0)
		return message_refuse(message, "expire_us is negative");
	if (settings->hide_us != 0 && settings->hide_us != DW_AT_MOST_ONCE && !hides)
		return message_refuse(message, "hide_us is not 1 s to 12 h, 0 or DW_AT_MOST_ONCE");
	if (!settings->queue &&
	    (settings->max || settings->overflow || settings->expire_us || settings->hide_us))
		return message_refuse(
		    message, "max, overflow, expire_us and hide_us are of a queue: set queue to 1");
	return DW_OK;
}

int settings_check_form(const dw_topic_settings *settings, char *message)
{
	if (!settings)
		return message_refuse(message, "the settings are NULL");
	if (grown_size_is_wrong(settings->size, sizeof *settings))
		return message_refuse(message, "settings.size is not sizeof(dw_topic_settings)");
	if (grown_is_unknown(settings, sizeof *settings, settings->size))
		return message_refuse(message, "settings of a newer durawheel than " DW_VERSION);
	return DW_OK;
}

int settings_check(const dw_topic_settings *settings, char *message)
{
	int status = settings_check_form(settings, message);

	if (status != DW_OK)
		return status;
	if (settings->paused & ~(DW_PAUSE_DELIVERY | DW_PAUSE_INTAKE))
		return message_refuse(message, "paused has unknown bits: 0x%x", settings->paused);
	status = check_times(settings, message);
	return status == DW_OK ? check_queue(settings, message) : status;
}

/* ---- The stored text ----------------------------------------------------------------------- */

/* next_word copies the next word of a text, and moves *at behind it. A word that is too long, or
 * contains a NUL, is cut and ends with dots. It returns false if there is no word left. */
static bool next_word(const char **at, const char *end, char ret_word[WORD_SIZE])
{
	size_t size, used;

	while (*at < end && **at == ' ')
		(*at)++;
	size = (size_t)(end - *at);
	for (size_t i = 0; i < size; i++)
		if ((*at)[i] == ' ')
			size = i;
	(void)snprintf(ret_word, WORD_SIZE, "%.*s", (int)(size < WORD_SIZE ? size : WORD_SIZE - 1),
		       *at);
	used = strlen(ret_word);
	if (used != size)
		memcpy(ret_word + (used < WORD_SIZE - 4 ? used : WORD_SIZE - 4), "...", 4);
	*at += size;
	return size > 0;
}

uint64_t settings_version(const char *text, size_t size)
{
	const char *end = text + size;
	char word[WORD_SIZE];
	uint64_t version = 0;

	while (next_word(&text, end, word)) {
		if (!is_word(word))
			return 0;
		if (version == 0 && strncmp(word, "ver=", strlen("ver=")) == 0 && word[4] != '-')
			version = strtoull(word + strlen("ver="), NULL, 10);
	}
	return version <= VERSION_MAX ? version : 0;
}

/* is_in_range returns true if the number of the word fits into its field. */
static bool is_in_range(const char *word)
{
	long long number;
	size_t i = 0;

	while (i < COUNT(settings_fields) &&
	       (strncmp(settings_fields[i].word, word, strlen(settings_fields[i].word)) != 0 ||
		word[strlen(settings_fields[i].word)] != '='))
		i++;
	errno = 0;
	number = strtoll(strchr(word, '=') + 1, NULL, 10);
	return errno == 0 && (i == COUNT(settings_fields) || settings_fields[i].kind == NUMBER_64 ||
			      (number >= 0 && number <= UINT32_MAX));
}

int settings_check_text(const char *text, size_t size, char *message)
{
	dw_topic_settings settings = {.size = sizeof settings};
	const char *at = text;
	char word[WORD_SIZE], line[WORD_SIZE];

	if (size >= SETTINGS_TEXT_SIZE)
		return message_refuse(message, "they have %zu bytes: at most %d", size,
				      SETTINGS_TEXT_SIZE - 1);
	while (next_word(&at, text + size, word)) {
		(void)utf8_clean(word, line, sizeof line);
		if (!is_word(word))
			return message_refuse(message, "\"%s\" is not NAME=NUMBER", line);
		if (!is_in_range(word))
			return message_refuse(message, "%s is out of range", line);
	}
	settings_read(&settings, text, size);
	if (settings.queue == 0)
		settings.queue = 1; /* concurrent changes may leave words of a queue: no damage */
	return settings_check(&settings, message);
}

/* ---- The meaning --------------------------------------------------------------------------- */

uint32_t settings_retries_max(const dw_topic_settings *settings)
{
	if (settings->retries_max == DW_NO_RETRIES)
		return 0;
	return settings->retries_max ? settings->retries_max : DW_RETRIES_MAX;
}

uint32_t settings_queue_max(const dw_topic_settings *settings)
{
	return settings->max ? settings->max : QUEUE_MAX;
}

/* If the topic has become at-most-once since a message was taken, the default applies to that
 * message. */
dw_usec settings_hide(const dw_topic_settings *settings)
{
	return settings->hide_us > 0 ? settings->hide_us : HIDE;
}

dw_usec settings_retry_first(const dw_topic_settings *settings)
{
	return settings->backoff_first_us ? settings->backoff_first_us : BACKOFF_FIRST;
}

/* The delay is spread over [delay - jitter, delay + jitter], so that timers that failed together do
 * not come back together. */
dw_usec settings_retry_delay(const dw_topic_settings *settings, uint32_t retries, struct rng *rng)
{
	dw_usec most = settings->backoff_max_us ? settings->backoff_max_us : BACKOFF_MAX;
	dw_usec delay = settings_retry_first(settings);
	uint32_t factor = settings->backoff_factor ? settings->backoff_factor : BACKOFF_FACTOR;
	uint32_t percent = settings->jitter_percent ? settings->jitter_percent : JITTER_PERCENT;
	dw_usec jitter;

	for (uint32_t i = 0; i < retries && delay < most && factor > 1; i++)
		delay = usec_mul(delay, factor);
	delay = usec_min(delay, most);
	if (settings->jitter_percent == DW_NO_JITTER)
		return delay;
	jitter = delay / 100 * percent;
	return delay - jitter + (dw_usec)rng_below(rng, (uint64_t)(2 * jitter) + 1);
}

dw_usec settings_retry_delay_max(const dw_topic_settings *settings)
{
	dw_usec most = settings->backoff_max_us ? settings->backoff_max_us : BACKOFF_MAX;

	/* Twice the delay is more than any jitter adds. */
	return usec_mul(usec_max(most, settings_retry_first(settings)), 2);
}
