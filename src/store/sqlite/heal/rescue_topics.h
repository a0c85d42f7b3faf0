/* Copies the settings and messages of topics out of a damaged file. */
#ifndef DW_STORE_SQLITE_RESCUE_TOPICS_H
#define DW_STORE_SQLITE_RESCUE_TOPICS_H

#include <sqlite3.h>
#include <stdint.h>

/* sqlite_rescue_topics copies all rows that can be read, and adds to *unreadable how many cannot.
 * Returns an SQLite result code. */
int sqlite_rescue_topics(sqlite3 *from, sqlite3 *to, int64_t *unreadable);

#endif
