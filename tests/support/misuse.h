/* A handle on a memory store and its messages, for the tests of wrong and of extreme arguments. */
#ifndef DW_TESTS_MISUSE_H
#define DW_TESTS_MISUSE_H

#include "support/seen.h"

/* open_memory: an owner's handle with a handler for topic "t", which writes into *seen. Clears
 * *seen. */
dw *open_memory(struct seen *seen);
void close_memory(dw *);

/* put_never puts a timer that is never due. on_done() gets the answer. */
int put_never(dw *, struct seen *seen, const char *id, const char *topic);

/* says checks the status of a call, and the words of its error message. */
void says(const dw *, int status, int wanted, const char *words);

#endif
