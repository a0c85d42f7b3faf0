#include "handle/options.h"

#include <assert.h>
#include <string.h>

#include "base/ascii.h"
#include "base/grown.h"
#include "base/message.h"
#include "durawheel/testing.h"
#include "store/fallback/fallback.h"
#include "store/store.h"
#include "handle/worker_pool.h"

#define TIMERS_DEFAULT ((size_t)1 << 28)
#define OPEN_PATIENCE_DEFAULT DW_SECONDS(5)
#define HOLD_DEFAULT DW_SECONDS(30)
#define NAME_MAX_SIZE 63
#define SHARDS_MAX 256u
#define LEASE_DEFAULT DW_SECONDS(5)
#define LEASE_MIN DW_SECONDS(1)
#define LEASE_FIRE DW_MINUTES(1) /* the default with DW_OUTAGE_FIRE */
#define LEASE_MAX DW_HOURS(24)
#define JOURNAL_EACH 1024 /* the most bytes that a journal's row needs besides its data */
#define POSTED_DEFAULT ((size_t)16 * 1024 * 1024)

static_assert(sizeof(dw_options) < GROWN_MAX, "there is room to grow");
static_assert(sizeof(dw_stats) < GROWN_MAX, "the same");
static_assert(sizeof(dw_timer) < GROWN_MAX, "the same");

#if DW_WITH_REDIS
#define KINDS                                                                                      \
	"sqlite:FILE, redis://HOST, redis+sentinel://HOST,.../MASTER, redis+cluster://HOST,..., "  \
	"the same with rediss for TLS, unix://SOCKET or memory:"
#else
#define KINDS "sqlite:FILE or memory:"
#endif

static void set_defaults(dw_options *options)
{
	if (options->timers_max == 0)
		options->timers_max = TIMERS_DEFAULT;
	if (options->data_max_bytes == 0)
		options->data_max_bytes = DW_DATA_DEFAULT;
	if (options->open_patience_us == 0)
		options->open_patience_us = OPEN_PATIENCE_DEFAULT;
	if (options->hold_us == 0)
		options->hold_us = HOLD_DEFAULT;
	if (options->posted_max_bytes == 0)
		options->posted_max_bytes = POSTED_DEFAULT;
	if (options->lease_us == 0)
		options->lease_us = options->outage == DW_OUTAGE_FIRE ? LEASE_FIRE : LEASE_DEFAULT;
}

static int check_flags(const dw_options *options, char *message)
{
	if (options->flags & ~(DW_EXISTING | DW_TEST_CLOCK))
		return message_refuse(message,
				      "options.flags is %#x: DW_EXISTING, DW_TEST_CLOCK or 0",
				      options->flags);
	if ((options->flags & DW_TEST_CLOCK) && !ascii_is(options->store, "memory:"))
		return message_refuse(message, "DW_TEST_CLOCK is for the store memory: only");
	if ((options->flags & DW_TEST_CLOCK) && options->clock)
		return message_refuse(message,
				      "DW_TEST_CLOCK brings a clock: options.clock must be NULL");
	return DW_OK;
}

/* check_shared checks the options of a store that several programs share. */
static int check_shared(const dw_options *options, char *message)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789._-";
	size_t size = options->name ? strnlen(options->name, NAME_MAX_SIZE + 1) : 0;

	/* An empty name is as good as none: open_redis() refuses both. */
	if (size > NAME_MAX_SIZE || (size > 0 && strspn(options->name, allowed) < size))
		return message_refuse(
		    message, "options.name is not 1 to %d letters, digits, '.', '_' or '-'",
		    NAME_MAX_SIZE);
	if (options->shards > SHARDS_MAX)
		return message_refuse(message, "options.shards is %u: at most %u", options->shards,
				      SHARDS_MAX);
	if (options->lease_us < LEASE_MIN || options->lease_us > LEASE_MAX)
		return message_refuse(message, "options.lease_us is %lld: 1 s to 24 h",
				      (long long)options->lease_us);
	return DW_OK;
}

