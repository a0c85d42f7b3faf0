/* A layer under SQLite that fails on demand: the nth read, write or fsync, or every write that
 * needs more space than there is. It also records who has written which part. It is installed as
 * the default VFS, for all connections of the process. */
#ifndef DW_TESTS_FAULTY_H
#define DW_TESTS_FAULTY_H

#include <stdbool.h>

/* FAULTY_READ fails as unix does with EIO. */
enum faulty_call { FAULTY_WRITE, FAULTY_SYNC, FAULTY_READ };

/* faulty_install: call it once, before the first database is opened. */
void faulty_install(void);

/* faulty_arm: the nth call from now (counted from 1) fails, and so do the next `more` calls of its
 * kind. If done is true, the call is carried out and then fails, as if its answer were lost. */
void faulty_arm(enum faulty_call, int n, int more, bool done);
void faulty_disarm(void);

/* faulty_reached: was the armed call reached? */
bool faulty_reached(void);

/* faulty_limit: the database and its log together may grow by `bytes`, and also by the bytes that
 * the file `reserve` is shorter than `reserve_bytes`. If `reserve` is NULL, there is no limit. */
void faulty_limit(long long bytes, const char *reserve, long long reserve_bytes);

/* faulty_block: from now on every fsync waits for faulty_unblock(). faulty_await_blocked returns
 * when an fsync waits. False: none did within a minute. */
void faulty_block(void);
bool faulty_await_blocked(void);
void faulty_unblock(void);

/* The thread that first copied pages of the log into the database: the writer of the log, or
 * another one. */
enum faulty_copier { FAULTY_NOBODY, FAULTY_WRITER /* the writer of the log */, FAULTY_ANOTHER };

/* faulty_watch: start recording for the functions below. */
void faulty_watch(void);
unsigned faulty_log_writes(void);

/* faulty_log_is_synced: was the log not written to after its last fsync? */
bool faulty_log_is_synced(void);

/* faulty_await_copier waits for a copy. FAULTY_NOBODY: there was none within a minute. */
enum faulty_copier faulty_await_copier(void);

#endif
