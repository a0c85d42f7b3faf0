/* worlds: what may happen in the searches that the tests run, and which search finds that a rule is
 * missing. */
#ifndef MODEL_PEERS_WORLDS_H
#define MODEL_PEERS_WORLDS_H

#include "model/search/series.h"

extern const struct series worlds_series;

#endif
