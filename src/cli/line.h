/* NDJSON: one object a line, its keys in the order they are documented in. Jansson escapes; data
 * that is not UTF-8 becomes "data_base64" instead of "data". */
#ifndef DW_CLI_LINE_H
#define DW_CLI_LINE_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

/* A line with its newline. Zero is empty; it is used again and again; line_free() at the end. */
struct line {
	char *bytes;
	size_t size;
	size_t capacity;
};

/* line_name: a name as a string. That of a damaged timer may be invalid UTF-8: those bytes are
 * shown as \xHH. */
json_t *line_name(const char *name);

/* line_of_firing, line_of_info, line_of_dead, line_of: false when there is no memory. line_of takes
 * object, which may be NULL (then there was none), over. */
bool line_of_firing(struct line *, const dw_firing *);
bool line_of_info(struct line *, const dw_info *);
bool line_of_dead(struct line *, const dw_dead *);
bool line_of(struct line *, json_t *object);
void line_free(struct line *);

/* line_add_exit adds "exit":code to the object of the line. False when there is no memory. */
bool line_add_exit(struct line *, int code);

/* state_name: "pending", "claimed" or "newer". */
const char *state_name(dw_state);

#endif
