#include "cli/run/recipes.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/errors.h"

enum { OTHERS_MAX = 256 };

struct recipe *recipes_find(const struct recipes *recipes, const char *topic)
{
	for (size_t i = 0; i < recipes->count; i++)
		if (strcmp(recipes->all[i]->topic, topic) == 0)
			return recipes->all[i];
	return NULL;
}

struct recipe *recipes_for(const struct recipes *recipes, const char *topic)
{
	struct recipe *recipe = recipes_find(recipes, topic);

	if (!recipe || !recipe->is_served)
		recipe = recipes_find(recipes, "*");
	return recipe && recipe->is_served ? recipe : NULL;
}

/* add adds a recipe that serves no topic yet. Returns NULL if out of memory. */
static struct recipe *add(struct recipes *recipes, const char *topic)
{
	struct recipe **all = realloc(recipes->all, (recipes->count + 1) * sizeof(struct recipe *));
	struct recipe *recipe;

	if (!all)
		return NULL;
	recipes->all = all;
	recipe = calloc(1, sizeof *recipe);
	if (!recipe)
		return NULL;
	/* dw_on() checks the length. */
	(void)snprintf(recipe->topic, sizeof recipe->topic, "%s", topic);
	recipe->way = &recipe->own;
	all[recipes->count++] = recipe;
	return recipe;
}

int recipes_of_options(struct recipes *recipes, const struct options *options, struct job_way *way,
		       const dw_batch_options *batch)
{
	for (size_t i = 0; i < options->topic_count || i == 0; i++) {
		const char *topic = options->topic_count > 0 ? options->topics[i] : "*";
		struct recipe *recipe = recipes_find(recipes, topic);

		if (!*topic || strlen(topic) > DW_TOPIC_MAX)
			return complain(EXIT_USAGE, "--topic %.300s: write 1 to %d bytes", topic,
					DW_TOPIC_MAX);
		if (!recipe)
			recipe = add(recipes, topic);
		if (!recipe)
			return complain(EXIT_FAILED, "out of memory");
		recipe->way = way;
		recipe->batch = *batch;
		recipe->is_served = true;
	}
	return EXIT_DONE;
}

struct recipe *recipes_copy(struct recipes *recipes, const struct recipe *from, const char *topic)
{
	struct recipe *recipe = add(recipes, topic);

	if (recipe) {
		recipe->way = from->way;
		recipe->batch = from->batch;
		recipe->is_served = true;
	}
	return recipe;
}

/* update changes a recipe to the settings that the file now has for its topic. Jobs that run
 * already still count. The recipe takes ownership of the command's words. */
static void update(struct recipe *recipe, struct config_topic *topic)
{
	size_t running = recipe->own.running;

	free(recipe->own.words);
	recipe->own = topic->way;
	recipe->own.running = running;
	topic->way.words = NULL;
	if (recipe->batch.max != topic->batch.max || recipe->batch.wait_us != topic->batch.wait_us)
		recipe->is_changed = true;
	recipe->batch = topic->batch;
	recipe->is_served = true;
}

bool recipes_of_config(struct recipes *recipes, struct config *config)
{
	for (size_t i = 0; i < config->count; i++)
		if (!recipes_find(recipes, config->topics[i].name) &&
		    !add(recipes, config->topics[i].name))
			return false;
	recipes->of_file = true;
	for (size_t i = 0; i < recipes->count; i++)
		recipes->all[i]->is_served = false;
	for (size_t i = 0; i < config->count; i++) {
		struct recipe *recipe = recipes_find(recipes, config->topics[i].name);

		if (recipe) /* an earlier loop has made sure that it exists */
			update(recipe, &config->topics[i]);
	}
	return true;
}

void recipes_note_other(struct recipes *recipes, const char *topic)
{
	struct other_topic *others = recipes->others;

	for (size_t i = 0; i < recipes->other_count; i++)
		if (strcmp(others[i].topic, topic) == 0)
			return;
	if (recipes->other_count == OTHERS_MAX)
		return;
	others = realloc(others, (recipes->other_count + 1) * sizeof *others);
	if (!others)
		return;
	recipes->others = others;
	others += recipes->other_count++;
	*others = (struct other_topic){.has_handler = false};
	(void)snprintf(others->topic, sizeof others->topic, "%s", topic); /* the text always fits */
}

size_t recipes_waiting(const struct recipes *recipes, size_t *ret_bytes)
{
	size_t count = 0;

	*ret_bytes = 0;
	for (size_t i = 0; i < recipes->count; i++) {
		count += recipes->all[i]->backlog.count;
		*ret_bytes += recipes->all[i]->backlog.bytes;
	}
	return count;
}

void recipes_free(struct recipes *recipes)
{
	for (size_t i = 0; i < recipes->count; i++) {
		backlog_drop(&recipes->all[i]->backlog);
		free(recipes->all[i]->own.words);
		free(recipes->all[i]);
	}
	free(recipes->all);
	free(recipes->others);
}
