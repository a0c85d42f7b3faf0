#include "cli/session.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "cli/out/data.h"
#include "cli/out/errors.h"

/* A program with a journal can work before Redis answers, so it does not wait long. */
#define JOURNAL_PATIENCE DW_SECONDS(1)

static const char scheme[] = "sqlite:";
enum { STORE_SIZE = PATH_MAX + sizeof scheme };

/* True if stdout had a reader when the command began. If that reader leaves later, it has read all
 * that it wanted, so a failed write is then no error. */
static bool had_reader;

/* The handle that has owed an answer for longer than the patience, or NULL. It turns no more,
 * because the function that asked may have returned, and its callback must then not run. */
static const dw *overdue;

/* has_reader returns false if stdout is a pipe whose reader has closed it. */
static bool has_reader(void)
{
	struct pollfd out = {.fd = STDOUT_FILENO};

	return poll(&out, 1, 0) <= 0 || !(out.revents & POLLERR);
}

int session_prepare(void)
{
	/* The program must not read from a closed stdin or write to a closed stdout. So /dev/null
	 * is opened for the opposite direction, and each such call fails. */
	static const int direction[3] = {O_WRONLY, O_RDONLY, O_WRONLY};

	if (signal(SIGPIPE, SIG_IGN) == SIG_ERR || signal(SIGXFSZ, SIG_IGN) == SIG_ERR)
		return EXIT_FAILED;
	for (int fd = 0; fd <= 2; fd++)
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", direction[fd]) != fd)
			return EXIT_FAILED;
	had_reader = has_reader();
	return EXIT_DONE;
}

/* make_folder creates the missing folders above the last '/' of path. Only this user may enter
 * them. */
static int make_folder(char *path)
{
	for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		int failed;

		*slash = '\0';
		failed = mkdir(path, 0700) != 0 && errno != EEXIST;
		if (failed)
			(void)complain(EXIT_STORE, "cannot make the folder %s: %s", path,
				       strerror(errno));
		*slash = '/';
		if (failed)
			return EXIT_STORE;
	}
	return EXIT_DONE;
}

/* default_store returns the path for a user who names no store. The XDG Base Directory
 * Specification says that a path which is not absolute must be ignored. */
static int default_store(char ret_store[STORE_SIZE])
{
	const char *state = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	bool has_state = state && *state == '/';
	int length;

	if (!has_state && (!home || *home != '/'))
		return complain(EXIT_USAGE, "no store: HOME is not set; write --store sqlite:FILE");
	length = snprintf(ret_store, STORE_SIZE, "%s%s%s/durawheel/timers.db", scheme,
			  has_state ? state : home, has_state ? "" : "/.local/state");
	if (length < 0 || length >= (int)STORE_SIZE)
		return complain(EXIT_USAGE, "no store: the path of XDG_STATE_HOME is too long");
	return EXIT_DONE;
}

void session_log_line(dw_log_level level, const char *line, void *user)
{
	(void)user;
	tell_store(level, line);
}

/* log_new prints what session_log_line() prints, and reports a new namespace. */
static void log_new(dw_log_level level, const char *line, void *user)
{
	session_log_line(level == DW_LOG_INFO && strstr(line, " is new") ? DW_LOG_WARN : level,
			 line, user);
}

/* is_path returns true if `store` is surely the path of a file. Such a word contains no password,
 * so a message may show it. */
static bool is_path(const char *store)
{
	const char *end = strrchr(store, '.');

	if (strchr(store, ':') || strchr(store, '@'))
		return false;
	return *store == '/' || strncmp(store, "./", 2) == 0 || strncmp(store, "../", 3) == 0 ||
	       (end && (strcmp(end, ".db") == 0 || strncmp(end, ".sqlite", 7) == 0)) ||
	       (*store && access(store, F_OK) == 0);
}

/* check_store refuses the store memory:, because other commands could not see its timers. For a
 * path it offers the store in that file. */
static int check_store(const char *store)
{
	if (is_path(store))
		return complain(EXIT_USAGE, "the store \"%.300s\" has no kind; write %s%.300s",
				store, scheme, store);
	if (strcasecmp(store, "memory:") != 0)
		return EXIT_DONE;
	return complain(EXIT_USAGE, "the store memory: ends with the command and no other one sees "
				    "it; write sqlite:FILE, for a try --store sqlite:/tmp/try.db");
}

