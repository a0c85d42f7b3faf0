/* Says what `run` does for the timers of each topic. The options or the file of --config decide. */
#ifndef DW_CLI_RECIPES_H
#define DW_CLI_RECIPES_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/run/backlog.h"
#include "cli/run/config.h"
#include "cli/run/jobs.h"
#include "cli/options.h"

struct recipe {
	char topic[DW_TOPIC_MAX + 1]; /* the topic; "*" stands for all topics without a recipe */
	struct job_way own;
	struct job_way *way;    /* `own`, or the way of --exec for all topics */
	dw_batch_options batch; /* `max` is 0 for single deliveries */
	bool is_served;         /* false if the topic is not in the file any more */
	bool has_handler;
	bool is_changed; /* the registered handler belongs to an earlier version of the file */
	bool is_full;    /* the backlog is too long, so further timers wait in the store */
	struct backlog backlog; /* used only with a file */
};

/* A topic without a recipe. The recipe "*" has served its timers. */
struct other_topic {
	char topic[DW_TOPIC_MAX + 1];
	bool has_handler; /* the topic has its own handler, because "*" has none at the moment */
};

struct recipes {
	struct recipe **all;
	size_t count;
	struct other_topic *others;
	size_t other_count;
	bool of_file; /* the recipes come from a file, so each topic has its own jobs */
};

/* recipes_of_options adds a recipe for each --topic, or one for all topics. Returns EXIT_DONE, or
 * complains. */
int recipes_of_options(struct recipes *, const struct options *, struct job_way *way,
		       const dw_batch_options *batch);

/* recipes_copy adds a recipe for another topic that the options serve in the same way. Returns NULL
 * if out of memory. */
struct recipe *recipes_copy(struct recipes *, const struct recipe *from, const char *topic);

/* recipes_of_config moves the topics of a file that was read into the recipes. A topic that already
 * had a recipe keeps its running jobs and its backlog. Returns false if out of memory; then nothing
 * has changed. */
bool recipes_of_config(struct recipes *, struct config *);

/* recipes_find returns the recipe with that name, or NULL. recipes_for returns the recipe that
 * serves the topic, which may be "*", or NULL. */
struct recipe *recipes_find(const struct recipes *, const char *topic);
struct recipe *recipes_for(const struct recipes *, const char *topic);

/* recipes_note_other remembers a topic that "*" serves. It remembers at most 256 topics. If out of
 * memory, it does nothing. */
void recipes_note_other(struct recipes *, const char *topic);

/* recipes_waiting returns the number of deliveries in all backlogs. *ret_bytes is the size of their
 * data. */
size_t recipes_waiting(const struct recipes *, size_t *ret_bytes);

void recipes_free(struct recipes *);

#endif
