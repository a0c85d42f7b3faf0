/* Copies the settings and messages of topics out of a damaged file. */
#ifndef DW_STORE_SQLITE_RESCUE_TOPICS_H
#define DW_STORE_SQLITE_RESCUE_TOPICS_H

#include <sqlite3.h>
#include <stdint.h>

/* sqlite_rescue_topics copies what can be read, and counts in *unreadable what cannot. It returns
 * an SQLite result code. */
int sqlite_rescue_topics(sqlite3 *from, sqlite3 *to, int64_t *unreadable);

#endif