/* find_store returns the URL from the options or from the environment. Without one it writes the
 * default store to fallback and returns that. */
static int find_store(const struct options *options, char fallback[STORE_SIZE],
		      const char **ret_store)
{
	const char *store = options->value[OPT_STORE];

	if (!store)
		store = getenv("DURAWHEEL_STORE");
	if (store && (*store || options->value[OPT_STORE])) {
		*ret_store = store;
		return check_store(store);
	}
	*ret_store = fallback;
	return default_store(fallback);
}

/* cut_end removes `end` from the end of text. Returns false if text does not end with it. */
static bool cut_end(char *text, const char *end)
{
	size_t size = strlen(text), end_size = strlen(end);

	if (size < end_size || strcmp(text + size - end_size, end) != 0)
		return false;
	text[size - end_size] = '\0';
	return true;
}

/* find_namespace sets the namespace and the number of shards. A store without namespaces ignores
 * them. */
static int find_namespace(const struct options *options, dw_options *base)
{
	const char *name = options->value[OPT_NAME]; /* the environment's name is checked below */
	const char *set = name ? NULL : getenv("DURAWHEEL_NAME");

	base->name = name ? name : set && *set ? set : "durawheel";
	if (set && *set && options_check_name("DURAWHEEL_NAME", set) != EXIT_DONE)
		return EXIT_USAGE;
	return options_shards(options, &base->shards);
}

/* The advice that the library gives to programmers, and the advice for users that replaces it. */
static const char *const advices[][2] = {
    {": sqlite:FILE, redis://HOST, redis+sentinel://HOST,.../MASTER, redis+cluster://HOST,..., "
     "the same with rediss for TLS, unix://SOCKET or memory:",
     "; write sqlite:FILE, redis://HOST[:PORT][/DB], redis+sentinel://HOST,.../MASTER, "
     "redis+cluster://HOST,..., the same with rediss for TLS, or unix://SOCKET"},
    {": sqlite:FILE or memory:", "; write sqlite:FILE"},
    {"; leave options.shards 0", "; leave --shards out"},
    {": options.journal is for a store in Redis", "; --journal is for a store in Redis"},
    {"; a journal is one program's: name another file",
     "; a journal is one program's: name another file"},
};

/* advice_of removes the advice for programmers from the message, and returns the advice for
 * users. */
static const char *advice_of(char *message)
{
	for (size_t i = 0; i < sizeof advices / sizeof advices[0]; i++)
		if (cut_end(message, advices[i][0]))
			return advices[i][1];
	return "";
}

/* try_store opens the store. Returns the status of dw_open(). ret_message says why it fails. */
static int try_store(const char *store, dw_options base, dw **ret_dw, char *ret_message)
{
	int status;

	base.size = sizeof base;
	base.store = store;
	base.data_max_bytes = data_max(base.journal);
	if (base.journal)
		base.open_patience_us = JOURNAL_PATIENCE;
	if (!base.on_log)
		base.on_log = session_log_line;
	ret_message[0] = '\0';
	status = dw_open(ret_dw, &base, ret_message);
	if (status != DW_OK && !ret_message[0])
		(void)snprintf(ret_message, DW_MESSAGE_SIZE, "%s", dw_strerror(status)); /* fits */
	return status;
}

/* exit_of_open returns the exit code for a status of dw_open(). */
static int exit_of_open(int status)
{
	return status == DW_ESYS || status == DW_ENOENT ? EXIT_STORE : exit_of(status);
}

/* has_peers returns true if the message is about a namespace in Redis, which several processes may
 * share. */
static bool has_peers(const char *message)
{
	return strstr(message, "the namespace ") == message;
}

static int open_store(const char *store, dw_options base, dw **ret_dw)
{
	char message[DW_MESSAGE_SIZE];
	const char *instead;
	char *stop;
	int status = try_store(store, base, ret_dw, message);

	if (status == DW_OK)
		return EXIT_DONE;
	instead = advice_of(message);
	stop = status == DW_EOWNED ? strstr(message, "; stop it") : NULL;
	if (stop)
		*stop = '\0';
	if (status == DW_EOWNED && !instead[0])
		instead = has_peers(message) ? "; stop it, and its peers if it has any (durawheel "
					       "members), or wait with run --standby"
					     : "; stop that first, or wait with run --standby";
	return complain(exit_of_open(status), "%s%s", message, instead);
}

