/* What a peer reports to its engine about all peers. */
#ifndef DW_STORE_REDIS_SHARING_H
#define DW_STORE_REDIS_SHARING_H

#include "durawheel/store.h"

struct member_list;
struct members;
struct redis_store;

/* sharing_read_zones reads the version of this machine's time zone data, at most once in
 * ZONES_EVERY. sharing_note_members notes what a new list says. */
void sharing_read_zones(struct redis_store *);
void sharing_note_members(struct members *, const struct member_list *);

/* sharing_of returns what the engine wants to know of the last list. */
dw_sharing sharing_of(const struct redis_store *);

#endif
