/* The options and words of the command line.
 *
 * All commands share one table of options. An option may therefore stand before or after the name
 * of the command, and means the same for each of them. A later check refuses options that the
 * command does not take. getopt_long() does the parsing. Abbreviated names are refused, because an
 * option of a later version could change their meaning. */
#ifndef DW_CLI_OPTIONS_H
#define DW_CLI_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/log.h"
#include "durawheel/durawheel.h"

enum option_id {
	OPT_STORE,
	OPT_NAME,
	OPT_SHARDS,
	OPT_HELP,
	OPT_VERSION,
	OPT_JSON,
	OPT_TOPIC,
	OPT_ID,
	OPT_IN,
	OPT_AT,
	OPT_DATA,
	OPT_DATA_FILE,
	OPT_LATE_AFTER,
	OPT_NEW,
	OPT_LIMIT,
	OPT_UNTIL_IDLE,
	OPT_STANDBY,
	OPT_ALL,
	OPT_YES,
	OPT_EXEC,
	OPT_EXEC_OUTPUT,
	OPT_JOBS,
	OPT_TIMEOUT,
	OPT_JOURNAL,
	OPT_OUTAGE,
	OPT_LEASE,
	OPT_BATCH,
	OPT_WAIT,
	OPT_CRON,
	OPT_EVERY,
	OPT_ZONE,
	OPT_FROM,
	OPT_UNTIL,
	OPT_EXCEPT,
	OPT_COUNT_SHOWN,
	OPT_TIMES,
	OPT_MISSED,
	OPT_MISSED_AFTER,
	OPT_MISSED_AGE,
	OPT_RECURRING,
	OPT_QUEUE,
	OPT_NO_QUEUE,
	OPT_MAX,
	OPT_OVERFLOW,
	OPT_EXPIRE,
	OPT_HIDE,
	OPT_RETRIES,
	OPT_BACKOFF,
	OPT_BACKOFF_MAX,
	OPT_FACTOR,
	OPT_JITTER,
	OPT_TIME_LIMIT,
	OPT_INTAKE,
	OPT_INTAKE_ONLY,
	OPT_RETRY,
	OPT_DEAD,
	OPT_WHY,
	OPT_TOUCH,
	OPT_HTTP,
	OPT_TOKEN_FILE,
	OPT_ALLOW_HOST,
	OPT_SHOW_DATA,
	OPT_PREFIX,
	OPT_DUE_FROM,
	OPT_DUE_BEFORE,
	OPT_DRY_RUN,
	OPT_DUE_EARLIEST,
	OPT_DUE_LATEST,
	OPT_DATA_FIRST,
	OPT_WAIT_MAX,
	OPT_ONCE,
	OPT_CONFIG,
	OPT_CHECK,
	OPT_STOP_PATIENCE,
	OPT_LOG,
	OPT_KEEP,
	OPT_COUNT
};
/* OPTIONS: the options of a command. */
#define OPTIONS(...) ((const enum option_id[]){__VA_ARGS__, OPT_COUNT})

struct options {
	const char *value[OPT_COUNT]; /* NULL: not given; "" for a given flag */
	const char **topics;          /* every --topic; value[OPT_TOPIC] is the last one */
	size_t topic_count;
	const char **hosts; /* every --allow-host; value[OPT_ALLOW_HOST] is the last one */
	size_t host_count;
	const char **words; /* the name of the command and its arguments */
	size_t word_count;
};

struct command {
	const char *name;
	const char *summary;  /* one line, a verb first */
	const char *synopsis; /* the arguments after the name */
	const char *help;     /* whole lines */
	const char *example;
	const enum option_id *options; /* its own; NULL: it has only the global ones */
	size_t words_min;              /* the least number of arguments after the name */
	size_t words_max;
	int (*run)(const struct options *);
	bool is_beside; /* the overview names it only beside another command */
};

/* options_parse: EXIT_DONE, or complains. Free with options_free() in any case. */
int options_parse(int argc, char **argv, struct options *ret_options);
void options_free(struct options *);

/* options_name returns the name of an option, without dashes. */
const char *options_name(enum option_id);

/* options_check refuses options and words that command does not take. EXIT_DONE, or complains. */
int options_check(const struct options *, const struct command *);

/* options_check_name checks a namespace, which becomes part of Redis keys. what says where it came
 * from. EXIT_DONE, or complains. */
int options_check_name(const char *what, const char *name);

/* options_shards: the value of --shards, or 0 if it is not given. EXIT_DONE, or complains. */
int options_shards(const struct options *, unsigned *ret_shards);

/* options_duration and options_time read the value of an option that was given. options_count reads
 * a whole number of at least 1. EXIT_DONE, or they complain. */
int options_duration(const struct options *, enum option_id, dw_usec *ret_duration);
int options_time(const struct options *, enum option_id, dw_usec *ret_time);
int options_count(const struct options *, enum option_id, size_t *ret_count);

/* options_log: the form of --log, or that for stderr. EXIT_DONE, or complains. */
int options_log(const struct options *, enum log_form *ret_form);

#endif
