/* NDJSON: one object for each line, with its keys in the documented order. Data that is not valid
 * UTF-8 becomes "data_base64" instead of "data". */
#ifndef DW_CLI_LINE_H
#define DW_CLI_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "durawheel/ended.h"
#include "durawheel/topic.h"

/* A line with its newline. All zero is an empty line. A line can be filled again and again; call
 * line_free() at the end. */
struct line {
	char *bytes;
	size_t size;
	size_t capacity;
};

/* line_name returns an id or topic as a JSON string. A damaged timer may have a name that is not
 * valid UTF-8; its bad bytes are shown as \xHH. */
json_t *line_name(const char *name);

/* line_of_...: write an object into the line. Returns false if out of memory. line_of_info writes
 * what import reads, and the zone of the rule if this machine does not know it (or NULL);
 * line_of_whole_info all of it, and the end of the timer before (NULL: none), which it takes over.
 * line_of takes ownership of object; NULL means that there was no memory to make it. */
bool line_of_firing(struct line *, const dw_firing *);
bool line_of_info(struct line *, const dw_info *, const char *unknown_zone);
bool line_of_whole_info(struct line *, const dw_info *, json_t *ended);
bool line_of_dead(struct line *, const dw_dead *);
bool line_of_message(struct line *, const dw_message *);
bool line_of(struct line *, json_t *object);
void line_free(struct line *);

/* line_object_of_... return an object with everything that the whole line has, and the size of the
 * data. The data itself is there only if shows_data. They return NULL if out of memory. */
json_t *line_object_of_info(const dw_info *, bool shows_data);
json_t *line_object_of_dead(const dw_dead *, bool shows_data);

/* line_object_of_letter returns what line_object_of_dead returns, and adds the "end" of the timer:
 * "dead". */
json_t *line_object_of_letter(const dw_dead *, bool shows_data);

/* line_object_of_ended: the end of a timer; with its result if shows_data. Returns NULL if out of
 * memory. */
json_t *line_object_of_ended(const dw_ended *, bool shows_data);

/* line_add_letter adds what a dead letter knows of the end of its timer: "letter", and "why" if
 * shows_data. The end of another timer stays as it is. Returns false if out of memory. */
bool line_add_letter(json_t *end, const dw_dead *, bool shows_data);

/* line_add_exit adds "exit":code to the object of the line, line_add_waits "waits":"name". Returns
 * false if out of memory. */
bool line_add_exit(struct line *, int code);
bool line_add_waits(struct line *, const char *name);

/* state_name returns "pending", "claimed" or "newer". */
const char *state_name(dw_state);

/* end_name returns "done", "cancelled" or "dead". */
const char *end_name(dw_end);

#endif
