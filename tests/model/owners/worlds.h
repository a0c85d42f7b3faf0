/* worlds: what may happen in the searches that the tests run, and which search finds that a rule is
 * missing. */
#ifndef MODEL_OWNERS_WORLDS_H
#define MODEL_OWNERS_WORLDS_H

#include "model/owners/model.h"
#include "model/search/search.h"

#define WORLD_LIMIT 20000000u /* of states; no world has as many */

const char *rule_name(enum rule);

/* rule_find: RULE_COUNT if there is no such rule. */
enum rule rule_find(const char *name);

/* worlds_model: the world with that number, with all rules. False: there is none. */
bool worlds_model(unsigned world, struct model *ret_model);

/* worlds_search: of this model, which also has a quiet form. */
struct found worlds_search(const struct model *, struct search *);

/* worlds_all_rules: with all rules, nothing is broken. long_too: in the large worlds, too. */
bool worlds_all_rules(bool long_too);

/* worlds_each_rule: without any one rule, the promise that the table names is broken. */
bool worlds_each_rule(void);

#endif
