/* worlds: what may happen in the searches that the tests run, and which search finds that a rule is
 * missing. */
#ifndef MODEL_PEERS_WORLDS_H
#define MODEL_PEERS_WORLDS_H

#include <stdbool.h>
#include <stdint.h>

/* worlds_all_rules: with all rules, nothing is broken. long_too: in the large worlds, too. */
bool worlds_all_rules(bool long_too);

/* worlds_each_rule: without any one rule, the promise that the table names is broken. */
bool worlds_each_rule(void);

/* worlds_show prints the shortest traces without the rule of that name. False: there is none. */
bool worlds_show(const char *name);

#endif
