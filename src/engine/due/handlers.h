/* The handlers of topics. */
#ifndef DW_ENGINE_HANDLERS_H
#define DW_ENGINE_HANDLERS_H

struct engine;
struct topic;

/* handlers_release moves the timers that wait for a batch back to the fire schedule, because their
 * topic has another handler, or other settings. */
void handlers_release(struct engine *, struct topic *);

#endif
