#include "redis/hello.h"

#include <assert.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define VERSION_MIN_MAJOR 6
#define VERSION_MIN_MINOR 2

/* Errors that pass by themselves. The server is asked again soon. */
static const char *const passing[] = {"LOADING",    "BUSY",        "UNKILLABLE",
				      "MASTERDOWN", "CLUSTERDOWN", "TRYAGAIN"};

/* ---- Sending ------------------------------------------------------------------------------- */

static int queue(struct hello *hello, struct output *output, enum hello_step step,
		 const char *const *words)
{
	size_t sizes[4];
	int count = 0;
	int status;

	for (; count < 4 && words[count]; count++)
		sizes[count] = strlen(words[count]);
	status = output_add(output, count, words, sizes);
	if (status == DW_OK && step == HELLO_AUTH)
		output_hide(output);
	if (status == DW_OK)
		hello->steps[hello->count++] = step;
	return status;
}

static int queue_who(struct hello *hello, struct output *output)
{
	const struct redis_url *url = hello->url;
	const char *auth[] = {"AUTH", url->user ? url->user : url->password,
			      url->user ? url->password : NULL, NULL};
	const char *name[] = {"CLIENT", "SETNAME", hello->name, NULL};
	int status = DW_OK;

	if (url->password)
		status = queue(hello, output, HELLO_AUTH, auth);
	if (status == DW_OK && hello->name)
		status = queue(hello, output, HELLO_NAME, name);
	return status;
}

/* queue_what asks what the server is, with one INFO for each section, because Redis 6.2 takes only
 * one section at a time. */
static int queue_what(struct hello *hello, struct output *output)
{
	static const char *const info[][3] = {
	    {"INFO", "server", NULL}, {"INFO", "memory", NULL}, {"INFO", "replication", NULL}};
	static const char *const slots[] = {"CLUSTER", "NODES", NULL};
	static const char *const ping[] = {"PING", NULL};
	const char *probe[] = {"EVAL", HELLO_PROBE_SCRIPT, "1", hello->probe, NULL};
	char number[16];
	const char *select[] = {"SELECT", number, NULL};
	int status = DW_OK;

	(void)snprintf(number, sizeof number, "%u", hello->url->db); /* always fits */
	if (hello->url->db != 0)
		status = queue(hello, output, HELLO_SELECT, select);
	if (status == DW_OK)
		status = queue(hello, output, HELLO_SERVER, info[0]);
	if (status == DW_OK)
		status = queue(hello, output, HELLO_MEMORY, info[1]);
	if (status == DW_OK)
		status = queue(hello, output, HELLO_ROLE, info[2]);
	if (status == DW_OK)
		status = queue(hello, output, HELLO_SLOTS, slots);
	if (status == DW_OK)
		status = queue(hello, output, HELLO_PING, ping);
	if (status == DW_OK && hello->probe)
		status = queue(hello, output, HELLO_PROBE, probe);
	return status;
}

/* queue_subscribe queues one command for all channels. The server sends one answer for each
 * channel. */
static int queue_subscribe(struct hello *hello, struct output *output)
{
	const char *words[1 + CHANNELS_MAX] = {"SUBSCRIBE"};
	size_t sizes[1 + CHANNELS_MAX] = {9};
	const char *at = hello->channels;
	int count = 1;

	for (; *at; at += *at == '\n') {
		assert(count <= CHANNELS_MAX);
		words[count] = at;
		sizes[count] = strcspn(at, "\n");
		at += sizes[count++];
	}
	hello->unsubscribed = (unsigned)count - 1;
	hello->steps[hello->count++] = HELLO_SUBSCRIBE;
	return output_add(output, count, words, sizes);
}

int hello_send(struct hello *hello, struct output *output)
{
	static const char *const ping[] = {"PING", NULL};
	int status;

	hello->count = hello->next = 0;
	hello->server[0] = hello->history[0] = '\0';
	hello->uptime = -1;
	status = queue_who(hello, output);
	if (status == DW_OK && hello->channels)
		return queue_subscribe(hello, output);
	if (status == DW_OK && hello->to_sentinel)
		return queue(hello, output, HELLO_PING, ping);
	return status == DW_OK ? queue_what(hello, output) : status;
}

/* ---- Words --------------------------------------------------------------------------------- */

