/* Writes warnings to options.on_log, at most one every 10 s. */
#ifndef DW_STORE_REDIS_LOG_H
#define DW_STORE_REDIS_LOG_H

#include <stdbool.h>

struct redis_store;

void complain(struct redis_store *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* may_complain: true if the program has a log, and the last warning was long enough ago. */
bool may_complain(const struct redis_store *);

#endif
