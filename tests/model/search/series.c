#include "model/search/series.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

bool series_all_rules(const struct series *series, bool long_too)
{
	bool kept = true;

	for (unsigned world = 0; world < (long_too ? series->worlds : series->short_worlds);
	     world++) {
		struct search search = {.trace = true};
		struct found found = series->run(world, 0, &search);

		printf("%-48s %8" PRIu32 " states, %8" PRIu64 " transitions: %s\n",
		       series->words(world), found.states, found.transitions,
		       found.violations ? "BROKEN"
		       : found.complete ? "all promises are kept"
					: "NOT COMPLETE");
		kept = kept && found.complete && !found.violations;
	}
	return kept;
}

bool series_each_rule(const struct series *series)
{
	bool all_break = true;

	for (unsigned rule = 0; rule < series->rules; rule++) {
		const struct need *need = &series->needs[rule];
		struct search search = {.until = need->promise};
		struct found found = series->run(need->world, 1u << rule, &search);
		bool is_broken = found.broken[need->promise];

		printf("without %-15s %-48s %8" PRIu32 " states: %s: %s\n",
		       series->rule_names[rule], series->words(need->world), found.states,
		       series->promise_name(need->promise),
		       is_broken ? series->promise_words(need->promise) : "NOT BROKEN");
		all_break = all_break && is_broken;
	}
	return all_break;
}

unsigned series_rule(const struct series *series, const char *name)
{
	unsigned rule = 0;

	while (rule < series->rules && strcmp(series->rule_names[rule], name) != 0)
		rule++;
	return rule;
}

bool series_show(const struct series *series, const char *name)
{
	unsigned rule = series_rule(series, name);
	struct search search = {.trace = true};

	if (rule == series->rules)
		return false;
	search.until = series->needs[rule].promise;
	(void)series->run(series->needs[rule].world, 1u << rule, &search);
	return true;
}
