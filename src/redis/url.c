#include "redis/url.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>

#include "base/ascii.h"
#include "base/message.h"
#include "redis/secret_file.h"

/* No message repeats a part of the URL: when a password was not escaped, any part of the URL may
 * belong to it. */

#define PASSWORD_FILE_MAX ((size_t)4095)
#define PASSWORD_VARIABLE "DURAWHEEL_REDIS_PASSWORD"
#define PORT_DEFAULT "6379"
#define DB_MAX 999999u

struct reading {
	struct redis_url *url;
	const struct alloc *alloc;
	char *message;
	char *file; /* the password-file; NULL if none is named */
	bool db_said;
};

/* ---- Parts --------------------------------------------------------------------------------- */

/* free_secret overwrites the text before it frees it. The compiler may leave out a memset before a
 * free, but not explicit_bzero. */
static void free_secret(const struct alloc *alloc, char *text)
{
	if (text)
		explicit_bzero(text, strlen(text));
	alloc_free(alloc, text);
}

/* copy_part copies a part of the text. Returns DW_OK or DW_ENOMEM. */
static int copy_part(struct reading *reading, const char *text, size_t size, char **ret_copy)
{
	char *copy = alloc_new(reading->alloc, size + 1);

	if (!copy)
		return DW_ENOMEM;
	memcpy(copy, text, size);
	*ret_copy = copy;
	return DW_OK;
}

static int nibble(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* decode replaces each %41 by its character, in place. Returns false for a % without two
 * hexadecimal digits, and for a NUL. */
static bool decode(char *text)
{
	char *to = text;

	for (const char *from = text; *from; from++, to++) {
		bool escaped = *from == '%';
		int high = escaped ? nibble(from[1]) : 0;
		int low = escaped && high >= 0 ? nibble(from[2]) : 0;

		if (high < 0 || low < 0 || (escaped && high + low == 0))
			return false;
		*to = escaped ? (char)(unsigned char)(high * 16 + low) : *from;
		from += escaped ? 2 : 0;
	}
	*to = '\0';
	return true;
}

static int read_escaped(struct reading *reading, const char *text, size_t size, char **ret_copy)
{
	char *copy = NULL;
	int status = copy_part(reading, text, size, &copy);

	if (status != DW_OK)
		return status;
	if (!decode(copy)) {
		free_secret(reading->alloc, copy);
		return message_refuse(reading->message,
				      "in the Redis URL a %% is not followed by two hexadecimal "
				      "digits other than 00: %%25 is a %% itself");
	}
	*ret_copy = copy;
	return DW_OK;
}

/* read_number reads decimal digits. Returns false if there are other characters, or if the number
 * is above `max`. */
static bool read_number(const char *text, size_t size, unsigned max, unsigned *ret_number)
{
	unsigned number = 0;

	if (size == 0 || size > 6)
		return false;
	for (size_t i = 0; i < size; i++) {
		if (text[i] < '0' || text[i] > '9')
			return false;
		number = 10 * number + (unsigned)(text[i] - '0');
	}
	if (number > max)
		return false;
	*ret_number = number;
	return true;
}

static int read_db(struct reading *reading, const char *text, size_t size)
{
	if (reading->db_said)
		return message_refuse(reading->message,
				      "the Redis URL names the database twice: either /N or db=N");
	if (!read_number(text, size, DB_MAX, &reading->url->db))
		return message_refuse(
		    reading->message,
		    "the database in the Redis URL is not a number from 0 to %u, as in "
		    "redis://localhost:6379/0; a / in a password is written %%2F",
		    DB_MAX);
	reading->db_said = true;
	return DW_OK;
}

static bool is_host(const char *text, size_t size, const char *more)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";

	for (size_t i = 0; i < size; i++)
		if (!memchr(letters, text[i], sizeof letters - 1) &&
		    !(text[i] >= '0' && text[i] <= '9') && !strchr(more, text[i]))
			return false;
	return size > 0 && size <= 253;
}

/* read_user reads [user][:password]. */
static int read_user(struct reading *reading, const char *text, size_t size)
{
	const char *colon = memchr(text, ':', size);
	size_t user_size = colon ? (size_t)(colon - text) : size;
	int status = DW_OK;

	if (user_size > 0)
		status = read_escaped(reading, text, user_size, &reading->url->user);
	if (status == DW_OK && colon && user_size + 1 < size)
		status =
		    read_escaped(reading, colon + 1, size - user_size - 1, &reading->url->password);
	return status;
}

/* ---- After the ? --------------------------------------------------------------------------- */

static int refuse_option(const struct reading *reading)
{
	return message_refuse(reading->message,
			      "after the ? of the Redis URL only db=N and password-file=FILE, and "
			      "with rediss:// ca=FILE, cert=FILE, key=FILE and sni=NAME, may "
			      "stand, once each, joined by &; a ? in a password is written %%3F");
}

static bool is_option(const char *text, size_t size, const char *name)
{
	return size == strlen(name) && memcmp(text, name, size) == 0;
}

