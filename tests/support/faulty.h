/* A layer under SQLite that fails on demand: the nth write or fsync, or every write that needs more
 * space than there is. It also records who has written which part. It is installed as the default
 * VFS, for all connections of the process. */
#ifndef DW_TESTS_FAULTY_H
#define DW_TESTS_FAULTY_H

#include <stdbool.h>

enum faulty_call { FAULTY_WRITE, FAULTY_SYNC };

/* faulty_install: once, before the first database is opened. */
void faulty_install(void);

/* faulty_arm: the nth call (from 1) from now fails, and the `more` calls of its kind after it;
 * done: after it was carried out nevertheless, as when the answer is lost. */
void faulty_arm(enum faulty_call, int n, int more, bool done);
void faulty_disarm(void);

/* faulty_reached: the armed call has come. */
bool faulty_reached(void);

/* faulty_limit: the database and its log may grow by `bytes` altogether, and besides by
 * what the file at reserve has become shorter than `reserve_bytes`. NULL: without limit. */
void faulty_limit(long long bytes, const char *reserve, long long reserve_bytes);

/* faulty_block: an fsync waits from now on, until faulty_unblock(). faulty_await_blocked returns
 * when one does; false: none has within a minute. */
void faulty_block(void);
bool faulty_await_blocked(void);
void faulty_unblock(void);

/* The thread that has first copied pages of the log into the database. */
enum faulty_copier { FAULTY_NOBODY, FAULTY_WRITER /* of the log */, FAULTY_ANOTHER };

/* faulty_watch: the following functions tell about what happens from now on. */
void faulty_watch(void);
unsigned faulty_log_writes(void);

/* faulty_log_is_synced: nothing was written to the log after its last fsync. */
bool faulty_log_is_synced(void);

/* faulty_await_copier waits for a copy, at most a minute: then FAULTY_NOBODY. */
enum faulty_copier faulty_await_copier(void);

#endif
