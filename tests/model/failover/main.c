/* failover_model: searches the model of a failover; ../README.md says how it is read.
 *
 *	failover_model --all-rules         the worlds of worlds.c; DW_LONG=1: the large ones, too
 *	failover_model --each-rule         each rule left out: its promise must be broken
 *	failover_model --world N [--failovers N] [--delays N] [--resets N] [--restarts N]
 *	               [--kills N] [--puts N] [--cancels N] [--voters N] [--lease N]
 *	               [--ageless N] [--timer N] [--third N] [--settles N] [--strict N]
 *	               [--absent N] [--without RULE]... [--limit N]
 *
 * The last form prints the shortest trace that breaks each promise. Exit 1 if any is broken. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/failover/promises.h"
#include "model/failover/worlds.h"
#include "support/environment.h"

#define LIMIT_MAX 20u

/* What the command line asks for. */
struct question {
	struct model model;
	struct search search;
};

static int usage(void)
{
	fprintf(stderr,
		"usage: failover_model --all-rules | --each-rule\n"
		"       failover_model --world N [--failovers N] [--delays N] [--resets N]\n"
		"           [--restarts N] [--kills N] [--puts N] [--cancels N] [--voters N]\n"
		"           [--lease N] [--ageless N] [--timer N] [--third N] [--settles N]\n"
		"           [--strict N] [--absent N] [--without RULE]... [--limit N]\nrules:");
	for (unsigned rule = 0; rule < RULE_COUNT; rule++)
		fprintf(stderr, " %s", worlds_series.rule_names[rule]);
	(void)fputc('\n', stderr);
	return 2;
}

static bool read_without(struct model *model, const char *name)
{
	unsigned rule = series_rule(&worlds_series, name);

	if (rule == RULE_COUNT)
		return false;
	model->rules &= ~(1u << rule);
	return true;
}

static uint8_t *limit_named(struct model *model, const char *name)
{
	const struct {
		const char *name;
		uint8_t *limit;
	} limits[] = {
	    {"--failovers", &model->limits.failovers},
	    {"--ticks", &model->limits.ticks},
	    {"--answers", &model->limits.answers},
	    {"--acquires", &model->limits.acquires},
	    {"--delays", &model->limits.delays},
	    {"--resets", &model->limits.resets},
	    {"--restarts", &model->limits.restarts},
	    {"--kills", &model->limits.kills},
	    {"--puts", &model->limits.puts},
	    {"--cancels", &model->limits.cancels},
	    {"--live", &model->is_live},
	    {"--k", &model->k},
	    {"--voters", &model->voters},
	    {"--lease", &model->lease},
	    {"--ageless", &model->is_ageless},
	    {"--timer", &model->has_timer},
	    {"--third", &model->has_third},
	    {"--settles", &model->settles},
	    {"--strict", &model->strict},
	    {"--absent", &model->absent},
	};

	for (size_t i = 0; i < sizeof limits / sizeof limits[0]; i++)
		if (strcmp(name, limits[i].name) == 0)
			return limits[i].limit;
	return NULL;
}

static bool read_value(struct question *question, const char *name, const char *value)
{
	uint8_t *limit = limit_named(&question->model, name);
	uint64_t number = 0;

	if (strcmp(name, "--without") == 0)
		return read_without(&question->model, value);
	if (!environment_parse(value, &number)) {
		fprintf(stderr, "%s %s: not a number, decimal or 0x...\n", name, value);
		return false;
	}
	if (strcmp(name, "--world") == 0)
		return worlds_model((unsigned)number, &question->model);
	if (strcmp(name, "--limit") == 0 && number <= UINT32_MAX / 2)
		question->search.limit = (uint32_t)number;
	else if (limit && number <= LIMIT_MAX)
		*limit = (uint8_t)number;
	else
		return false;
	return true;
}

static int search_one(struct question *question)
{
	struct found found = worlds_search(&question->model, &question->search);

	printf("%" PRIu32 " states, %" PRIu64 " transitions, %s;", found.states, found.transitions,
	       found.complete ? "complete" : "stopped at the limit");
	for (unsigned i = 1; i < PROMISE_COUNT; i++)
		if (found.broken[i])
			printf(" %s broken %" PRIu32 " times,", promise_name(i), found.broken[i]);
	printf(" %" PRIu32 " violations\n", found.violations);
	return found.violations > 0;
}

int main(int count, char **values)
{
	struct question question = {.search = {.limit = WORLD_LIMIT, .trace = true}};

	if (count == 2 && strcmp(values[1], "--all-rules") == 0)
		return series_all_rules(&worlds_series, environment_number("DW_LONG", 0) != 0) ? 0
											       : 1;
	if (count == 2 && strcmp(values[1], "--each-rule") == 0)
		return series_each_rule(&worlds_series) ? 0 : 1;
	if (count < 3 || strcmp(values[1], "--world") != 0)
		return usage();
	for (int i = 1; i < count; i++) {
		if (i + 1 >= count || !read_value(&question, values[i], values[i + 1]))
			return usage();
		i++;
	}
	return search_one(&question);
}
