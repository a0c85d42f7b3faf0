/* One line of an import, read as the timer to add. */
#ifndef DW_CLI_WISH_H
#define DW_CLI_WISH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "durawheel/durawheel.h"

#define WISH_MESSAGE_SIZE 384

struct wish {
	dw_timer timer; /* points into `object` and `decoded` */
	json_t *object;
	void *decoded;                   /* the bytes of data_base64, or NULL */
	dw_rule *rule;                   /* the timer's rule, or NULL */
	bool tried;                      /* the line is of a timer that has been claimed */
	char message[WISH_MESSAGE_SIZE]; /* what is wrong with the line */
};

/* wish_read reads a line; "in" counts from now, and the data has at most data_max bytes. Returns
 * false if it fails; message says why. Call wish_free() in both cases. */
bool wish_read(struct wish *ret_wish, const char *line, size_t size, size_t data_max, dw_usec now);

/* wish_never returns true if the timer has a rule without an occurrence, which the library refuses;
 * message says why. */
bool wish_never(struct wish *, dw_usec now);
void wish_free(struct wish *);

#endif
