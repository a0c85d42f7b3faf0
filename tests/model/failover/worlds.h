/* worlds: what may happen in the searches that the tests run, and which search finds that a rule is
 * missing. */
#ifndef MODEL_FAILOVER_WORLDS_H
#define MODEL_FAILOVER_WORLDS_H

#include "model/failover/model.h"
#include "model/search/series.h"

#define WORLD_LIMIT 4000000u /* of states; no world has as many */

extern const struct series worlds_series;

/* worlds_model: the world with that number, with all rules. False: there is none. */
bool worlds_model(unsigned world, struct model *ret_model);

/* worlds_search: of this model. */
struct found worlds_search(const struct model *, struct search *);

#endif
