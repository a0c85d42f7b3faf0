#include "cli/run/log.h"

#include <jansson.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum { STAMP_SIZE = sizeof "2026-11-24T15:04:05.123Z" + 8, LINE_SIZE = 16 * 1024, RECENT = 8 };

#define QUIET DW_SECONDS(10)

/* A message that was written a short time ago. */
struct recent {
	uint64_t hash;
	dw_usec until; /* the steady time until which repetitions are left out */
	size_t count;  /* the number of repetitions that were left out */
};

static struct {
	enum log_form form;
	pthread_mutex_t mutex;
	/* `store` has the messages about the store since its last outage began or ended. `seldom`
	 * has all others. */
	struct memory {
		struct recent recent[RECENT];
		size_t next; /* the index of the entry that is replaced next */
	} seldom, store;
	enum log_repeat told; /* the last kind of message about the store: LOG_TROUBLE or LOG_END */
	size_t lost;          /* the number of messages that stderr did not take */
} the_log = {.mutex = PTHREAD_MUTEX_INITIALIZER};

void log_open(enum log_form form)
{
	the_log.form = form;
}

/* is_journal returns true if stderr leads to the journal. systemd puts the device and inode of the
 * journal's stream into JOURNAL_STREAM. */
static bool is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat stat;

	return stream && sscanf(stream, "%llu:%llu", &device, &inode) == 2 &&
	       fstat(STDERR_FILENO, &stat) == 0 && stat.st_dev == device && stat.st_ino == inode;
}

enum log_form log_form_of_stderr(void)
{
	return is_journal() ? LOG_JOURNAL : LOG_TEXT;
}

/* ---- Repetitions --------------------------------------------------------------------------- */

static uint64_t hash_of(const char *message)
{
	uint64_t hash = 14695981039346656037u; /* the FNV-1a hash */

	for (; *message; message++)
		hash = (hash ^ (unsigned char)*message) * 1099511628211u;
	return hash;
}

static dw_usec steady(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now); /* cannot fail */
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

/* is_new returns false if the same message was written a short time ago. Otherwise *ret_count is
 * the number of repetitions that were left out. */
static bool is_new(struct memory *memory, const char *message, size_t *ret_count)
{
	uint64_t hash = hash_of(message);
	dw_usec now = steady();
	struct recent *found = NULL;

	for (size_t i = 0; i < RECENT; i++)
		if (memory->recent[i].until > 0 && memory->recent[i].hash == hash)
			found = &memory->recent[i];
	if (found && now < found->until) {
		found->count++;
		return false;
	}
	*ret_count = found ? found->count : 0;
	if (!found)
		found = &memory->recent[memory->next++ % RECENT];
	*found = (struct recent){.hash = hash, .until = now + QUIET};
	return true;
}

/* is_written returns false if the message must be left out. Otherwise *ret_count is the number of
 * repetitions that were left out. */
static bool is_written(enum log_repeat repeat, const char *message, size_t *ret_count)
{
	size_t unsaid = 0;

	if (repeat == LOG_EACH)
		return true;
	if (repeat == LOG_SELDOM)
		return is_new(&the_log.seldom, message, ret_count);
	if (repeat != the_log.told)
		the_log.store = (struct memory){.next = 0};
	the_log.told = repeat;
	return is_new(&the_log.store, message, &unsaid);
}

/* ---- Forms --------------------------------------------------------------------------------- */

/* stamp writes the time in UTC with milliseconds. */
static void stamp(char ret_text[STAMP_SIZE])
{
	struct timespec now;
	struct tm parts;
	size_t size;

	(void)clock_gettime(CLOCK_REALTIME, &now); /* cannot fail */
	(void)gmtime_r(&now.tv_sec, &parts);       /* cannot fail in the next million years */
	size = strftime(ret_text, STAMP_SIZE, "%Y-%m-%dT%H:%M:%S", &parts);
	(void)snprintf(ret_text + size, STAMP_SIZE - size, ".%03ldZ", now.tv_nsec / 1000000);
}

static const char *level_name(enum log_level level)
{
	return level == LOG_LEVEL_ERROR ? "error" : level == LOG_LEVEL_WARN ? "warn" : "info";
}

/* put_json writes the message as a JSON object. Returns false if out of memory. */
static bool put_json(char *line, enum log_level level, const char *time, const char *message,
		     size_t count)
{
	json_t *object = json_pack("{s:s, s:s, s:s}", "time", time, "level", level_name(level),
				   "message", message);
	char *text;

	if (object && count > 0)
		(void)json_object_set_new(object, "repeated", json_integer((json_int_t)count));
	text = object ? json_dumps(object, JSON_COMPACT) : NULL;
	if (text)
		(void)snprintf(line, LINE_SIZE, "%s\n", text); /* a message is short enough */
	free(text);
	json_decref(object);
	return text != NULL;
}

static void put_plain(char *line, enum log_level level, const char *time, const char *message,
		      size_t count)
{
	char more[64] = "";
	int size = 0;

	if (count > 0)
		(void)snprintf(more, sizeof more, " (and %zu times before)", count);
	if (the_log.form == LOG_JOURNAL)
		size = snprintf(line, LINE_SIZE, "<%d>%s%s\n", (int)level, message, more);
	else if (the_log.form == LOG_PLAIN)
		size = snprintf(line, LINE_SIZE, "durawheel: %s%s\n", message, more);
	else
		size = snprintf(line, LINE_SIZE, "%s %s durawheel: %s%s\n", time, level_name(level),
				message, more);
	if (size >= LINE_SIZE)
		line[LINE_SIZE - 2] = '\n';
}

static void write_line(enum log_level level, const char *message, size_t count)
{
	char line[LINE_SIZE], time[STAMP_SIZE];

	stamp(time);
	if (the_log.form != LOG_JSON || !put_json(line, level, time, message, count))
		put_plain(line, level, time, message, count);
	/* If it fails, there is no place for a report. */
	(void)!write(STDERR_FILENO, line, strlen(line));
}

/* ---- Writing ------------------------------------------------------------------------------- */

/* is_taken returns false if the write of a line would wait for the reader of stderr. A pipe that is
 * ready takes PIPE_BUF bytes. */
static bool is_taken(void)
{
	struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};

	return poll(&fd, 1, 0) != 0;
}

/* write_if_taken never waits, so that no timer waits for a reader of the log. */
static void write_if_taken(enum log_level level, const char *message, size_t count)
{
	char lost[64];

	if (the_log.lost > 0 && is_taken()) {
		(void)snprintf(lost, sizeof lost, "%zu messages were lost: nobody read this log",
			       the_log.lost); /* the text fits */
		the_log.lost = 0;
		write_line(LOG_LEVEL_WARN, lost, 0);
	}
	if (is_taken())
		write_line(level, message, count);
	else
		the_log.lost++;
}

void log_write(enum log_level level, enum log_repeat repeat, const char *message)
{
	size_t count = 0;

	if (the_log.form == LOG_PLAIN) {
		write_line(level, message, count);
		return;
	}
	(void)pthread_mutex_lock(&the_log.mutex); /* cannot fail, as below */
	if (is_written(repeat, message, &count))
		write_if_taken(level, message, count);
	(void)pthread_mutex_unlock(&the_log.mutex);
}
