#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/message.h"
#include "redis/secret_file.h"
#include "redis/url_text.h"

#define PASSWORD_FILE_MAX ((size_t)4095)
#define PASSWORD_VARIABLE "DURAWHEEL_REDIS_PASSWORD"
#define SENTINEL_VARIABLE "DURAWHEEL_SENTINEL_PASSWORD"
#define DB_MAX 999999u
#define REPLICAS_MAX 8u

int url_db(struct url_reading *reading, const char *text, size_t size)
{
	if (reading->db_said)
		return message_refuse(reading->message,
				      "the Redis URL names the database twice: either /N or db=N");
	if (!url_number(text, size, DB_MAX, &reading->url->db))
		return message_refuse(
		    reading->message,
		    "the database in the Redis URL is not a number from 0 to %u, as in "
		    "redis://localhost:6379/0; a / in a password is written %%2F",
		    DB_MAX);
	reading->db_said = true;
	return DW_OK;
}

static int read_replicas(struct url_reading *reading, const char *text, size_t size)
{
	if (reading->replicas_said)
		return message_refuse(reading->message,
				      "the Redis URL has replicas= twice: once is enough");
	if (!url_number(text, size, REPLICAS_MAX, &reading->url->replicas))
		return message_refuse(
		    reading->message,
		    "replicas= in the Redis URL is not a number from 0 to %u: so many replicas "
		    "have a change before its call is answered, as in replicas=1",
		    REPLICAS_MAX);
	if (reading->url->replicas > 0 && reading->url->kind == REDIS_CLUSTER)
		return message_refuse(reading->message,
				      "replicas=N is for one server and for Sentinels: with "
				      "redis+cluster:// calls are answered when the master has the "
				      "change");
	reading->replicas_said = true;
	return DW_OK;
}

/* ---- After the ? --------------------------------------------------------------------------- */

static bool is_option(const char *text, size_t size, const char *name)
{
	return size == strlen(name) && memcmp(text, name, size) == 0;
}

/* take_text reads the value of an option, which may appear only once. */
static int take_text(struct url_reading *reading, const char *name, const char *text, size_t size,
		     char **text_of)
{
	if (*text_of)
		return message_refuse(reading->message,
				      "the Redis URL has %s twice: once is enough", name);
	if (size == 0)
		return message_refuse(reading->message,
				      "%s in the Redis URL has no value: give one, or leave %s out",
				      name, name);
	return url_escaped(reading, text, size, text_of);
}

static int permit_sentinel(const struct url_reading *reading)
{
	if (reading->url->kind == REDIS_SENTINEL)
		return DW_OK;
	return message_refuse(reading->message,
			      "sentinel-user=NAME and sentinel-password-file=FILE are for "
			      "Sentinels: redis+sentinel://HOST,HOST,HOST/MASTER");
}

static int permit_tls(const struct url_reading *reading)
{
	if (reading->url->tls)
		return DW_OK;
	return message_refuse(reading->message,
			      "ca=FILE, cert=FILE, key=FILE and sni=NAME are for TLS: "
			      "rediss://HOST");
}

static int read_option(struct url_reading *reading, const char *text, size_t size)
{
	struct redis_url *url = reading->url;
	const struct {
		const char *name;
		char **text_of;
		int (*permit)(const struct url_reading *);
	} options[] = {
	    {"password-file=", &reading->file, NULL},
	    {"ca=", &url->ca, permit_tls},
	    {"cert=", &url->cert, permit_tls},
	    {"key=", &url->key, permit_tls},
	    {"sni=", &url->sni, permit_tls},
	    {"sentinel-user=", &url->sentinel_user, permit_sentinel},
	    {"sentinel-password-file=", &reading->sentinel_file, permit_sentinel},
	};
	const char *equals = memchr(text, '=', size);
	size_t head = equals ? (size_t)(equals - text) + 1 : size;

	if (is_option(text, head, "db="))
		return url_db(reading, text + head, size - head);
	if (is_option(text, head, "replicas="))
		return read_replicas(reading, text + head, size - head);
	for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
		if (!is_option(text, head, options[i].name))
			continue;
		if (options[i].permit && options[i].permit(reading) != DW_OK)
			return DW_EINVAL;
		return take_text(reading, options[i].name, text + head, size - head,
				 options[i].text_of);
	}
	return url_refuse_option(reading, text, size);
}

