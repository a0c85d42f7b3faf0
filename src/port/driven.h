/* A store without a thread is driven by its user. These functions call the optional members of a
 * store's class. A missing member has a default that never gets in the way. */
#ifndef DW_PORT_DRIVEN_H
#define DW_PORT_DRIVEN_H

#include <stdbool.h>

#include "durawheel/store.h"

/* driven_descriptor: -1: none. */
int driven_descriptor(const dw_store *);
void driven_turn(dw_store *, dw_usec steady);

/* driven_due, driven_lease: on the steady clock; DW_NEVER for a store that does not say. */
dw_usec driven_due(const dw_store *);
dw_usec driven_lease(const dw_store *);

/* driven_window: how many ordinary operations may be under way. */
size_t driven_window(const dw_store *);

/* driven_patience: how long a caller waits at most; DW_NEVER: without end. */
dw_usec driven_patience(const dw_store *);

/* driven_may_lose: it tells of losses; driven_is_lost: of the id's part. */
bool driven_may_lose(const dw_store *);
bool driven_is_lost(const dw_store *, const char *id);

/* driven_is_cut_off: the id's part is; driven_take_part: false: none to tell of. */
bool driven_is_cut_off(const dw_store *, const char *id);
bool driven_take_part(dw_store *, dw_part *ret_part);

/* driven_began tells a store that wants to know that the timer starts. */
void driven_began(dw_store *, const char *id);

/* driven_take_event: false: none. driven_journal: zeros of a store without one. */
bool driven_take_event(dw_store *, dw_store_event *ret_event);
void driven_journal(const dw_store *, dw_journal_stats *ret_stats);

/* driven_keeps_topics: it knows TOPIC_SET and the operations behind it. */
bool driven_keeps_topics(const dw_store *);

/* driven_settles_messages: it knows dw_op.message. */
bool driven_settles_messages(const dw_store *);

/* driven_look_every: 0: the store does not say. driven_calls_takes: it tells which take a message
 * is for. driven_take_call: false: none was called. */
dw_usec driven_look_every(const dw_store *);
bool driven_calls_takes(const dw_store *);
bool driven_take_call(dw_store *, dw_take_call *ret_call);

/* driven_loads_by_generation: it knows DW_OP_BY_GENERATION. */
bool driven_loads_by_generation(const dw_store *);

/* driven_delay: as delay() there; "" of a store that does not say. */
void driven_delay(const dw_store *, char *ret_words, size_t size);

/* driven_trouble: as trouble() there; DW_OK of a store that does not say. */
int driven_trouble(const dw_store *, char *ret_words, size_t size);

#endif
