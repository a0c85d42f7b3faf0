/* Remembers operations that failed because of a read. SQLite reports such a failure as damage. But
 * only a second failure, on another connection and seconds later, counts as damage: a disk may fail
 * for a moment, and a damaged timer would be set aside for good. */
#ifndef DW_STORE_SQLITE_SUSPECTS_H
#define DW_STORE_SQLITE_SUSPECTS_H

#include <stdbool.h>
#include <stddef.h>

#include "port/op.h"

enum { SQLITE_SUSPECTS_MAX = 64 };
#define SQLITE_SUSPECT_FOR DW_SECONDS(5)

struct sqlite_suspects {
	size_t count;
	size_t next; /* index of the place that is used next */
	struct sqlite_suspect {
		uint64_t hash; /* the hash of the id */
		/* When the first read failed (steady clock); 0 if the place is free. */
		dw_usec since;
	} all[SQLITE_SUSPECTS_MAX];
};

/* sqlite_suspects_add notes that a read for the operation has failed. Returns true if a read for
 * the same operation already failed SQLITE_SUSPECT_FOR ago or earlier. Then this failure counts as
 * damage. */
bool sqlite_suspects_add(struct sqlite_suspects *, const dw_op *, dw_usec steady);

/* sqlite_suspects_clear forgets these operations, because they have succeeded. */
void sqlite_suspects_clear(struct sqlite_suspects *, dw_op *const *ops, size_t count);

#endif
