/* Reads the file of `run --config`. [run] has the settings of the process. Each other section says
 * what to do for the timers of a topic:
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
	char name[DW_TOPIC_MAX + 1]; /* the topic; "*" stands for all topics without a section */
	struct job_way way;     /* its words are freed by config_free(); NULL for lines on stdout */
	dw_batch_options batch; /* how to gather batches; `max` is 0 for single deliveries */
};

struct config {
	struct config_topic *topics;
	size_t count;
	char *values[OPTION_COUNT]; /* the values in [run]; NULL if a key is missing */
	size_t lines[OPTION_COUNT]; /* the line numbers of these values */
};

/* config_read reads the file. It complains about each fault and names its line. Returns EXIT_DONE
 * or EXIT_USAGE. Call config_free() in both cases. */
int config_read(const char *path, struct config *ret_config);
void config_free(struct config *);

/* config_options copies the values of [run] into the options, unless the command line gives the
 * option. `config` must outlive the options. It refuses options about commands on the command line,
 * because each topic in the file has its own. Returns EXIT_DONE, or complains. */
int config_options(const struct config *, struct options *);

#endif