/* take_text reads the value of an option, which may be given once. */
static int take_text(struct reading *reading, const char *text, size_t size, char **text_of)
{
	if (*text_of || size == 0)
		return refuse_option(reading);
	return read_escaped(reading, text, size, text_of);
}

static int take_tls(struct reading *reading, const char *text, size_t size, char **text_of)
{
	if (!reading->url->tls)
		return message_refuse(
		    reading->message,
		    "ca=FILE, cert=FILE, key=FILE and sni=NAME are for TLS: rediss://HOST");
	return take_text(reading, text, size, text_of);
}

static int read_option(struct reading *reading, const char *text, size_t size)
{
	struct redis_url *url = reading->url;
	const char *equals = memchr(text, '=', size);
	size_t head = equals ? (size_t)(equals - text) + 1 : size;
	const char *value = text + head;
	size_t left = size - head;

	if (is_option(text, head, "db="))
		return read_db(reading, value, left);
	if (is_option(text, head, "password-file="))
		return take_text(reading, value, left, &reading->file);
	if (is_option(text, head, "ca="))
		return take_tls(reading, value, left, &url->ca);
	if (is_option(text, head, "cert="))
		return take_tls(reading, value, left, &url->cert);
	if (is_option(text, head, "key="))
		return take_tls(reading, value, left, &url->key);
	if (is_option(text, head, "sni="))
		return take_tls(reading, value, left, &url->sni);
	return refuse_option(reading);
}

/* check_tls is called when all options are read. */
static int check_tls(const struct reading *reading)
{
	const struct redis_url *url = reading->url;

	if (!url->cert != !url->key)
		return message_refuse(reading->message,
				      "in the Redis URL cert=FILE needs key=FILE, and key=FILE "
				      "needs cert=FILE");
	if (url->sni && !is_host(url->sni, strlen(url->sni), ".-_:"))
		return message_refuse(reading->message,
				      "sni= in the Redis URL is the name or the address in the "
				      "server's certificate, as in sni=redis.example.org");
	return DW_OK;
}

static int read_options(struct reading *reading, const char *text)
{
	int status = DW_OK;

	while (*text && status == DW_OK) {
		size_t size = strcspn(text, "&");

		status = read_option(reading, text, size);
		text += size + (text[size] == '&');
	}
	return status == DW_OK ? check_tls(reading) : status;
}

/* ---- TCP ----------------------------------------------------------------------------------- */

static int read_host(struct reading *reading, const char *text, size_t size, size_t *ret_used)
{
	bool bracketed = size > 0 && text[0] == '[';
	const char *end = memchr(text, bracketed ? ']' : ':', size);
	const char *from = text + bracketed;
	size_t count = (size_t)((end ? end : text + size) - from);

	if ((bracketed && !end) || !is_host(from, count, bracketed ? ":.%-_" : ".-_"))
		return message_refuse(reading->message,
				      "the Redis URL has no host name or address: "
				      "redis://HOST[:PORT][/DB], with an IPv6 address in "
				      "brackets, and @ / ? : in a password as %%40 %%2F %%3F %%3A");
	*ret_used = count + (bracketed ? 2 : 0);
	return copy_part(reading, from, count, &reading->url->host);
}

/* read_address reads host[:port]. */
static int read_address(struct reading *reading, const char *text, size_t size)
{
	size_t used = 0;
	unsigned port = 0;
	int status = read_host(reading, text, size, &used);

	if (status != DW_OK)
		return status;
	if (used == size)
		return copy_part(reading, PORT_DEFAULT, strlen(PORT_DEFAULT), &reading->url->port);
	if (text[used] != ':' || !read_number(text + used + 1, size - used - 1, 65535, &port) ||
	    port == 0)
		return message_refuse(reading->message,
				      "the port in the Redis URL is not a number from 1 to 65535: "
				      "redis://HOST[:PORT][/DB], with @ / ? : in a password as "
				      "%%40 %%2F %%3F %%3A");
	return copy_part(reading, text + used + 1, size - used - 1, &reading->url->port);
}

static const char *last_at(const char *text, size_t size)
{
	return memrchr(text, '@', size);
}

/* read_tcp reads [user][:password]@host[:port][/db]. */
static int read_tcp(struct reading *reading, const char *text, size_t size)
{
	const char *slash = memchr(text, '/', size);
	size_t count = slash ? (size_t)(slash - text) : size;
	const char *at = last_at(text, count);
	size_t skipped = at ? (size_t)(at - text) + 1 : 0;
	int status = at ? read_user(reading, text, skipped - 1) : DW_OK;

	if (status == DW_OK)
		status = read_address(reading, text + skipped, count - skipped);
	if (status == DW_OK && count + 1 < size)
		status = read_db(reading, slash + 1, size - count - 1);
	return status;
}

/* ---- A unix socket ------------------------------------------------------------------------- */

/* read_unix reads [user][:password]@PATH. A path may contain an @; a user may not, unless it is
 * escaped. */
