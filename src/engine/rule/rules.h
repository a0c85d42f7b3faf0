/* The rules of recurring timers, parsed and with their zones loaded. Timers often share a rule, so
 * the rules that were used last are kept. */
#ifndef DW_ENGINE_RULES_H
#define DW_ENGINE_RULES_H

#include <stdbool.h>

#include "calendar/next.h"
#include "timer/record.h"

#define RULES_KEPT 256u
#define ZONES_NOTED_MAX 64u /* at most this many unknown zones are noted */

struct engine;
struct timer;

struct rule_entry {
	dw_rule *rule;
	struct calendar calendar;
	struct zone_stamp stamp; /* the state of the zone's file when it was read */
	char text[];
};

/* A zone that this machine does not know, and one of its timers. Thousands of timers may use the
 * zone, and each is tried once an hour. So one event an hour reports all of them. */
struct unknown_zone {
	struct unknown_zone *next;
	uint64_t count;  /* timers of the zone that were loaded or due since the last event */
	dw_usec tell_at; /* steady; when the zone is reported next */
	char id[DW_ID_SIZE];
	char topic[DW_TOPIC_MAX + 1];
	char message[DW_MESSAGE_SIZE]; /* names the zone */
};

struct rules {
	struct rule_entry *kept[RULES_KEPT]; /* the hash of the rule's text is the index */
	dw_usec look_at;                     /* steady; when the zones' files are looked at again */
	struct unknown_zone *unknown;        /* the zones of timers that were loaded or due */
	bool unfinished; /* a zone has changed, and some timers were not looked at */
	bool in_use;     /* this engine has, or had, a recurring timer */
};

void rules_free(struct engine *);

/* rules_get finds the rule by its text, and sets the start and the end of this timer. The entry is
 * valid until the next call. It returns DW_OK, DW_ENOMEM or DW_EINVAL. With DW_EINVAL ret_message
 * says why: mostly the zone is not known. */
int rules_get(struct engine *, const struct record_rule *, struct rule_entry **ret_entry,
	      char *ret_message);

/* rules_changed looks at the files of all zones, and forgets rules whose file has changed. It
 * returns true if there are such rules. */
bool rules_changed(struct engine *);

/* rules_note_unknown counts a timer whose zone is not known. It returns false if there is no
 * memory, or if there are too many zones. rules_forget_unknown frees all counts. */
bool rules_note_unknown(struct engine *, const struct timer *, const char *message);
void rules_forget_unknown(struct engine *);

#endif
