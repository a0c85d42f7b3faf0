/* One line of an import: the timer that it wishes for. */
#ifndef DW_CLI_WISH_H
#define DW_CLI_WISH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

#define WISH_MESSAGE_SIZE 256

struct wish {
	dw_timer timer; /* leads into the two below */
	json_t *object;
	void *decoded;                   /* data_base64 as bytes, or NULL */
	char message[WISH_MESSAGE_SIZE]; /* what is wrong with the line */
};

/* wish_read reads a line; "in" counts from now. False: message says why. wish_free() always. */
bool wish_read(struct wish *ret_wish, const char *line, size_t size, dw_usec now);
void wish_free(struct wish *);

#endif
