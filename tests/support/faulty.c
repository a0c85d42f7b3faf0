#include "support/faulty.h"

#if DW_WITH_SQLITE

#include <errno.h>
#include <pthread.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { PATIENCE_S = 60 };

struct faulty_file {
	sqlite3_file base;
	sqlite3_file *real;
	sqlite3_int64 size; /* the bytes written so far */
	bool counts;        /* true for the database and its log */
	bool is_log;
};

/* The state of the VFS, of which the process has one. */
static struct {
	pthread_mutex_t mutex;
	pthread_cond_t cond;
	sqlite3_vfs vfs;
	sqlite3_vfs *real;
	sqlite3_io_methods methods;
	enum faulty_call call;
	int in;   /* the number of calls until a call fails; 0: not armed */
	int more; /* the number of failures after the first */
	bool done;
	bool reached;
	const char *reserve; /* NULL: no limit */
	long long left;
	long long reserve_left;
	bool blocking;
	bool blocked;
	unsigned log_writes;
	bool log_is_synced;
	pthread_t log_writer;
	enum faulty_copier copier;
} faulty = {.mutex = PTHREAD_MUTEX_INITIALIZER, .cond = PTHREAD_COND_INITIALIZER};

static struct faulty_file *faulty_of(sqlite3_file *file)
{
	return (struct faulty_file *)(void *)file;
}

static sqlite3_file *real_of(sqlite3_file *file)
{
	return faulty_of(file)->real;
}

/* strikes returns true if this call must fail. */
static bool strikes(sqlite3_file *file, enum faulty_call call)
{
	bool struck = false;

	if (!faulty_of(file)->counts)
		return false;
	pthread_mutex_lock(&faulty.mutex);
	if (call == faulty.call && faulty.in > 1) {
		faulty.in--;
	} else if (call == faulty.call && faulty.in == 1) {
		struck = faulty.reached = true;
		if (faulty.more-- == 0)
			faulty.in = 0;
	}
	pthread_mutex_unlock(&faulty.mutex);
	return struck;
}

static bool is_done(void)
{
	bool done;

	pthread_mutex_lock(&faulty.mutex);
	done = faulty.done;
	pthread_mutex_unlock(&faulty.mutex);
	return done;
}

/* has_space counts the growth of the file. It returns false if the growth exceeds the limit. */
static bool has_space(struct faulty_file *file, sqlite3_int64 end)
{
	struct stat status;
	long long grown = end - file->size;
	bool fits = true;

	if (!file->counts || grown <= 0)
		return true;
	pthread_mutex_lock(&faulty.mutex);
	if (faulty.reserve) {
		if (stat(faulty.reserve, &status) == 0 && status.st_size < faulty.reserve_left) {
			faulty.left += faulty.reserve_left - status.st_size;
			faulty.reserve_left = status.st_size;
		}
		fits = faulty.left >= grown;
		if (fits)
			faulty.left -= grown;
	}
	pthread_mutex_unlock(&faulty.mutex);
	if (fits)
		file->size = end;
	return fits;
}

/* note_write records a write. Each write to the database copies a page from its log. */
static void note_write(const struct faulty_file *file)
{
	pthread_mutex_lock(&faulty.mutex);
	if (file->is_log) {
		faulty.log_writes++;
		faulty.log_is_synced = false;
		faulty.log_writer = pthread_self();
	} else if (file->counts && faulty.log_writes > 0 && faulty.copier == FAULTY_NOBODY) {
		faulty.copier = pthread_equal(faulty.log_writer, pthread_self()) ? FAULTY_WRITER
										 : FAULTY_ANOTHER;
		pthread_cond_broadcast(&faulty.cond);
	}
	pthread_mutex_unlock(&faulty.mutex);
}

static void note_sync(const struct faulty_file *file)
{
	pthread_mutex_lock(&faulty.mutex);
	faulty.log_is_synced = faulty.log_is_synced || file->is_log;
	pthread_mutex_unlock(&faulty.mutex);
}

static int on_close(sqlite3_file *file)
{
	return real_of(file)->pMethods->xClose(real_of(file));
}

