/* The file of run --config: what is done for the timers of each topic, and what the process has.
 *
 *	[run]
 *	store = sqlite:/var/lib/durawheel/orders/orders.db
 *	[topic order.timeout]
 *	exec = /usr/local/bin/cancel-order --quietly
 *	jobs = 8
 *	[topic *]
 *	line = yes
 */
#ifndef DW_CLI_CONFIG_H
#define DW_CLI_CONFIG_H

#include "cli/run/jobs.h"
#include "cli/options.h"

struct config_topic {
	char name[DW_TOPIC_MAX + 1]; /* the topic; "*" means all others */
	struct job_way way;          /* its words are for free(), and NULL for lines on stdout */
	dw_batch_options batch;      /* the batches; max is 0 if there are none */
};

struct config {
	struct config_topic *topics;
	size_t count;
	char *values[OPTION_COUNT]; /* the values of [run]; NULL if not given */
	size_t lines[OPTION_COUNT]; /* the lines on which these values stand */
};

/* config_read reads the file, and complains of each fault with its line. EXIT_DONE, or EXIT_USAGE.
 * Free it with config_free() in any case. */
int config_read(const char *path, struct config *ret_config);
void config_free(struct config *);

/* config_options gives the options the values of [run], which must outlive them. An option that is
 * given already stays. Returns EXIT_DONE, or complains: the topics of a file have their own
 * commands. */
int config_options(const struct config *, struct options *);

#endif
