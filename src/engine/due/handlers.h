/* The handlers of topics. */
#ifndef DW_ENGINE_HANDLERS_H
#define DW_ENGINE_HANDLERS_H

struct engine;
struct topic;

/* handlers_release takes the timers that wait for a batch back to the fire schedule: their topic
 * has another handler, or other settings. */
void handlers_release(struct engine *, struct topic *);

#endif
