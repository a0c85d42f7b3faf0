/* series: the searches that the tests run. With all rules no world breaks a promise, and without
 * any one rule the world that a table names breaks one. Each result is a line. */
#ifndef MODEL_SEARCH_SERIES_H
#define MODEL_SEARCH_SERIES_H

#include "model/search/search.h"

/* Which search shows that a rule is missing, and what is broken then. */
struct need {
	unsigned world, promise;
};

/* What a model tells of its worlds. The first `short_worlds` are those of a short series. run: the
 * search in a world, without the rules of the mask. */
struct series {
	unsigned short_worlds, worlds, rules;
	const char *const *rule_names;
	const struct need *needs; /* of each rule */
	const char *(*words)(unsigned world);
	const char *(*promise_name)(unsigned promise);
	const char *(*promise_words)(unsigned promise);
	struct found (*run)(unsigned world, uint32_t without, struct search *);
};

/* series_all_rules: nothing is broken. long_too: in the large worlds, too. */
bool series_all_rules(const struct series *, bool long_too);

/* series_each_rule: each rule is needed. */
bool series_each_rule(const struct series *);

/* series_rule: the rule of that name, or the number of rules if there is none. */
unsigned series_rule(const struct series *, const char *name);

/* series_show prints the shortest traces without the rule of that name. False: there is none. */
bool series_show(const struct series *, const char *name);

#endif
