/* The picture that `durawheel top` draws: lines of text, without any control character but their
 * newlines. */
#ifndef DW_CLI_TOP_PICTURE_H
#define DW_CLI_TOP_PICTURE_H

#include <jansson.h>

#include "cli/out/rates.h"
#include "durawheel/durawheel.h"

enum top_order { TOP_WAITING, TOP_PENDING, TOP_DEAD, TOP_NAME, TOP_ORDERS };

/* What is shown. */
struct top_view {
	const char *name;           /* of the namespace, or the file */
	int status;                 /* of the last answer */
	char away[DW_MESSAGE_SIZE]; /* why the store does not answer; "": it does */
	json_t *store;              /* as stats --json; NULL: none yet */
	json_t *topics;             /* as topic list --json */
	struct rates rates;
	enum top_order order;
	size_t first;         /* topics above the first one that is shown */
	size_t rows, columns; /* 0 if there is no limit */
	dw_usec now;
};

/* top_picture returns the picture, to be freed. Returns NULL if out of memory. */
char *top_picture(struct top_view *);

#endif