static int check_journal(const dw_options *options, char *message)
{
	size_t most = (size_t)DW_DATA_MAX - JOURNAL_EACH;

	if (options->journal && options->journal[0] == '\0')
		return message_refuse(message, "options.journal is empty: name a file, or NULL");
	if (options->journal && ascii_begins(options->journal, "sqlite:"))
		return message_refuse(message,
				      "the journal \"%.200s\" is a file: leave sqlite: out",
				      options->journal);
	if (options->outage != DW_OUTAGE_HOLD && options->outage != DW_OUTAGE_FIRE)
		return message_refuse(message,
				      "options.outage is %d: DW_OUTAGE_HOLD or DW_OUTAGE_FIRE",
				      (int)options->outage);
	if (options->outage == DW_OUTAGE_FIRE && !options->journal)
		return message_refuse(message,
				      "DW_OUTAGE_FIRE needs a journal: set options.journal");
	if (options->outage == DW_OUTAGE_FIRE && options->role == DW_CLIENT)
		return message_refuse(message, "DW_OUTAGE_FIRE is for an owner or a standby: a "
					       "client starts no timers");
	if (options->journal && options->data_max_bytes > most)
		return message_refuse(message,
				      "options.data_max_bytes is %zu: with a journal at most %zu",
				      options->data_max_bytes, most);
	return DW_OK;
}

int options_read(const dw_options *options, dw_options *ret_options, char *ret_message)
{
	dw_options copy = {0};
	size_t known = sizeof copy;

	if (grown_size_is_wrong(options->size, offsetof(dw_options, role)))
		return message_refuse(ret_message,
				      "options.size is %zu: set it to sizeof(dw_options)",
				      options->size);
	if (grown_is_unknown(options, sizeof *options, options->size))
		return message_refuse(ret_message, "options of a newer durawheel than this one, %s",
				      DW_VERSION);
	memcpy(&copy, options, options->size < known ? options->size : known);
	copy.size = known;
	set_defaults(&copy);
	if (!copy.store)
		return message_refuse(ret_message, "options.store is NULL: " KINDS);
	if (copy.role != DW_OWNER && copy.role != DW_CLIENT && copy.role != DW_STANDBY &&
	    copy.role != DW_PEER)
		return message_refuse(
		    ret_message, "options.role is %d: DW_OWNER, DW_CLIENT, DW_STANDBY or DW_PEER",
		    (int)copy.role);
	if (copy.role == DW_PEER && copy.journal)
		return message_refuse(ret_message,
				      "options.journal is for one owner: a journal of a peer could "
				      "not know what the others do while Redis is away");
	if (copy.data_max_bytes > DW_DATA_MAX)
		return message_refuse(ret_message, "options.data_max_bytes is %zu: at most %d",
				      copy.data_max_bytes, DW_DATA_MAX);
	if (copy.timers_max > TIMERS_DEFAULT)
		return message_refuse(ret_message, "options.timers_max is %zu: at most 2^28",
				      copy.timers_max);
	if (copy.spin_us < 0 || copy.spin_us > DW_SPIN_MAX)
		return message_refuse(ret_message, "options.spin_us is %lld: 0 to %lld",
				      (long long)copy.spin_us, (long long)DW_SPIN_MAX);
	if (copy.spin_us > 0 && copy.ev_loop)
		return message_refuse(ret_message,
				      "options.spin_us is for dw_run(): not with options.ev_loop");
	if (copy.workers > WORKERS_MAX)
		return message_refuse(ret_message, "options.workers is %u: at most %u",
				      copy.workers, WORKERS_MAX);
	if (copy.open_patience_us < 0 || copy.hold_us < 0)
		return message_refuse(ret_message, "a patience or a hold in options is negative");
	if (check_flags(&copy, ret_message) != DW_OK || check_shared(&copy, ret_message) != DW_OK ||
	    check_journal(&copy, ret_message) != DW_OK)
		return DW_EINVAL;
	*ret_options = copy;
	return DW_OK;
}

/* shown_size returns how much of a URL a message may show: its scheme. A text without "://" may be
 * a password. */
