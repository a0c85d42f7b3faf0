#include "redis/url.h"

#include <stdio.h>
#include <string.h>
#include <sys/un.h>

#include "base/ascii.h"
#include "base/message.h"
#include "redis/url_text.h"

#define PORT_DEFAULT "6379"
#define SENTINEL_PORT "26379"

/* read_user reads [user][:password]. */
static int read_user(struct url_reading *reading, const char *text, size_t size)
{
	const char *colon = memchr(text, ':', size);
	size_t user_size = colon ? (size_t)(colon - text) : size;
	int status = DW_OK;

	if (user_size > 0)
		status = url_escaped(reading, text, user_size, &reading->url->user);
	if (status == DW_OK && colon && user_size + 1 < size)
		status =
		    url_escaped(reading, colon + 1, size - user_size - 1, &reading->url->password);
	return status;
}

/* ---- TCP ----------------------------------------------------------------------------------- */

/* refuse_master refuses a missing name of the master, or one with other characters. */
static int refuse_master(const struct url_reading *reading, bool is_empty)
{
	char form[URL_FORM_SIZE];

	return message_refuse(reading->message,
			      is_empty ? "the Redis URL does not name the master as the Sentinels "
					 "do: %s; redis-cli -p 26379 SENTINEL MASTERS lists the "
					 "names"
				       : "the Redis URL does not name the master as the Sentinels "
					 "do, with letters, digits, '.', '_' and '-': %s",
			      url_form(reading->url, form));
}

/* read_master reads MASTER[/DB], which follows the Sentinels. */
static int read_master(struct url_reading *reading, const char *text, size_t size)
{
	const char *slash = memchr(text, '/', size);
	size_t count = slash ? (size_t)(slash - text) : size;

	if (!url_is_host(text, count, "._-"))
		return refuse_master(reading, count == 0);
	if (slash && count + 1 < size) {
		int status = url_db(reading, slash + 1, size - count - 1);

		if (status != DW_OK)
			return status;
	}
	return url_copy(reading, text, count, &reading->url->master);
}

static int read_addresses(struct url_reading *reading, const char *text, size_t size)
{
	struct redis_url *url = reading->url;
	struct redis_host host = {NULL};
	int status;

	if (url->kind != REDIS_SINGLE)
		return url_hosts(reading, text, size,
				 url->kind == REDIS_SENTINEL ? SENTINEL_PORT : PORT_DEFAULT);
	if (memchr(text, ',', size))
		return url_refuse_list(reading);
	status = url_host(reading, text, size, &host, PORT_DEFAULT);
	url->host = host.host;
	url->port = host.port;
	return status;
}

/* read_tcp reads [user][:password]@host[:port][/db], with several hosts before Sentinels' master
 * or for a cluster. */
static int read_tcp(struct url_reading *reading, const char *text, size_t size)
{
	const char *slash = memchr(text, '/', size);
	size_t count = slash ? (size_t)(slash - text) : size;
	const char *at = memrchr(text, '@', count);
	size_t skipped = at ? (size_t)(at - text) + 1 : 0;
	int status;

	if (at && reading->url->kind != REDIS_SINGLE && memchr(text, ',', skipped))
		return message_refuse(reading->message,
				      "the Redis URL has a user behind a host: user and password "
				      "stand once, before the first host, with a comma in them as "
				      "%%2C");
	status = at ? read_user(reading, text, skipped - 1) : DW_OK;
	if (status == DW_OK)
		status = read_addresses(reading, text + skipped, count - skipped);
	if (status != DW_OK)
		return status;
	if (reading->url->kind == REDIS_SENTINEL)
		return read_master(reading, text + count + (slash != NULL),
				   size - count - (slash != NULL));
	if (count + 1 < size)
		status = url_db(reading, slash + 1, size - count - 1);
	return status;
}

/* ---- A unix socket ------------------------------------------------------------------------- */

/* read_unix reads [user][:password]@PATH. A path may contain an @; a user may not, unless it is
 * escaped. */
