/* Reads one line of an import as a timer that should be added. */
#ifndef DW_CLI_WISH_H
#define DW_CLI_WISH_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/out/times.h"
#include "durawheel/durawheel.h"

#define WISH_MESSAGE_SIZE (TIME_FAULT_SIZE + 256)

struct wish {
	dw_timer timer; /* its pointers lead into `object` and `decoded` */
	json_t *object;
	void *decoded;                   /* the bytes of "data_base64", or NULL */
	dw_rule *rule;                   /* the timer's rule, or NULL */
	bool tried;                      /* the exported timer had been claimed */
	char message[WISH_MESSAGE_SIZE]; /* what is wrong with the line */
};

/* wish_read reads a line. Times in the line are in the zone of the place, unless the line has its
 * own zone. The data may have at most data_max bytes. Returns false if the line is invalid; message
 * then says why. Call wish_free() in both cases. */
bool wish_read(struct wish *ret_wish, const char *line, size_t size, size_t data_max,
	       const struct time_place *);

/* wish_never returns true if the timer's rule has no occurrence after now. The library would refuse
 * such a timer. message then says why. */
bool wish_never(struct wish *, dw_usec now);
void wish_free(struct wish *);

#endif
