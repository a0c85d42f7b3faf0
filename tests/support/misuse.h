/* A handle on a memory store and its messages, for the tests of wrong and of extreme arguments. */
#ifndef DW_TESTS_MISUSE_H
#define DW_TESTS_MISUSE_H

#include "support/seen.h"

/* open_memory: an owner; what its topic "t" sees goes into *seen, which is cleared. */
dw *open_memory(struct seen *seen);
void close_memory(dw *);

/* put_never puts a timer that is never due; on_done() hears of it. */
int put_never(dw *, struct seen *seen, const char *id, const char *topic);

/* says: the last failure was of this status, and is explained with these words. */
void says(const dw *, int status, int wanted, const char *words);

#endif