/* tell_limit prints the event, because only the event says which limit was reached, or that the
 * replicas do not have what was stored. The answer to the call carries just the code. */
static void tell_limit(dw *d, const dw_event *event, void *user)
{
	(void)d;
	(void)user;
	if (event->kind == DW_EVENT_LIMIT || event->kind == DW_EVENT_REPLICAS_LATE)
		/* The answer to the call sets the exit code. */
		(void)complain(EXIT_STORE, "%s", event->message);
}

int session_open(const struct options *options, dw_options base, dw **ret_dw)
{
	char fallback[STORE_SIZE];
	const char *store;
	int code = find_namespace(options, &base);

	if (!base.on_event)
		base.on_event = tell_limit;
	if (!base.journal)
		base.journal = options->value[OPT_JOURNAL];

	if (code == EXIT_DONE)
		code = find_store(options, fallback, &store);
	if (code == EXIT_DONE && store == fallback && !(base.flags & DW_EXISTING))
		code = make_folder(fallback + sizeof scheme - 1);
	return code == EXIT_DONE ? open_store(store, base, ret_dw) : code;
}

/* session_check opens the store with a patience of 1 us, because only the library can judge the
 * options. It judges them before it waits for a store. */
int session_check(const struct options *options)
{
	dw_options base = {
	    .size = sizeof base, .role = DW_CLIENT, .flags = DW_EXISTING, .open_patience_us = 1};
	char fallback[STORE_SIZE], message[DW_MESSAGE_SIZE] = "";
	const char *advice;
	int code = find_namespace(options, &base), status;
	dw *d;

	if (code == EXIT_DONE)
		code = find_store(options, fallback, &base.store);
	if (code != EXIT_DONE)
		return code;
	status = dw_open(&d, &base, message);
	if (status == DW_OK)
		(void)dw_close(d, 0); /* no operation was requested */
	if (status != DW_EINVAL)
		return EXIT_DONE;
	advice = advice_of(message);
	return complain(EXIT_USAGE, "%s%s", message, advice);
}

int session_look(const struct options *options, dw_options base, dw **ret_dw)
{
	base.flags |= DW_EXISTING;
	if (!base.on_log)
		base.on_log = log_new;
	return session_open(options, base, ret_dw);
}

int session_try(const struct options *options, dw **ret_dw, char ret_message[DW_MESSAGE_SIZE])
{
	dw_options base = {.role = DW_CLIENT, .flags = DW_EXISTING, .on_log = log_new};
	char fallback[STORE_SIZE];
	const char *store;
	int code = find_namespace(options, &base), status;

	if (code == EXIT_DONE)
		code = find_store(options, fallback, &store);
	if (code != EXIT_DONE)
		return code;
	status = try_store(store, base, ret_dw, ret_message);
	return status == DW_OK ? EXIT_DONE : exit_of_open(status);
}

int session_try_sync(dw *d)
{
	int status = d == overdue ? DW_ETIMEOUT : dw_sync(d, SESSION_PATIENCE);

	if (status == DW_ETIMEOUT)
		overdue = d;
	return status;
}

int session_sync(dw *d)
{
	bool has_complained = d == overdue;
	int status = session_try_sync(d);

	if (status == DW_OK)
		return EXIT_DONE;
	if (has_complained)
		return EXIT_STORE;
	if (status == DW_ETIMEOUT)
		return complain(EXIT_STORE, "the store has not answered for 30 s: done or not");
	return complain(exit_of(status), "%s", why(d, status));
}

int session_wait(dw *d)
{
	int status = dw_sync(d, DW_NEVER);

	return status == DW_OK ? EXIT_DONE : complain(exit_of(status), "%s", why(d, status));
}

bool session_tell_journaled(const dw_result *result)
{
	if (result->level != DW_JOURNALED)
		return false;
	(void)complain(
	    EXIT_DONE,
	    result->status == DW_OK
		? "%s: Redis is away: kept in the journal until it is back"
		: "%s: Redis is away: kept in the journal until it is back; before that, "
		  "the timer may start",
	    result->id);
	return true;
}

