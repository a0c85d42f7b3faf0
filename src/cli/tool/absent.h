/* Says of an id without a timer, without a kept end and without a dead letter where to look. */
#ifndef DW_CLI_ABSENT_H
#define DW_CLI_ABSENT_H

#include <stddef.h>

#include "durawheel/topic.h"

#define ABSENT_SIZE 1536

/* absent_words writes what the topics may have to do with the id. Some of them keep the ends of
 * their timers. Queues have messages, which are not found by their ids. The token of a message is
 * recognized. */
void absent_words(const char *id, const dw_topic_info *topics, size_t count,
		  char ret_words[ABSENT_SIZE]);

#endif
