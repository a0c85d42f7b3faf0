/* A layer under SQLite that fails on demand: the nth read, write or fsync, or every write that
 * exceeds a limit of space. It also records which thread has written which file. It is installed as
 * the default VFS, for all connections of the process. */
#ifndef DW_TESTS_FAULTY_H
#define DW_TESTS_FAULTY_H

#include <stdbool.h>

/* FAULTY_READ fails as unix does with EIO. */
enum faulty_call { FAULTY_WRITE, FAULTY_SYNC, FAULTY_READ };

/* faulty_install installs the layer. Call it once, before the first database is opened. */
void faulty_install(void);

/* faulty_arm makes the nth call from now (counted from 1) fail, and also the next `more` calls of
 * the same kind. If done is true, the call is carried out and then fails, as if its answer were
 * lost. */
void faulty_arm(enum faulty_call, int n, int more, bool done);
void faulty_disarm(void);

/* faulty_reached returns true if the armed call was reached. */
bool faulty_reached(void);

/* faulty_limit lets the database and its log together grow by `bytes`. If the file `reserve`
 * becomes shorter than `reserve_bytes`, they may also grow by the difference. If `reserve` is NULL,
 * there is no limit. */
void faulty_limit(long long bytes, const char *reserve, long long reserve_bytes);

/* faulty_block makes every fsync wait for faulty_unblock(). faulty_await_blocked waits until an
 * fsync waits. It returns false if none did within a minute. */
void faulty_block(void);
bool faulty_await_blocked(void);
void faulty_unblock(void);

/* The thread that was the first to copy pages of the log into the database: the writer of the log,
 * or another thread. */
enum faulty_copier { FAULTY_NOBODY, FAULTY_WRITER /* the writer of the log */, FAULTY_ANOTHER };

/* faulty_watch starts recording for the functions below. */
void faulty_watch(void);
unsigned faulty_log_writes(void);

/* faulty_log_is_synced returns true if the log was not written after its last fsync. */
bool faulty_log_is_synced(void);

/* faulty_await_copier waits for a copy. It returns FAULTY_NOBODY if there was none within a
 * minute. */
enum faulty_copier faulty_await_copier(void);

#endif