static int read_unix(struct url_reading *reading, const char *text, size_t size)
{
	const char *slash = memchr(text, '/', size);
	size_t skipped = slash ? (size_t)(slash - text) : 0;
	struct sockaddr_un address;
	int status = DW_OK;

	if (!slash || (skipped > 0 && text[skipped - 1] != '@'))
		return message_refuse(reading->message,
				      "the Redis URL has no absolute path of a socket: "
				      "unix:///run/redis/redis.sock, with @ / ? in a password as "
				      "%%40 %%2F %%3F");
	if (size - skipped >= sizeof address.sun_path)
		return message_refuse(
		    reading->message,
		    "the path of the socket in the Redis URL has %zu bytes: at most %zu",
		    size - skipped, sizeof address.sun_path - 1);
	if (skipped > 0)
		status = read_user(reading, text, skipped - 1);
	if (status == DW_OK)
		status = url_copy(reading, slash, size - skipped, &reading->url->path);
	return status;
}

/* ---- All of it ----------------------------------------------------------------------------- */

/* host_text writes HOST:PORT. Returns its size, even if the buffer is too small for it. */
static size_t host_text(const struct redis_host *host, char *ret_text, size_t size)
{
	const char *bracket = strchr(host->host, ':') ? "[" : "";

	return (size_t)snprintf(ret_text, size, "%s%s%s:%s", bracket, host->host,
				*bracket ? "]" : "", host->port);
}

/* name_hosts writes the URL of several hosts for messages, with as many whole hosts as fit. */
static void name_hosts(struct redis_url *url)
{
	char end[112] = "";
	unsigned i = 0;
	size_t used, most;

	if (url->master)
		(void)snprintf(end, sizeof end, "/%.80s/%u", url->master,
			       url->db); /* cut if long */
	used = (size_t)snprintf(url->name, sizeof url->name, "%s",
				redis_url_scheme(url->kind, url->tls));
	most = sizeof url->name - strlen(end) - sizeof ",(16 more)";
	for (; i < url->host_count; i++) {
		char *to = url->name + used;
		size_t size = host_text(&url->hosts[i], to + (i > 0), most - used - (i > 0));

		if (used + size + (i > 0) >= most)
			break;
		if (i > 0)
			*to = ',';
		used += size + (i > 0);
	}
	if (i < url->host_count)
		used += (size_t)snprintf(url->name + used, sizeof url->name - used, "%s(%u more)",
					 i > 0 ? "," : "", url->host_count - i);
	(void)snprintf(url->name + used, sizeof url->name - used, "%s", end); /* it fits */
}

/* name_server writes the URL of the server that is used now. */
static void name_server(const struct redis_url *url, char *ret_name, size_t size)
{
	const char *bracket = strchr(url->host, ':') ? "[" : "";

	(void)snprintf(ret_name, size, "redis%s://%s%.100s%s:%s/%u", url->tls ? "s" : "", bracket,
		       url->host, *bracket ? "]" : "", url->port, url->db);
}

/* name writes the URL for messages. An @ in a path may end a misplaced password, so the part before
 * the @ is hidden. */
static void name(struct redis_url *url)
{
	const char *at = url->path ? strrchr(url->path, '@') : NULL;

	if (url->path)
		(void)snprintf(url->name, sizeof url->name, "unix://%s%s?db=%u", at ? "***" : "",
			       at ? at : url->path, url->db);
	else if (url->kind == REDIS_SINGLE)
		name_server(url, url->name, sizeof url->name);
	else
		name_hosts(url);
	memcpy(url->server, url->name, sizeof url->server);
}

/* The schemes. No scheme is the beginning of another one, so their order does not matter. */
static const struct scheme {
	const char *text;
	enum redis_kind kind;
	bool tls, is_unix;
} schemes[] = {
    {"redis://", REDIS_SINGLE, false, false},
    {"valkey://", REDIS_SINGLE, false, false},
    {"rediss://", REDIS_SINGLE, true, false},
    {"valkeys://", REDIS_SINGLE, true, false},
    {"redis+sentinel://", REDIS_SENTINEL, false, false},
    {"valkey+sentinel://", REDIS_SENTINEL, false, false},
    {"rediss+sentinel://", REDIS_SENTINEL, true, false},
    {"valkeys+sentinel://", REDIS_SENTINEL, true, false},
    {"redis+cluster://", REDIS_CLUSTER, false, false},
    {"valkey+cluster://", REDIS_CLUSTER, false, false},
    {"rediss+cluster://", REDIS_CLUSTER, true, false},
    {"valkeys+cluster://", REDIS_CLUSTER, true, false},
    {"unix://", REDIS_SINGLE, false, true},
};

