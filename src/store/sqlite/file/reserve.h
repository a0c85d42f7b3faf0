/* Disk space that the file FILE-reserve holds back. When the disk is full, the store gives up this
 * space piece by piece, so that stored timers can still be settled and cancelled. Every process
 * that opens the store makes the reserve and looks at it. While it is not whole, no process stores
 * a new timer. The first process that finds space again restores it for all. */
#ifndef DW_STORE_SQLITE_RESERVE_H
#define DW_STORE_SQLITE_RESERVE_H

#include <stdbool.h>

#include "durawheel/durawheel.h"

/* The size of the reserve in bytes: room for the write-ahead log at its usual longest, and for the
 * pages by which the file grows. */
#define SQLITE_RESERVE_SIZE (12 * 1024 * 1024)

struct sqlite_reserve {
	const char *path;
	dw_usec tried; /* when the last attempt to take the reserve was made (steady clock) */
	int refused; /* errno if no reserve is possible here, other than for lack of space; or 0 */
};

/* sqlite_reserve_take makes the reserve whole. Returns false if the disk has too little space. It
 * also returns true if no reserve is possible here; then `refused` says why. */
bool sqlite_reserve_take(struct sqlite_reserve *);

/* sqlite_reserve_take_part makes the reserve as large as the free space allows. */
void sqlite_reserve_take_part(struct sqlite_reserve *);

/* sqlite_reserve_is_whole returns true if the file has its full size, or if no reserve is possible
 * here. */
bool sqlite_reserve_is_whole(const struct sqlite_reserve *);

/* sqlite_reserve_words says that the disk is full, how much space is free, and the limit on file
 * sizes if there is one; or that the disk has space again. */
#define SQLITE_SPACE_SIZE 320
void sqlite_reserve_words(const struct sqlite_reserve *, bool full,
			  char ret_words[SQLITE_SPACE_SIZE]);

/* sqlite_reserve_spend gives up one piece of the reserve. It does not give up all at once, because
 * the program that filled the disk would take all that is free. Returns false if nothing is
 * left. */
bool sqlite_reserve_spend(struct sqlite_reserve *);

/* sqlite_reserve_is_due returns true if another attempt to take the reserve may be made. This is so
 * one second after the last attempt. sqlite_reserve_put_off counts as an attempt. */
bool sqlite_reserve_is_due(const struct sqlite_reserve *);
void sqlite_reserve_put_off(struct sqlite_reserve *);

#endif
