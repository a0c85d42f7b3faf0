/* Explains where to look for an id that has no timer, no kept end and no dead letter. */
#ifndef DW_CLI_ABSENT_H
#define DW_CLI_ABSENT_H

#include <stddef.h>

#include "durawheel/topic.h"

#define ABSENT_SIZE 1536

/* absent_words describes how the topics may be related to the id. It names topics that keep the
 * ends of their timers, and queues, whose messages are not found by their ids. It also recognizes
 * the token of a message. */
void absent_words(const char *id, const dw_topic_info *topics, size_t count,
		  char ret_words[ABSENT_SIZE]);

#endif
