/* Complaints: warnings for options.on_log, at most one every 10 s. */
#ifndef DW_STORE_REDIS_LOG_H
#define DW_STORE_REDIS_LOG_H

#include <stdbool.h>

struct redis_store;

void complain(struct redis_store *, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* may_complain: there is a log, and the last complaint is long enough ago. */
bool may_complain(const struct redis_store *);

#endif
