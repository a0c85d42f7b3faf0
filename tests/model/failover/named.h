/* named: what a party makes of the answers of the voters. */
#ifndef MODEL_FAILOVER_NAMED_H
#define MODEL_FAILOVER_NAMED_H

#include "model/failover/model.h"

/* named_left: for how many ticks the last majority that named the server still counts. */
uint8_t named_left(const struct model *, const struct state *, unsigned party, uint8_t server);

/* named_long: a majority has named the server for K. */
bool named_long(const struct model *, const struct state *, unsigned party, uint8_t server);

/* named_now: the party knows more about the voters, or a tick has passed. */
void named_now(const struct model *, struct state *, unsigned party);

/* named_forget drops what nothing depends on any more, so that fewer states differ. */
void named_forget(const struct model *, struct state *, unsigned party);

#endif
