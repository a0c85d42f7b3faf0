/* Disk space that FILE-reserve holds back. It is given up when the disk is full, so that stored
 * timers can still be settled and cancelled. Every process that opens the file makes the reserve
 * and looks at it. While it is not whole, nobody stores a new timer. Whoever finds space again
 * restores it for all. */
#ifndef DW_STORE_SQLITE_RESERVE_H
#define DW_STORE_SQLITE_RESERVE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* Room for the write-ahead log at its usual most, and for the pages of the file it grows by. */
#define SQLITE_RESERVE_SIZE (12 * 1024 * 1024)

struct sqlite_reserve {
	const char *path;
	dw_usec tried; /* to take it, on the steady clock */
	int refused;   /* errno: the file system cannot have one, which is not for want of space */
};

/* sqlite_reserve_take makes the reserve whole. False: the disk has no space. True also means that
 * no reserve is possible: refused says why. */
bool sqlite_reserve_take(struct sqlite_reserve *);

/* sqlite_reserve_take_part takes as large a part as there is space for, up to the whole. */
void sqlite_reserve_take_part(struct sqlite_reserve *);

/* sqlite_reserve_is_whole: nobody has spent it, as far as its size tells. True as well when there
 * can be none. */
bool sqlite_reserve_is_whole(const struct sqlite_reserve *);

/* sqlite_reserve_spend gives up one piece, because the program that filled the disk would take all
 * that is free. False: nothing is left. */
bool sqlite_reserve_spend(struct sqlite_reserve *);

/* sqlite_reserve_is_due: the last attempt to take it, or the last call of sqlite_reserve_put_off,
 * is long enough ago for another one. */
bool sqlite_reserve_is_due(const struct sqlite_reserve *);
void sqlite_reserve_put_off(struct sqlite_reserve *);

#endif
