/* Says what a timer waits for and what to do about it, in words and as JSON. */
#ifndef DW_CLI_WAITING_H
#define DW_CLI_WAITING_H

#include <jansson.h>

#include "cli/out/local_time.h"
#include "cli/out/text.h"
#include "durawheel/why.h"

#define WAITING_SIZE 1024
#define WAITING_COMMAND_SIZE (2 * TEXT_SHELL_SIZE + 128)

/* waiting_words writes what the timer waits for, in one line: the cause, more about it, and until
 * when. */
void waiting_words(const dw_why *, const struct local_zone *, char ret_text[WAITING_SIZE]);

/* waiting_command writes the command to type, with the real id and topic, or "". */
void waiting_command(const dw_why *, char ret_text[WAITING_COMMAND_SIZE]);

/* waiting_object returns {"waits","cause","until","since","detail","owner","shard","exact",
 * "advice","command"}, without the keys that are not known, or NULL if out of memory. */
json_t *waiting_object(const dw_why *);

#endif
