/* Some disk space kept back in FILE-reserve, given up when the disk is full, so that what is stored
 * can still be settled and cancelled; while it is spent, nothing new is stored. */
#ifndef DW_STORE_SQLITE_RESERVE_H
#define DW_STORE_SQLITE_RESERVE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* Room for the write-ahead log at its usual most, and for the pages of the file it grows by. */
#define SQLITE_RESERVE_SIZE (12 * 1024 * 1024)

struct sqlite_reserve {
	const char *path;
	dw_usec tried; /* to take it, on the steady clock */
};

/* sqlite_reserve_take: false: there is no space. */
bool sqlite_reserve_take(struct sqlite_reserve *);

/* sqlite_reserve_spend: true: there was something to give up. */
bool sqlite_reserve_spend(struct sqlite_reserve *);

/* sqlite_reserve_is_due: the last attempt to take it is long enough ago for another one. */
bool sqlite_reserve_is_due(const struct sqlite_reserve *);

#endif
