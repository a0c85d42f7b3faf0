/* Writes NDJSON: one JSON object a line, with its keys in the documented order. Data that is not
 * valid UTF-8 has the key "data_base64" instead of "data". */
#ifndef DW_CLI_LINE_H
#define DW_CLI_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "durawheel/ended.h"
#include "durawheel/topic.h"

/* A line with its newline. If all bytes are zero, the line is empty. A line can be filled
 * repeatedly. Free it with line_free(). */
struct line {
	char *bytes;
	size_t size;
	size_t capacity;
};

/* line_name returns an id or topic as a JSON string. The name of a damaged timer may be invalid
 * UTF-8. Its invalid bytes become \xHH. Returns NULL if out of memory. */
json_t *line_name(const char *name);

/* These functions write an object into the line. They return false if out of memory. line_of_info
 * writes the keys that import reads. It also writes unknown_zone, the zone of the rule if this
 * machine does not know that zone; NULL means that there is none. line_of_whole_info writes all
 * fields. It also writes `ended`, the end of an earlier timer, and takes ownership of it; NULL
 * means that there is none. line_of takes ownership of object. If object is NULL, it returns
 * false. */
bool line_of_firing(struct line *, const dw_firing *);
bool line_of_info(struct line *, const dw_info *, const char *unknown_zone);
bool line_of_whole_info(struct line *, const dw_info *, json_t *ended);
bool line_of_dead(struct line *, const dw_dead *);
bool line_of_message(struct line *, const dw_message *);
bool line_of(struct line *, json_t *object);
void line_free(struct line *);

/* These functions return an object with all fields of the timer or dead letter, and with the size
 * of the data. They add the data only if shows_data. They return NULL if out of memory. */
json_t *line_object_of_info(const dw_info *, bool shows_data);
json_t *line_object_of_dead(const dw_dead *, bool shows_data);

/* line_object_of_letter returns the object of line_object_of_dead() with "end":"dead" added. */
json_t *line_object_of_letter(const dw_dead *, bool shows_data);

/* line_object_of_ended returns the end of a timer. It adds the result only if shows_data. Returns
 * NULL if out of memory. */
json_t *line_object_of_ended(const dw_ended *, bool shows_data);

/* line_add_letter adds two facts from a dead letter to the end of the same timer: "letter", and
 * "why" if shows_data. It does not change the end of another timer. Returns false if out of
 * memory. */
bool line_add_letter(json_t *end, const dw_dead *, bool shows_data);

/* line_add_exit adds "exit":code to the object of the line, and line_add_waits adds "waits":"name".
 * They return false if out of memory. */
bool line_add_exit(struct line *, int code);
bool line_add_waits(struct line *, const char *name);

/* state_name returns "pending", "claimed" or "newer". */
const char *state_name(dw_state);

/* end_name returns "done", "cancelled" or "dead". */
const char *end_name(dw_end);

#endif
