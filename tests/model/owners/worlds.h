/* worlds: what may happen in the searches that the tests run, and which search finds that a rule is
 * missing. */
#ifndef MODEL_OWNERS_WORLDS_H
#define MODEL_OWNERS_WORLDS_H

#include "model/owners/model.h"
#include "model/search/series.h"

#define WORLD_LIMIT 20000000u /* of states; no world has as many */

/* worlds_model: the world with that number, with all rules. False: there is none. */
bool worlds_model(unsigned world, struct model *ret_model);

/* worlds_search: of this model, which also has a quiet form. */
struct found worlds_search(const struct model *, struct search *);

extern const struct series worlds_series;

#endif
