/* A message with a list of troubles. Only whole troubles are in the list; "; and 2 more" counts
 * those that do not fit. */
#ifndef DW_STORE_REDIS_WHY_LIST_H
#define DW_STORE_REDIS_WHY_LIST_H

#include <stddef.h>

struct why_list {
	char *text; /* DW_MESSAGE_SIZE bytes */
	size_t used;
	unsigned count, left_out;
};

/* why_list_begin begins the message with the subject, or with "". why_list_add adds one trouble,
 * and cuts it only if it is the first one and too long. why_list_end must be called last. */
void why_list_begin(struct why_list *, char *text, const char *subject);
void why_list_add(struct why_list *, const char *trouble);
void why_list_end(struct why_list *);

#endif