/* check_tls is called when all options are read. */
static int check_tls(const struct url_reading *reading)
{
	const struct redis_url *url = reading->url;

	if (!url->cert != !url->key)
		return message_refuse(reading->message,
				      "in the Redis URL cert=FILE needs key=FILE, and key=FILE "
				      "needs cert=FILE");
	if (url->sni && !url_is_host(url->sni, strlen(url->sni), ".-_:"))
		return message_refuse(reading->message,
				      "sni= in the Redis URL is the name or the address in the "
				      "server's certificate, as in sni=redis.example.org");
	return DW_OK;
}

int url_options(struct url_reading *reading, const char *text)
{
	int status = DW_OK;

	while (*text && status == DW_OK) {
		size_t size = strcspn(text, "&");

		status = read_option(reading, text, size);
		text += size + (text[size] == '&');
	}
	return status == DW_OK ? check_tls(reading) : status;
}

/* ---- The password -------------------------------------------------------------------------- */

/* A password that may be in a file or in an environment variable. */
struct secret {
	const char *file;
	const char *option; /* the option that names the file */
	const char *variable;
	char **password;
};

static int take_secret(struct url_reading *reading, const struct secret *secret, const char *text,
		       size_t size)
{
	if (size > 0 && text[size - 1] == '\n')
		size--;
	if (size == 0 || memchr(text, '\0', size))
		return message_refuse(reading->message, "the %s \"%.120s\" %s", secret->option,
				      secret->file,
				      size == 0 ? "is empty" : "has a NUL byte in it");
	return url_copy(reading, text, size, secret->password);
}

static int read_file(struct url_reading *reading, const struct secret *secret)
{
	char nameless[64];
	const struct secret_file file = {.path = secret->file,
					 .nameless = nameless,
					 .what = secret->option,
					 .is_hidden = true,
					 .is_private = true,
					 .most = PASSWORD_FILE_MAX};
	char *text = NULL;
	size_t size = 0;
	int status;

	(void)snprintf(nameless, sizeof nameless, "%s of the Redis URL", secret->option);
	status = secret_file_read(&file, reading->alloc, &text, &size, reading->message);
	if (status != DW_OK)
		return status;
	status = take_secret(reading, secret, text, size);
	secret_file_free(reading->alloc, text, size);
	return status;
}

static int find_password(struct url_reading *reading, const struct secret *secret)
{
	const char *given = getenv(secret->variable);

	if (*secret->password)
		return DW_OK;
	if (secret->file)
		return read_file(reading, secret);
	if (given && *given)
		return url_copy(reading, given, strlen(given), secret->password);
	return DW_OK;
}

int url_passwords(struct url_reading *reading)
{
	struct redis_url *url = reading->url;
	const struct secret ours = {reading->file, "password-file", PASSWORD_VARIABLE,
				    &url->password};
	const struct secret sentinels = {reading->sentinel_file, "sentinel-password-file",
					 SENTINEL_VARIABLE, &url->sentinel_password};
	int status = find_password(reading, &ours);

	if (status == DW_OK && url->kind == REDIS_SENTINEL)
		status = find_password(reading, &sentinels);
	if (status == DW_OK && url->user && !url->password)
		return message_refuse(reading->message,
				      "the Redis URL names a user without a password: "
				      "user:password@, password-file=FILE, or " PASSWORD_VARIABLE);
	if (status == DW_OK && url->sentinel_user && !url->sentinel_password)
		return message_refuse(
		    reading->message,
		    "the Redis URL names a user of the Sentinels without a "
		    "password: sentinel-password-file=FILE, or " SENTINEL_VARIABLE);
	return status;
}
