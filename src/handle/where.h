/* Counts or cancels the timers of a selection, page by page. */
#ifndef DW_HANDLE_WHERE_H
#define DW_HANDLE_WHERE_H

#include "handle/handle.h"

struct where_list {
	const dw_select *select;
	dw_tally_fn fn;
	void *user;
	bool cancels;
};

/* where_begin asks for the first page. It returns what the API's function returns. */
int where_begin(dw *, const struct where_list *);

#endif
