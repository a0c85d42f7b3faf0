/* JSON objects about timers, topics and the store, for the command's --json and for the web server.
 * The functions that make an object return NULL if out of memory. */
#ifndef DW_CLI_OBJECTS_H
#define DW_CLI_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/topic.h"

json_t *object_of_status(const dw_store_status *);
json_t *object_of_topic(const dw_topic_info *);

/* waits_name returns a word for programs that says why due timers do not start. waits_words returns
 * words for people. Both also answer for a reason that only a newer owner knows. */
const char *waits_name(uint64_t waits);
const char *waits_words(uint64_t waits);

/* The facts about a timer that decide whether it should have started. */
struct due_timer {
	dw_usec due;
	uint64_t generation;
	dw_state state;
	bool recurs, is_zoneless; /* is_zoneless: this machine does not know the zone of its rule */
};

/* waits_note returns these facts about a timer. waits_reason returns why the timer does not start:
 * a word for programs, then words for people. Returns NULL if the timer runs, or if the reason is
 * unknown. If topic is NULL, nobody owns the store. */
struct due_timer waits_note(const dw_info *);
const char *const *waits_reason(const struct due_timer *, const dw_topic_info *topic);

/* pause_name returns "no", "delivery", "intake" or "both". */
const char *pause_name(unsigned paused);

#endif
