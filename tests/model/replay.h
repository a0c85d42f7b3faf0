/* replay: what the script does that applies a row of the journal in Redis. */
#ifndef MODEL_REPLAY_H
#define MODEL_REPLAY_H

#include "model/model.h"
#include "model/promises.h"

/* replay_row: by the owner, or by a process that is a client now (J15), which leaves word in the
 * inbox. The row stays: the caller deletes it. */
enum promise replay_row(const struct model *, struct state *, bool as_owner);

#endif