static int shown_size(const char *url)
{
	static const char allowed[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
				      "0123456789+-.";
	size_t size = strspn(url, allowed);

	return strncmp(url + size, "://", 3) == 0 ? (int)size + 1 : 0;
}

static int is_redis(const char *url)
{
	static const char *const families[] = {"redis", "rediss", "valkey", "valkeys"};
	size_t size = strcspn(url, "+:");

	for (size_t i = 0; i < sizeof families / sizeof *families; i++)
		if (size == strlen(families[i]) && ascii_is_for(url, families[i], size))
			return url[size] == '+' || strncmp(url + size, "://", 3) == 0;
	return ascii_begins(url, "unix://");
}

static int open_redis(const char *url, const char *journal, const dw_store_env *env,
		      dw_store **ret_store, char *message)
{
#if DW_WITH_REDIS
	dw_store_env own = *env;

	if (!env->name || env->name[0] == '\0')
		return message_refuse(
		    message, "options.name is %s: a store in Redis needs a name, its namespace",
		    env->name ? "empty" : "NULL");
#if DW_WITH_SQLITE
	if (journal)
		return fallback_open(
		    ret_store,
		    &(struct fallback_parts){redis_store_open, url, sqlite_store_open, journal},
		    env, message);
#else
	if (journal)
		return message_refuse(message, "this durawheel was built without SQLite, which "
					       "options.journal needs");
#endif
	if (own.role == DW_STANDBY)
		own.role =
		    DW_CLIENT; /* a standby opens as a client, and asks for the ownership later */
	return redis_store_open(ret_store, url, &own, message);
#else
	(void)journal;
	(void)url;
	(void)env;
	(void)ret_store;
	return message_refuse(message, "this durawheel was built without Redis: " KINDS);
#endif
}

/* open_sqlite refuses names that have a special meaning for SQLite itself. Otherwise SQLite would
 * create a file of that name, and the program would take it for a store in memory, or for a
 * read-only one. */
static int open_sqlite(const char *path, const dw_store_env *env, dw_store **ret_store,
		       char *message)
{
	bool is_uri = strncmp(path, "file:", 5) == 0;
	const char *name = is_uri ? path + 5 : path;
	const char *query = strchr(name, '?');
	int size = (int)strcspn(name, "?");

	if (size == 0)
		return message_refuse(message, "\"sqlite:%.100s\" needs a file: sqlite:FILE", path);
	if (strncmp(name, "//", 2) == 0 && name[2] != '/')
		return message_refuse(
		    message,
		    "\"sqlite:%.100s\" would be /%.*s: write sqlite:%.*s, or with "
		    "one / from the root",
		    path, size < 60 ? size - 2 : 58, name + 2, size < 60 ? size - 2 : 58, name + 2);
	if (strncmp(name, ":memory:", (size_t)size) == 0 || strcmp(name, "memory:") == 0)
		return message_refuse(message,
				      "\"sqlite:%.100s\" names no file: write memory:", path);
	if (is_uri || (query && strchr(query, '=')))
		return message_refuse(
		    message, "\"sqlite:%.100s\": a file takes no settings: write sqlite:%.*s", path,
		    size < 100 ? size : 100, name);
#if DW_WITH_SQLITE
	return sqlite_store_open(ret_store, path, env, message);
#else
	(void)env;
	(void)ret_store;
	return message_refuse(message, "this durawheel was built without SQLite");
#endif
}

int options_open_store(const char *url, const char *journal, const dw_store_env *env,
		       dw_store **ret_store, char *ret_message)
{
	dw_store_env own = *env;

	if (own.role == DW_STANDBY)
		own.role = DW_CLIENT; /* a standby asks for the ownership later */
	if (own.role == DW_PEER && !is_redis(url))
		return message_refuse(ret_message,
				      "options.role is DW_PEER: only a store in Redis has shards "
				      "to share; DW_STANDBY takes over any other one");
	if (journal && !is_redis(url))
		return message_refuse(ret_message,
				      "a store in a file or in memory takes no journal: "
				      "options.journal is for a store in Redis");
	if (ascii_is(url, "memory:")) {
		if (env->role == DW_CLIENT)
			return message_refuse(ret_message,
					      "\"memory:\" has no clients: it is one process's");
		own.role = DW_OWNER; /* a standby owns it too, because there is no other process */
		return memory_store_open(ret_store, &own);
	}
	if (ascii_begins(url, "sqlite:"))
		return open_sqlite(url + 7, &own, ret_store, ret_message);
	if (is_redis(url))
		return open_redis(url, journal, env, ret_store, ret_message);
	return message_refuse(ret_message, "the store \"%.*s%s\" is of no known kind: " KINDS,
			      shown_size(url), url, url[shown_size(url)] ? "..." : "");
}
