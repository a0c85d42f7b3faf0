#include "model/search/question.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "support/environment.h"

static int usage(const struct question *question)
{
	fprintf(stderr, "usage: %s --all-rules | --each-rule\n       %s%s", question->program,
		question->program, question->world ? " --world N" : "");
	for (size_t i = 0; i < question->option_count; i++)
		fprintf(stderr, " [%s%s]", question->options[i].name,
			question->options[i].flag ? "" : " N");
	fprintf(stderr, " [--without RULE]... [--limit N]\nrules:");
	for (unsigned rule = 0; rule < question->series->rules; rule++)
		fprintf(stderr, " %s", question->series->rule_names[rule]);
	(void)fputc('\n', stderr);
	return 2;
}

static bool leave_out(const struct question *question, const char *name)
{
	unsigned rule = series_rule(question->series, name);

	if (rule == question->series->rules)
		return false;
	*question->rules &= ~(1u << rule);
	return true;
}

static const struct question_option *option_named(const struct question *question, const char *name)
{
	for (size_t i = 0; i < question->option_count; i++)
		if (strcmp(question->options[i].name, name) == 0)
			return &question->options[i];
	return NULL;
}

static bool read_value(const struct question *question, struct search *search, const char *name,
		       const char *value)
{
	const struct question_option *option = option_named(question, name);
	uint64_t number = 0;

	if (strcmp(name, "--without") == 0)
		return leave_out(question, value);
	if (!environment_parse(value, &number)) {
		fprintf(stderr, "%s %s: not a number, decimal or 0x...\n", name, value);
		return false;
	}
	if (question->world && strcmp(name, "--world") == 0)
		return question->world((unsigned)number, question->model);
	if (strcmp(name, "--limit") == 0 && number <= UINT32_MAX / 2)
		search->limit = (uint32_t)number;
	else if (option && option->number && number <= question->most)
		*option->number = (uint8_t)number;
	else
		return false;
	return !question->fits || question->fits(question->model);
}

static bool read_words(const struct question *question, struct search *search, int count,
		       char **values)
{
	for (int i = 1; i < count; i++) {
		const struct question_option *option = option_named(question, values[i]);

		if (option && option->flag) {
			*option->flag = true;
			continue;
		}
		if (i + 1 >= count || !read_value(question, search, values[i], values[i + 1]))
			return false;
		i++;
	}
	return true;
}

static int search_one(const struct question *question, struct search *search)
{
	struct found found = question->search(question->model, search);

	printf("%" PRIu32 " states, %" PRIu64 " transitions, %s;", found.states, found.transitions,
	       found.complete ? "complete" : "stopped at the limit");
	for (unsigned i = 1; i < PROMISES_MAX; i++)
		if (found.broken[i])
			printf(" %s broken %" PRIu32 " times,", question->series->promise_name(i),
			       found.broken[i]);
	printf(" %" PRIu32 " violations\n", found.violations);
	return found.violations > 0;
}

int question_answer(const struct question *question, int count, char **values)
{
	struct search search = {.limit = question->limit, .trace = true};
	bool is_long = environment_number("DW_LONG", 0) != 0;

	if (count == 2 && strcmp(values[1], "--all-rules") == 0)
		return series_all_rules(question->series, is_long) ? 0 : 1;
	if (count == 2 && strcmp(values[1], "--each-rule") == 0)
		return series_each_rule(question->series) ? 0 : 1;
	if (question->world && (count < 3 || strcmp(values[1], "--world") != 0))
		return usage(question);
	if (!read_words(question, &search, count, values))
		return usage(question);
	return search_one(question, &search);
}
