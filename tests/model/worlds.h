/* worlds: what may happen in the searches that the tests run, and which search finds that a rule is
 * missing. */
#ifndef MODEL_WORLDS_H
#define MODEL_WORLDS_H

#include "model/model.h"
#include "model/promises.h"
#include "model/search/series.h"

#define WORLD_LIMIT 4000000u /* of states; no world has as many */

/* worlds_search: of this model, which also has a quiet form. */
struct found worlds_search(const struct model *, struct search *);

extern const struct series worlds_series;

#endif
