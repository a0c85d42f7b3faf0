/* journal_model: searches the model of the journal's protocol; README.md says how it is read.
 *
 *	journal_model --all-rules          the worlds of worlds.c; DW_LONG=1: the large ones, too
 *	journal_model --each-rule          each rule left out: its promise must be broken
 *	journal_model [--policy hold|fire] [--faults N] [--puts N] [--cancels N] [--client-puts N]
 *	              [--client-cancels N] [--unknown] [--without RULE]... [--limit N]
 *
 * The last form prints the shortest trace that breaks each promise. Exit 1 if any is broken. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "model/worlds.h"
#include "support/environment.h"

#define FAULTS_MAX 4u /* each may cost the owner and the standby a fence */

static int usage(void)
{
	fprintf(stderr, "usage: journal_model --all-rules | --each-rule\n"
			"       journal_model [--policy hold|fire] [--faults N] [--puts N] "
			"[--cancels N]\n"
			"           [--client-puts N] [--client-cancels N] [--unknown] "
			"[--without RULE]... [--limit N]\n"
			"N: at most 3 puts together, 4 faults\nrules:");
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

/* What the command line asks for. */
struct question {
	struct model model;
	struct search search;
};

static uint8_t *limit_named(struct spent *limits, const char *name)
{
	if (strcmp(name, "--faults") == 0)
		return &limits->faults;
	if (strcmp(name, "--puts") == 0)
		return &limits->puts;
	if (strcmp(name, "--cancels") == 0)
		return &limits->cancels;
	if (strcmp(name, "--client-puts") == 0)
		return &limits->client_puts;
	return strcmp(name, "--client-cancels") == 0 ? &limits->client_cancels : NULL;
}

static bool read_number(struct question *question, const char *name, const char *value)
{
	uint8_t *limit = limit_named(&question->model.limits, name);
	uint64_t number = 0;

	if (!environment_parse(value, &number)) {
		fprintf(stderr, "%s %s: not a number, decimal or 0x...\n", name, value);
		return false;
	}
	if (limit && number <= FAULTS_MAX)
		*limit = (uint8_t)number;
	else if (strcmp(name, "--limit") == 0 && number <= UINT32_MAX / 2)
		question->search.limit = (uint32_t)number;
	else
		return false;
	return question->model.limits.puts + question->model.limits.client_puts < (int)GENERATIONS;
}

static bool read_value(struct question *question, const char *name, const char *value)
{
	if (strcmp(name, "--without") == 0)
		return read_without(&question->model, value);
	if (strcmp(name, "--policy") != 0)
		return read_number(question, name, value);
	question->model.fire = strcmp(value, "fire") == 0;
	return question->model.fire || strcmp(value, "hold") == 0;
}

static int search_one(struct question *question)
{
	struct found found = worlds_search(&question->model, &question->search);

	printf("%" PRIu32 " states, %" PRIu64 " transitions, %s;", found.states, found.transitions,
	       found.complete ? "complete" : "stopped at the limit");
	for (unsigned i = 1; i < PROMISE_COUNT; i++) {
		if (found.broken[i])
			printf(" %s broken %" PRIu32 " times,", promise_name(i), found.broken[i]);
	}
	printf(" %" PRIu32 " violations\n", found.violations);
	return found.violations > 0;
}

int main(int count, char **values)
{
	struct question question = {
	    .model = {.rules = RULES_ALL, .limits = {1, 1, 1, 0, 1}},
	    .search = {.limit = WORLD_LIMIT, .trace = true},
	};

	if (count == 2 && strcmp(values[1], "--all-rules") == 0)
		return series_all_rules(&worlds_series, environment_number("DW_LONG", 0) != 0) ? 0
											       : 1;
	if (count == 2 && strcmp(values[1], "--each-rule") == 0)
		return series_each_rule(&worlds_series) ? 0 : 1;
	for (int i = 1; i < count; i++) {
		if (strcmp(values[i], "--unknown") == 0) {
			question.model.unknown = true;
			continue;
		}
		if (i + 1 >= count || !read_value(&question, values[i], values[i + 1]))
			return usage();
		i++;
	}
	return search_one(&question);
}
