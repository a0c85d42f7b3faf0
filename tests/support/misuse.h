/* A handle on a memory store, and its messages, for tests of wrong and extreme arguments. */
#ifndef DW_TESTS_MISUSE_H
#define DW_TESTS_MISUSE_H

#include "support/seen.h"

/* open_memory opens an owner's handle with a handler for topic "t", which records in *seen. It
 * clears *seen first. */
dw *open_memory(struct seen *seen);
void close_memory(dw *);

/* put_never puts a timer that is never due. on_done() gets the answer. */
int put_never(dw *, struct seen *seen, const char *id, const char *topic);

/* says checks the status of a call, and that its error message contains the words. */
void says(const dw *, int status, int wanted, const char *words);

#endif