static int read_unix(struct reading *reading, const char *text, size_t size)
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
		status = copy_part(reading, slash, size - skipped, &reading->url->path);
	return status;
}

/* ---- The password -------------------------------------------------------------------------- */

static int take_secret(struct reading *reading, const char *text, size_t size)
{
	if (size > 0 && text[size - 1] == '\n')
		size--;
	if (size == 0 || memchr(text, '\0', size))
		return message_refuse(reading->message, "the password-file \"%.120s\" %s",
				      reading->file,
				      size == 0 ? "is empty" : "has a NUL byte in it");
	return copy_part(reading, text, size, &reading->url->password);
}

static int read_file(struct reading *reading)
{
	const struct secret_file file = {.path = reading->file,
					 .nameless = "password-file of the Redis URL",
					 .what = "password-file",
					 .is_hidden = true,
					 .is_private = true,
					 .most = PASSWORD_FILE_MAX};
	char *text = NULL;
	size_t size = 0;
	int status = secret_file_read(&file, reading->alloc, &text, &size, reading->message);

	if (status != DW_OK)
		return status;
	status = take_secret(reading, text, size);
	secret_file_free(reading->alloc, text, size);
	return status;
}

static int find_password(struct reading *reading)
{
	const char *given = getenv(PASSWORD_VARIABLE);

	if (reading->url->password)
		return DW_OK;
	if (reading->file)
		return read_file(reading);
	if (given && *given)
		return copy_part(reading, given, strlen(given), &reading->url->password);
	return DW_OK;
}

/* ---- All of it ----------------------------------------------------------------------------- */

/* name writes the URL for messages. An @ in a path may end a password that was put in the wrong
 * place, so the part before it is hidden. */
static void name(struct redis_url *url)
{
	const char *bracket = url->host && strchr(url->host, ':') ? "[" : "";
	const char *at = url->path ? strrchr(url->path, '@') : NULL;

	if (url->path)
		(void)snprintf(url->name, sizeof url->name, "unix://%s%s?db=%u", at ? "***" : "",
			       at ? at : url->path, url->db);
	else
		(void)snprintf(url->name, sizeof url->name, "redis%s://%s%.100s%s:%s/%u",
			       url->tls ? "s" : "", bracket, url->host, *bracket ? "]" : "",
			       url->port, url->db);
}

/* scheme_size returns the size of the scheme if the text begins with it, in capital letters or not.
 * It returns 0 if it does not. */
static size_t scheme_size(const char *text, const char *scheme)
{
	size_t size = strlen(scheme);

	return ascii_begins(text, scheme) ? size : 0;
}

static int read_url(struct reading *reading, const char *text)
{
	size_t tls = scheme_size(text, "rediss://") + scheme_size(text, "valkeys://");
	size_t tcp = scheme_size(text, "redis://") + scheme_size(text, "valkey://") + tls;
	size_t scheme = tcp + scheme_size(text, "unix://");
	const char *rest = text + scheme;
	size_t size;
	int status;

	if (tls && !DW_WITH_TLS)
		return message_refuse(reading->message,
				      "rediss:// needs TLS, without which this durawheel was "
				      "built: build it with -DDW_WITH_TLS=ON, or use redis:// to a "
				      "local TLS tunnel");
	if (scheme == 0)
		return message_refuse(reading->message,
				      "a Redis URL begins with redis://, rediss://, valkey://, "
				      "valkeys:// or unix://");
	reading->url->tls = tls > 0;
	size = strcspn(rest, "?");
	status = tcp ? read_tcp(reading, rest, size) : read_unix(reading, rest, size);
	if (status == DW_OK && rest[size] == '?')
		status = read_options(reading, rest + size + 1);
	return status;
}

int redis_url_read(struct redis_url *ret_url, const char *text, const struct alloc *alloc,
		   char *ret_message)
{
	struct redis_url url = {.host = NULL};
	struct reading reading = {.url = &url, .alloc = alloc, .message = ret_message};
	int status = read_url(&reading, text);

	if (status == DW_OK)
		status = find_password(&reading);
	if (status == DW_OK && url.user && !url.password)
		status = message_refuse(
		    ret_message, "the Redis URL names a user without a password: "
				 "user:password@, password-file=FILE, or " PASSWORD_VARIABLE);
	free_secret(alloc, reading.file);
	if (status != DW_OK) {
		redis_url_free(&url, alloc);
		return status;
	}
	name(&url);
	*ret_url = url;
	return DW_OK;
}

void redis_url_free(struct redis_url *url, const struct alloc *alloc)
{
	free_secret(alloc, url->password);
	free_secret(alloc, url->user);
	alloc_free(alloc, url->host);
	alloc_free(alloc, url->port);
	alloc_free(alloc, url->path);
	alloc_free(alloc, url->ca);
	alloc_free(alloc, url->cert);
	alloc_free(alloc, url->key);
	alloc_free(alloc, url->sni);
	*url = (struct redis_url){.host = NULL};
}
