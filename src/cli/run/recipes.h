/* What run does for the timers of each topic, from its options or from its file. */
#ifndef DW_CLI_RECIPES_H
#define DW_CLI_RECIPES_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/run/backlog.h"
#include "cli/run/config.h"
#include "cli/run/jobs.h"
#include "cli/options.h"

struct recipe {
	char topic[DW_TOPIC_MAX + 1]; /* "*": all others */
	struct job_way own;
	struct job_way *way;    /* its own, or that of the options for all topics */
	dw_batch_options batch; /* max 0: one at a time */
	bool is_served;         /* false: the topic has left the file */
	bool has_handler;
	bool is_changed;        /* the handler that it has is of an earlier file */
	bool is_full;           /* too many wait in the backlog: the others wait in the store */
	struct backlog backlog; /* of a file only */
};

/* A topic that "*" has served. */
struct other_topic {
	char topic[DW_TOPIC_MAX + 1];
	bool has_handler; /* of its own, while "*" has none */
};

struct recipes {
	struct recipe **all;
	size_t count;
	struct other_topic *others;
	size_t other_count;
	bool of_file; /* each topic has its own jobs */
};

/* recipes_of_options: way and batch for the topics of --topic, or for all. Returns EXIT_DONE, or
 * complains. */
int recipes_of_options(struct recipes *, const struct options *, struct job_way *way,
		       const dw_batch_options *batch);

/* recipes_copy: another topic that the options serve in the same way. Returns NULL if out of
 * memory. */
struct recipe *recipes_copy(struct recipes *, const struct recipe *from, const char *topic);

/* recipes_of_config takes over the topics of a file, and empties it. A topic that was there before
 * keeps its running jobs and its backlog. False: out of memory, and nothing was changed. */
bool recipes_of_config(struct recipes *, struct config *);

/* recipes_find returns the recipe of that name, or NULL. recipes_for: what serves the topic; if
 * nothing does, NULL. */
struct recipe *recipes_find(const struct recipes *, const char *topic);
struct recipe *recipes_for(const struct recipes *, const char *topic);

/* recipes_note_other remembers a topic that "*" serves: 256 of them. Without memory it does not. */
void recipes_note_other(struct recipes *, const char *topic);

/* recipes_waiting: deliveries in all backlogs, and their bytes. */
size_t recipes_waiting(const struct recipes *, size_t *ret_bytes);

void recipes_free(struct recipes *);

#endif
