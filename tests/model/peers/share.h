/* share: what a member makes of the list that it has read. */
#ifndef MODEL_PEERS_SHARE_H
#define MODEL_PEERS_SHARE_H

#include "model/peers/model.h"

/* share_count: how many shards are in the set. */
unsigned share_count(uint8_t set);

/* share_read: the member learns its share, and which of the free shards it takes. */
void share_read(const struct model *, struct state *, unsigned member);

#endif