static enum hello_verdict say(char *ret_words, enum hello_verdict verdict, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

static enum hello_verdict say(char *ret_words, enum hello_verdict verdict, const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	(void)vsnprintf(ret_words, DW_MESSAGE_SIZE, format, arguments); /* cut if long */
	va_end(arguments);
	return verdict;
}

/* hello_quote hides the password, because a server, or a proxy in front of it, might repeat a
 * command. */
const char *hello_quote(const struct hello *hello, const struct reply *reply, char *ret_text,
			size_t size)
{
	const char *password = hello->url->password;
	size_t i = 0;

	if (password && memmem(reply->bytes, reply->size, password, strlen(password)))
		return "(not shown, because it contains the password)";
	for (; i < reply->size && i + 1 < size; i++) {
		unsigned char c = (unsigned char)reply->bytes[i];

		ret_text[i] = c >= ' ' && c < 0x7f ? (char)c : '?';
	}
	ret_text[i] = '\0';
	return ret_text;
}

enum { SAID_NAME = 1, SAID_SERVER = 2 };

/* warn logs each line once in the life of a link, not once for each connection. */
static void warn(struct hello *hello, unsigned bit, const char *line)
{
	if (hello->log && !(hello->logged & bit))
		hello->log(DW_LOG_WARN, line, hello->log_user);
	hello->logged |= bit;
}

/* ---- Judging ------------------------------------------------------------------------------- */

static enum hello_verdict judge_auth(const struct hello *hello, char *ret_words)
{
	return say(ret_words, HELLO_REFUSED,
		   hello->url->user ? "the server does not accept this user and password"
				    : "the server does not accept this password");
}

/* field returns what follows `name` in the reply to INFO, where `name` ends with a colon. NULL: the
 * reply has no such line. */
static const char *field(const struct reply *reply, const char *name)
{
	const char *at = reply->bytes;

	while (at && *at) {
		if (strncmp(at, name, strlen(name)) == 0)
			return at + strlen(name);
		at = strchr(at, '\n');
		at += at != NULL;
	}
	return NULL;
}

static enum hello_verdict judge_version(const struct reply *reply, char *ret_words)
{
	const char *version = field(reply, "redis_version:");
	char *end = NULL;
	unsigned long major = version ? strtoul(version, &end, 10) : VERSION_MIN_MAJOR + 1;
	unsigned long minor = end && *end == '.' ? strtoul(end + 1, NULL, 10) : 0;

	if (major > VERSION_MIN_MAJOR || (major == VERSION_MIN_MAJOR && minor >= VERSION_MIN_MINOR))
		return HELLO_GOES_ON;
	return say(ret_words, HELLO_REFUSED,
		   "the server is Redis %lu.%lu: %d.%d or newer is needed", major, minor,
		   VERSION_MIN_MAJOR, VERSION_MIN_MINOR);
}

static bool is_mode(const struct reply *reply, const char *mode)
{
	const char *found = field(reply, "redis_mode:");

	return found && strncmp(found, mode, strlen(mode)) == 0;
}

/* copy_field copies a field of the reply to INFO, if there is one. */
static void copy_field(const struct reply *reply, const char *name, char ret_text[SERVER_ID_SIZE])
{
	const char *text = field(reply, name);

	if (text)
		(void)snprintf(ret_text, SERVER_ID_SIZE, "%.*s", (int)strcspn(text, "\r\n"),
			       text); /* cut if long */
}

void hello_history(const struct reply *reply, char ret_history[SERVER_ID_SIZE])
{
	const char *role = field(reply, "role:");

	ret_history[0] = '\0';
	if (role && strncmp(role, "master", 6) == 0)
		copy_field(reply, "master_replid:", ret_history);
}

static void note_server(struct hello *hello, const struct reply *reply)
{
	const char *uptime = field(reply, "uptime_in_seconds:");

	if (uptime)
		hello->uptime = strtoll(uptime, NULL, 10);
	copy_field(reply, "run_id:", hello->server);
}

static enum hello_verdict judge_server(struct hello *hello, const struct reply *reply,
				       char *ret_words)
{
	note_server(hello, reply);
	hello->clustered = is_mode(reply, "cluster");
	if (is_mode(reply, "sentinel"))
		return say(ret_words, HELLO_REFUSED,
			   "the server is a Sentinel, which stores no timers: use "
			   "%sHOST,HOST,HOST/MASTER",
			   redis_url_scheme(REDIS_SENTINEL, hello->url->tls));
	return judge_version(reply, ret_words);
}

/* judge_slots refuses a cluster node that does not serve all slots, because the shards are spread
 * over all slots and each command goes to this node. */
static enum hello_verdict judge_slots(const struct hello *hello, const struct reply *reply,
				      char *ret_words)
{
	const char *own = reply->kind == REPLY_BULK ? strstr(reply->bytes, "myself,") : NULL;
	const char *all = own ? strstr(own, " 0-16383") : NULL;

	if (hello->url->kind == REDIS_CLUSTER && !hello->clustered)
		return say(ret_words, HELLO_REFUSED,
			   "the server is no node of a Redis Cluster: use %s",
			   redis_url_scheme(REDIS_SINGLE, hello->url->tls));
	if (hello->url->kind == REDIS_CLUSTER || !hello->clustered ||
	    (all && all < own + strcspn(own, "\n")))
		return HELLO_GOES_ON;
	return say(ret_words, HELLO_REFUSED,
		   "the server is a node of a Redis Cluster and does not serve all slots, which "
		   "%s needs: use %sHOST,HOST,HOST",
		   redis_url_scheme(REDIS_SINGLE, hello->url->tls),
		   redis_url_scheme(REDIS_CLUSTER, hello->url->tls));
}

bool hello_evicts(const struct reply *reply, char *ret_words)
{
	const char *policy = reply->kind == REPLY_BULK ? field(reply, "maxmemory_policy:") : NULL;
	bool all = policy && strncmp(policy, "allkeys-", 8) == 0;

	if (!all && (!policy || strncmp(policy, "volatile-", 9) != 0))
		return false;
	(void)say(ret_words, HELLO_REFUSED,
		  "the server's maxmemory-policy is %.*s, so it would throw %s away: set "
		  "maxmemory-policy noeviction",
		  (int)strcspn(policy, "\r\n"), policy, all ? "timers" : "leases");
	return true;
}

static enum hello_verdict judge_role(const struct hello *hello, const struct reply *reply,
				     char *ret_words)
{
	const char *role = field(reply, "role:");

	/* A replica in a cluster is of use, because it tells which node has each slot. */
	if (!role || strncmp(role, "slave", 5) != 0 || hello->url->kind == REDIS_CLUSTER)
		return HELLO_GOES_ON;
	return say(ret_words, HELLO_LATER,
		   hello->url->kind == REDIS_SENTINEL
		       ? "the server is a replica, though the Sentinels name it as the master"
		       : "the server is a replica, which takes no timers: use the URL of its "
			 "master");
}

/* judge_info reads the reply to INFO. If we are not allowed to use INFO, we assume that the server
 * is suitable. */
static enum hello_verdict judge_info(struct hello *hello, enum hello_step step,
				     const struct reply *reply, char *ret_words)
{
	if (reply->kind != REPLY_BULK) {
		warn(hello, SAID_SERVER,
		     "the Redis server does not show INFO: its version, its maxmemory-policy and "
		     "its role are not checked");
		return HELLO_GOES_ON;
	}
	if (step == HELLO_SERVER)
		return judge_server(hello, reply, ret_words);
	if (step == HELLO_MEMORY)
		return hello_evicts(reply, ret_words) ? HELLO_REFUSED : HELLO_GOES_ON;
	hello_history(reply, hello->history);
	return judge_role(hello, reply, ret_words);
}

static enum hello_verdict judge_error(struct hello *hello, enum hello_step step,
				      const struct reply *reply, char *ret_words)
{
	char text[160];
	const char *words = hello_quote(hello, reply, text, sizeof text);
	bool tolerated =
	    step == HELLO_NAME || step == HELLO_SLOTS || step == HELLO_PING || step == HELLO_PROBE;

	for (size_t i = 0; i < sizeof passing / sizeof *passing; i++)
		if (reply_fails(reply, passing[i]))
			return say(ret_words, HELLO_SOON, "the server answers: %s", words);
	if (reply_fails(reply, "ERR max number of clients"))
		return say(ret_words, HELLO_LATER, "the server has too many clients");
	if (reply_fails(reply, "NOAUTH"))
		return say(ret_words, HELLO_REFUSED,
			   hello->to_sentinel && hello->url->kind == REDIS_SENTINEL
			       ? "the Sentinel wants a password: give it by "
				 "sentinel-password-file=FILE, or in DURAWHEEL_SENTINEL_PASSWORD"
			       : "the server wants a password: give it in the URL, by "
				 "password-file=FILE, or in DURAWHEEL_REDIS_PASSWORD");
	if (step == HELLO_AUTH && (reply_fails(reply, "WRONGPASS") || reply_fails(reply, "ERR")))
		return judge_auth(hello, ret_words);
	if (step == HELLO_SELECT)
		return say(ret_words, HELLO_REFUSED, "the server's database %u: %s", hello->url->db,
			   words);
	if (reply_fails(reply, "DENIED") || (!tolerated && step <= HELLO_NAME) ||
	    step == HELLO_SUBSCRIBE)
		return say(ret_words, HELLO_REFUSED, "the server answers: %s", words);
	if (step == HELLO_NAME)
		warn(hello, SAID_NAME,
		     "the Redis server refuses CLIENT SETNAME: its CLIENT LIST will not show "
		     "durawheel's name");
	return tolerated ? HELLO_GOES_ON : judge_info(hello, step, reply, ret_words);
}

/* is_subscribed returns true if the reply is the array "subscribe", channel, count. */
static bool is_subscribed(const struct reply *reply)
{
	return reply->kind == REPLY_ARRAY && reply->count == 3 &&
	       reply_is(&reply->items[0], "subscribe");
}

static enum hello_verdict judge_answer(struct hello *hello, enum hello_step step,
				       const struct reply *reply, char *ret_words)
{
	bool makes_sense;

	if (step == HELLO_SUBSCRIBE)
		makes_sense = is_subscribed(reply);
	else if (step == HELLO_PING)
		makes_sense = reply_is(reply, "PONG");
	else if (step == HELLO_PROBE)
		makes_sense = reply->kind == REPLY_INTEGER;
	else if (step >= HELLO_SERVER)
		makes_sense = reply->kind == REPLY_BULK;
	else
		makes_sense = reply_is(reply, "OK");
	if (!makes_sense)
		return say(ret_words, HELLO_LATER,
			   "the replies are not those of a Redis server: check host and port");
	if (step >= HELLO_SERVER && step <= HELLO_ROLE)
		return judge_info(hello, step, reply, ret_words);
	return HELLO_GOES_ON;
}

const char *hello_hangs(const struct hello *hello)
{
	if (hello->next < hello->count && hello->steps[hello->next] == HELLO_PROBE)
		return "the server answers, but holds every change back (CLIENT PAUSE, a failover)";
	return "the server accepts connections, but does not answer";
}

const char *hello_explain(const struct hello *hello, const struct transport *transport,
			  const struct input *input, const char *failure, char *ret_words)
{
	static const char alert[] = {0x15, 0x03}; /* the first two bytes of a TLS alert */
	bool is_tls = transport->tls != NULL;
	const char *scheme = redis_url_scheme(hello->url->kind, true);

	if (hello->next > 0)
		return failure;
	if (is_tls && input->closed && tls_wants_certificate(transport->tls))
		return "the server closed the connection: it wants a client certificate, give "
		       "cert= and key=";
	if (!is_tls && !input->closed && memcmp(input->bytes, alert, sizeof alert) == 0)
		(void)say(ret_words, HELLO_LATER, "the server speaks TLS: use %s", scheme);
	else if (!is_tls && input->closed && hello->url->host)
		(void)say(ret_words, HELLO_LATER,
			  "the server closed the connection before it answered: if it speaks TLS, "
			  "use %s",
			  scheme);
	else
		return failure;
	return ret_words;
}

enum hello_verdict hello_judge(struct hello *hello, const struct reply *reply, char *ret_words)
{
	enum hello_verdict verdict;
	enum hello_step step;

	assert(hello->next < hello->count);
	step = hello->steps[hello->next++];
	if (step == HELLO_SUBSCRIBE && --hello->unsubscribed > 0)
		hello->next--;
	if (reply->kind == REPLY_ERROR)
		verdict = judge_error(hello, step, reply, ret_words);
	else
		verdict = judge_answer(hello, step, reply, ret_words);
	if (step == HELLO_SLOTS && verdict == HELLO_GOES_ON)
		verdict = judge_slots(hello, reply, ret_words);
	if (verdict == HELLO_GOES_ON && hello->next == hello->count)
		return HELLO_DONE;
	return verdict;
}
