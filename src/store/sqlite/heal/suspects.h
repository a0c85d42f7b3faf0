/* Operations that a read has failed. SQLite reports such a failure as damage. But only a second
 * one, on another connection and seconds later, is taken for damage: a disk may fail for a moment,
 * and a timer that is damaged is set aside. */
#ifndef DW_STORE_SQLITE_SUSPECTS_H
#define DW_STORE_SQLITE_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "port/op.h"

enum { SQLITE_SUSPECTS_MAX = 64 };
#define SQLITE_SUSPECT_FOR DW_SECONDS(5)

struct sqlite_suspects {
	size_t count;
	size_t next; /* the place that is used next */
	struct sqlite_suspect {
		uint64_t hash; /* the id's hash */
		dw_usec since; /* steady; 0: the place is free */
	} all[SQLITE_SUSPECTS_MAX];
};

/* sqlite_suspects_add notes that a read for the operation has failed. True: it also failed
 * SQLITE_SUSPECT_FOR ago, so this is damage. */
bool sqlite_suspects_add(struct sqlite_suspects *, const dw_op *, dw_usec steady);

/* sqlite_suspects_clear forgets these operations, because they were done. */
void sqlite_suspects_clear(struct sqlite_suspects *, dw_op *const *ops, size_t count);

#endif
