/* Builds the picture that `durawheel top` shows: lines of text without control characters, except
 * newlines. */
#ifndef DW_CLI_TOP_PICTURE_H
#define DW_CLI_TOP_PICTURE_H

#include <jansson.h>

#include "cli/out/history.h"
#include "cli/out/rates.h"
#include "durawheel/durawheel.h"

enum top_order { TOP_WAITING, TOP_PENDING, TOP_DEAD, TOP_NAME, TOP_ORDERS };

/* The contents of the picture. */
struct top_view {
	const char *name;           /* the name of the namespace, or of the file */
	int status;                 /* the status of the last answer */
	char away[DW_MESSAGE_SIZE]; /* why the store does not answer; "" if it does */
	json_t *store;              /* the object of `stats --json`; NULL before the first answer */
	json_t *topics;             /* the array of `topic list --json` */
	json_t *coming;             /* the object of coming_object(), or NULL */
	struct rates rates;
	struct history history;
	bool has_blocks, has_colour; /* what the terminal shows */
	enum top_order order;
	size_t first;         /* the number of topics that are scrolled out at the top */
	size_t rows, columns; /* the size of the terminal; 0 for no limit */
	dw_usec now;
};

/* top_picture returns the text, which the caller frees. Returns NULL if out of memory. */
char *top_picture(struct top_view *);

#endif