int session_turn(dw *d, int patience_ms)
{
	struct pollfd poll_fd = {.fd = dw_fd(d), .events = POLLIN};
	int count = poll(&poll_fd, 1, patience_ms);

	if (count == 0)
		return DW_ETIMEOUT;
	if (count < 0 && errno != EINTR)
		return DW_ESYS;
	return dw_turn(d);
}

int session_close(dw *d, int code)
{
	int status = d == overdue ? DW_ETIMEOUT : dw_close(d, SESSION_PATIENCE);
	int flushed = session_flush();

	if (status != DW_OK && code == EXIT_DONE)
		code =
		    complain(exit_of(status), "the store did not finish: %s", dw_strerror(status));
	return code != EXIT_DONE ? code : flushed;
}

int session_torn(const char *words)
{
	if (had_reader && !has_reader())
		return EXIT_FAILED;
	return complain(EXIT_FAILED, "cannot write to stdout: %s", words);
}

int session_flush(void)
{
	int torn = ferror(stdout), failed = fflush(stdout) != 0;

	if (torn)
		return session_torn("an earlier write failed");
	return failed ? session_torn(strerror(errno)) : EXIT_DONE;
}

static dw_usec read_clock(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now); /* cannot fail for these clocks */
	return DW_SECONDS(now.tv_sec) + now.tv_nsec / 1000;
}

dw_usec session_now(void)
{
	return read_clock(CLOCK_REALTIME);
}

dw_usec session_steady(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

const char *why(const dw *d, int error)
{
	const char *message = dw_last_error(d);

	return *message ? message : dw_strerror(error);
}

const char *session_name(const struct options *options)
{
	const char *store = options->value[OPT_STORE], *name = options->value[OPT_NAME];
	const char *slash;

	store = store ? store : getenv("DURAWHEEL_STORE");
	name = name ? name : getenv("DURAWHEEL_NAME");
	if (store && strstr(store, "://"))
		return name && *name ? name : "durawheel";
	slash = store ? strrchr(store, '/') : NULL;
	if (!store || !*store)
		return "timers.db";
	return slash ? slash + 1 : store + strcspn(store, ":") + 1;
}

void session_store(const struct options *options, char ret_text[SESSION_STORE_SIZE])
{
	char fallback[STORE_SIZE];
	const char *store = "";

	if (find_store(options, fallback, &store) != EXIT_DONE)
		return; /* session_open() reports the same error */
	(void)snprintf(ret_text, SESSION_STORE_SIZE, "%.400s%s%s", store,
		       strstr(store, "://") ? ", namespace " : "",
		       strstr(store, "://") ? session_name(options) : ""); /* cut if long */
}

const char *session_file(const struct options *options, char ret_path[SESSION_STORE_SIZE])
{
	char fallback[STORE_SIZE];
	const char *store;

	if (find_store(options, fallback, &store) != EXIT_DONE ||
	    strncasecmp(store, scheme, sizeof scheme - 1) != 0)
		return NULL;
	(void)snprintf(ret_path, SESSION_STORE_SIZE, "%s",
		       store + sizeof scheme - 1); /* cut if long */
	return ret_path;
}

const char *session_why(const struct options *options, int status, char ret_words[SESSION_WHY_SIZE])
{
	char fallback[STORE_SIZE];
	const char *store;
	struct statvfs disk;
	struct rlimit limit;
	size_t used;

	if (status != DW_EFULL || find_store(options, fallback, &store) != EXIT_DONE ||
	    strncasecmp(store, scheme, sizeof scheme - 1) != 0)
		return dw_strerror(status);
	used = (size_t)snprintf(ret_words, SESSION_WHY_SIZE, "%s", dw_strerror(status)); /* fits */
	if (statvfs(store + sizeof scheme - 1, &disk) == 0)
		used += (size_t)snprintf(ret_words + used, SESSION_WHY_SIZE - used,
					 /* The buffer holds both texts. */
					 ": its disk has %llu KiB free",
					 (unsigned long long)disk.f_bavail * disk.f_frsize / 1024);
	if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY)
		(void)snprintf(ret_words + used, SESSION_WHY_SIZE - used,
			       "; no file may exceed %llu KiB (ulimit -f)",
			       (unsigned long long)limit.rlim_cur / 1024);
	return ret_words;
}
