/* The JSON objects of what is stored, for the command's --json and for the web server. Each
 * function returns NULL if there is no memory. */
#ifndef DW_CLI_OBJECTS_H
#define DW_CLI_OBJECTS_H

#include <jansson.h>
#include <stdbool.h>

#include "durawheel/topic.h"

json_t *object_of_status(const dw_store_status *);
json_t *object_of_topic(const dw_topic_info *);

/* waits_name and waits_words say why timers that are due do not start: as a word for programs, and
 * for people. A number that only a newer owner knows also has words. */
const char *waits_name(uint64_t waits);
const char *waits_words(uint64_t waits);

/* What says whether a timer that is due waits. */
struct due_timer {
	dw_usec due;
	uint64_t generation;
	dw_state state;
	bool recurs, is_zoneless; /* this machine does not know its zone */
};

/* waits_reason: why such a timer does not start, as a word for programs and as words for people.
 * NULL: it runs, or nobody knows why. topic: its topic; NULL: there is no such topic, because
 * nobody owns the store. */
struct due_timer waits_note(const dw_info *);
const char *const *waits_reason(const struct due_timer *, const dw_topic_info *topic);

/* pause_name returns "no", "delivery", "intake" or "both". */
const char *pause_name(unsigned paused);

#endif