static const struct scheme *scheme_of(const char *text)
{
	for (size_t i = 0; i < sizeof schemes / sizeof *schemes; i++)
		if (ascii_begins(text, schemes[i].text))
			return &schemes[i];
	return NULL;
}

static int read_url(struct url_reading *reading, const char *text)
{
	const struct scheme *scheme = scheme_of(text);
	const char *rest;
	size_t size;
	int status;

	if (!scheme)
		return message_refuse(reading->message,
				      "a Redis URL begins with redis://, rediss://, valkey://, "
				      "valkeys://, unix://, redis+sentinel://, "
				      "rediss+sentinel://, redis+cluster:// or "
				      "rediss+cluster://");
	if (scheme->tls && !DW_WITH_TLS)
		return message_refuse(reading->message,
				      "rediss:// needs TLS, without which this durawheel was "
				      "built: build it with -DDW_WITH_TLS=ON, or use redis:// to a "
				      "local TLS tunnel");
	reading->url->kind = scheme->kind;
	reading->url->tls = scheme->tls;
	rest = text + strlen(scheme->text);
	size = strcspn(rest, "?");
	status = scheme->is_unix ? read_unix(reading, rest, size) : read_tcp(reading, rest, size);
	if (status == DW_OK && rest[size] == '?')
		status = url_options(reading, rest + size + 1);
	if (status == DW_OK && scheme->kind == REDIS_CLUSTER && reading->url->db != 0)
		return message_refuse(reading->message,
				      "a Redis Cluster has only the database 0: leave it out of "
				      "the URL");
	return status;
}

int redis_url_read(struct redis_url *ret_url, const char *text, const struct alloc *alloc,
		   char *ret_message)
{
	struct redis_url url = {.host = NULL};
	struct url_reading reading = {.url = &url, .alloc = alloc, .message = ret_message};
	int status = read_url(&reading, text);

	if (status == DW_OK)
		status = url_passwords(&reading);
	url_wipe(alloc, reading.file);
	url_wipe(alloc, reading.sentinel_file);
	if (status != DW_OK) {
		redis_url_free(&url, alloc);
		return status;
	}
	name(&url);
	*ret_url = url;
	return DW_OK;
}

int redis_url_aim(struct redis_url *url, const char *host, const char *port,
		  const struct alloc *alloc)
{
	struct url_reading reading = {.url = url, .alloc = alloc};
	struct redis_host copy = {NULL};
	char server[sizeof url->server];

	if (url_copy(&reading, host, strlen(host), &copy.host) != DW_OK ||
	    url_copy(&reading, port, strlen(port), &copy.port) != DW_OK) {
		alloc_free(alloc, copy.host);
		return DW_ENOMEM;
	}
	alloc_free(alloc, url->host);
	alloc_free(alloc, url->port);
	url->host = copy.host;
	url->port = copy.port;
	name_server(url, server, sizeof server);
	(void)snprintf(url->server, sizeof url->server, "%.120s (%.36s)", server,
		       url->master ? url->master : "cluster"); /* cut if long */
	return DW_OK;
}

void redis_url_free(struct redis_url *url, const struct alloc *alloc)
{
	url_wipe(alloc, url->password);
	url_wipe(alloc, url->sentinel_password);
	url_wipe(alloc, url->user);
	for (unsigned i = 0; i < url->host_count; i++) {
		alloc_free(alloc, url->hosts[i].host);
		alloc_free(alloc, url->hosts[i].port);
	}
	alloc_free(alloc, url->host);
	alloc_free(alloc, url->port);
	alloc_free(alloc, url->path);
	alloc_free(alloc, url->ca);
	alloc_free(alloc, url->cert);
	alloc_free(alloc, url->key);
	alloc_free(alloc, url->sni);
	alloc_free(alloc, url->master);
	alloc_free(alloc, url->sentinel_user);
	*url = (struct redis_url){.host = NULL};
}
