/* owners_model: searches the model of the ownership of a shard; ../README.md says how it is read.
 *
 *	owners_model --all-rules           the worlds of worlds.c; DW_LONG=1: the large ones, too
 *	owners_model --each-rule           each rule left out: its promise must be broken
 *	owners_model --world N [--faults N] [--saves N] [--releases N] [--puts N] [--cancels N]
 *	             [--nexts N] [--jumps N] [--gives N] [--losses N] [--behind] [--long]
 *	             [--without RULE]... [--limit N]
 *
 * The last form prints the shortest trace that breaks each promise. Exit 1 if any is broken. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/owners/promises.h"
#include "model/owners/worlds.h"
#include "support/environment.h"

#define LIMIT_MAX 4u

/* What the command line asks for. */
struct question {
	struct model model;
	struct search search;
};

static int usage(void)
{
	fprintf(stderr,
		"usage: owners_model --all-rules | --each-rule\n"
		"       owners_model --world N [--faults N] [--saves N] [--releases N] "
		"[--puts N]\n"
		"           [--cancels N] [--nexts N] [--jumps N] [--permits N] [--behind] "
		"[--long]\n"
		"           [--gives N] [--losses N] [--without RULE]... [--limit N]\nrules:");
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
	    {"--faults", &model->limits.faults},     {"--saves", &model->limits.saves},
	    {"--releases", &model->limits.releases}, {"--puts", &model->limits.puts},
	    {"--cancels", &model->limits.cancels},   {"--nexts", &model->limits.nexts},
	    {"--jumps", &model->limits.jumps},       {"--permits", &model->permits},
	    {"--gives", &model->limits.gives},       {"--losses", &model->limits.losses},
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
		bool is_behind = strcmp(values[i], "--behind") == 0;
		bool is_long = strcmp(values[i], "--long") == 0;

		question.model.is_behind = question.model.is_behind || is_behind;
		question.model.is_long = question.model.is_long || is_long;
		if (is_behind || is_long)
			continue;
		if (i + 1 >= count || !read_value(&question, values[i], values[i + 1]))
			return usage();
		i++;
	}
	return search_one(&question);
}