static int on_read(sqlite3_file *file, void *bytes, int size, sqlite3_int64 at)
{
	if (strikes(file, FAULTY_READ)) {
		errno = EIO;
		return SQLITE_IOERR_CORRUPTFS;
	}
	return real_of(file)->pMethods->xRead(real_of(file), bytes, size, at);
}

static int on_write(sqlite3_file *file, const void *bytes, int size, sqlite3_int64 at)
{
	bool struck = strikes(file, FAULTY_WRITE);
	int code;

	if (struck && !is_done())
		return SQLITE_IOERR_WRITE;
	if (!has_space(faulty_of(file), at + size))
		return SQLITE_FULL;
	code = real_of(file)->pMethods->xWrite(real_of(file), bytes, size, at);
	note_write(faulty_of(file));
	return struck ? SQLITE_IOERR_WRITE : code;
}

static int on_truncate(sqlite3_file *file, sqlite3_int64 size)
{
	return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

static int on_sync(sqlite3_file *file, int flags)
{
	bool struck = strikes(file, FAULTY_SYNC);
	int code;

	pthread_mutex_lock(&faulty.mutex);
	while (faulty.blocking) {
		faulty.blocked = true;
		pthread_cond_broadcast(&faulty.cond);
		pthread_cond_wait(&faulty.cond, &faulty.mutex);
	}
	pthread_mutex_unlock(&faulty.mutex);
	if (struck && !is_done())
		return SQLITE_IOERR_FSYNC;
	code = real_of(file)->pMethods->xSync(real_of(file), flags);
	note_sync(faulty_of(file));
	return struck ? SQLITE_IOERR_FSYNC : code;
}

static int on_file_size(sqlite3_file *file, sqlite3_int64 *size)
{
	return real_of(file)->pMethods->xFileSize(real_of(file), size);
}

static int on_lock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xLock(real_of(file), level);
}

static int on_unlock(sqlite3_file *file, int level)
{
	return real_of(file)->pMethods->xUnlock(real_of(file), level);
}

static int on_check_lock(sqlite3_file *file, int *reserved)
{
	return real_of(file)->pMethods->xCheckReservedLock(real_of(file), reserved);
}

static int on_control(sqlite3_file *file, int op, void *argument)
{
	return real_of(file)->pMethods->xFileControl(real_of(file), op, argument);
}

static int on_sector_size(sqlite3_file *file)
{
	return real_of(file)->pMethods->xSectorSize(real_of(file));
}

static int on_traits(sqlite3_file *file)
{
	return real_of(file)->pMethods->xDeviceCharacteristics(real_of(file));
}

static int on_shm_map(sqlite3_file *file, int page, int size, int extend, void volatile **at)
{
	return real_of(file)->pMethods->xShmMap(real_of(file), page, size, extend, at);
}

static int on_shm_lock(sqlite3_file *file, int first, int count, int flags)
{
	return real_of(file)->pMethods->xShmLock(real_of(file), first, count, flags);
}

static void on_shm_barrier(sqlite3_file *file)
{
	real_of(file)->pMethods->xShmBarrier(real_of(file));
}

static int on_shm_unmap(sqlite3_file *file, int remove)
{
	return real_of(file)->pMethods->xShmUnmap(real_of(file), remove);
}

static int on_open(sqlite3_vfs *vfs, const char *name, sqlite3_file *file, int flags, int *out)
{
	struct faulty_file *self = faulty_of(file);
	int code;

	(void)vfs;
	self->real = (sqlite3_file *)(void *)(self + 1);
	self->counts = flags & (SQLITE_OPEN_MAIN_DB | SQLITE_OPEN_WAL);
	self->is_log = flags & SQLITE_OPEN_WAL;
	self->size = 0;
	code = faulty.real->xOpen(faulty.real, name, self->real, flags, out);
	self->base.pMethods = self->real->pMethods ? &faulty.methods : NULL;
	if (code == SQLITE_OK)
		(void)on_file_size(file, &self->size);
	return code;
}

void faulty_install(void)
{
	faulty.real = sqlite3_vfs_find(NULL);
	faulty.vfs = *faulty.real;
	faulty.vfs.zName = "faulty";
	faulty.vfs.pNext = NULL;
	faulty.vfs.szOsFile = (int)sizeof(struct faulty_file) + faulty.real->szOsFile;
	faulty.vfs.xOpen = on_open;
	faulty.methods = (sqlite3_io_methods){.iVersion = 2,
					      .xClose = on_close,
					      .xRead = on_read,
					      .xWrite = on_write,
					      .xTruncate = on_truncate,
					      .xSync = on_sync,
					      .xFileSize = on_file_size,
					      .xLock = on_lock,
					      .xUnlock = on_unlock,
					      .xCheckReservedLock = on_check_lock,
					      .xFileControl = on_control,
					      .xSectorSize = on_sector_size,
					      .xDeviceCharacteristics = on_traits,
					      .xShmMap = on_shm_map,
					      .xShmLock = on_shm_lock,
					      .xShmBarrier = on_shm_barrier,
					      .xShmUnmap = on_shm_unmap};
	(void)sqlite3_vfs_register(&faulty.vfs, 1); /* fails only if out of memory */
}

void faulty_arm(enum faulty_call call, int n, int more, bool done)
{
	pthread_mutex_lock(&faulty.mutex);
	faulty.call = call;
	faulty.in = n;
	faulty.more = more;
	faulty.done = done;
	faulty.reached = false;
	pthread_mutex_unlock(&faulty.mutex);
}

void faulty_disarm(void)
{
	pthread_mutex_lock(&faulty.mutex);
	faulty.in = 0;
	pthread_mutex_unlock(&faulty.mutex);
}

bool faulty_reached(void)
{
	bool reached;

	pthread_mutex_lock(&faulty.mutex);
	reached = faulty.reached;
	pthread_mutex_unlock(&faulty.mutex);
	return reached;
}

void faulty_limit(long long bytes, const char *reserve, long long reserve_bytes)
{
	pthread_mutex_lock(&faulty.mutex);
	faulty.left = bytes;
	faulty.reserve = reserve;
	faulty.reserve_left = reserve_bytes;
	pthread_mutex_unlock(&faulty.mutex);
}

void faulty_block(void)
{
	pthread_mutex_lock(&faulty.mutex);
	faulty.blocking = true;
	faulty.blocked = false;
	pthread_mutex_unlock(&faulty.mutex);
}

static struct timespec end_of_patience(void)
{
	struct timespec at;

	clock_gettime(CLOCK_REALTIME, &at);
	at.tv_sec += PATIENCE_S;
	return at;
}

bool faulty_await_blocked(void)
{
	struct timespec at = end_of_patience();
	bool blocked;

	pthread_mutex_lock(&faulty.mutex);
	while (!faulty.blocked &&
	       pthread_cond_timedwait(&faulty.cond, &faulty.mutex, &at) != ETIMEDOUT)
		;
	blocked = faulty.blocked;
	pthread_mutex_unlock(&faulty.mutex);
	return blocked;
}

void faulty_unblock(void)
{
	pthread_mutex_lock(&faulty.mutex);
	faulty.blocking = false;
	pthread_cond_broadcast(&faulty.cond);
	pthread_mutex_unlock(&faulty.mutex);
}

void faulty_watch(void)
{
	pthread_mutex_lock(&faulty.mutex);
	faulty.log_writes = 0;
	faulty.log_is_synced = false;
	faulty.copier = FAULTY_NOBODY;
	pthread_mutex_unlock(&faulty.mutex);
}

unsigned faulty_log_writes(void)
{
	unsigned writes;

	pthread_mutex_lock(&faulty.mutex);
	writes = faulty.log_writes;
	pthread_mutex_unlock(&faulty.mutex);
	return writes;
}

bool faulty_log_is_synced(void)
{
	bool synced;

	pthread_mutex_lock(&faulty.mutex);
	synced = faulty.log_is_synced;
	pthread_mutex_unlock(&faulty.mutex);
	return synced;
}

enum faulty_copier faulty_await_copier(void)
{
	struct timespec at = end_of_patience();
	enum faulty_copier copier;

	pthread_mutex_lock(&faulty.mutex);
	while (faulty.copier == FAULTY_NOBODY &&
	       pthread_cond_timedwait(&faulty.cond, &faulty.mutex, &at) != ETIMEDOUT)
		;
	copier = faulty.copier;
	pthread_mutex_unlock(&faulty.mutex);
	return copier;
}

#else

typedef int faulty_is_empty; /* a source file needs a declaration */

#endif
