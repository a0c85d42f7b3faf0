#include <stdio.h>
#include <string.h>

#include "base/message.h"
#include "redis/url_text.h"

#define IN_A_PASSWORD "@ / ? : in a password as %%40 %%2F %%3F %%3A"

const char *redis_url_scheme(enum redis_kind kind, bool tls)
{
	static const char *const schemes[][2] = {
	    [REDIS_SINGLE] = {"redis://", "rediss://"},
	    [REDIS_SENTINEL] = {"redis+sentinel://", "rediss+sentinel://"},
	    [REDIS_CLUSTER] = {"redis+cluster://", "rediss+cluster://"},
	};

	return schemes[kind][tls];
}

const char *url_form(const struct redis_url *url, char ret_form[URL_FORM_SIZE])
{
	static const char *const parts[] = {
	    [REDIS_SINGLE] = "HOST[:PORT][/DB]",
	    [REDIS_SENTINEL] = "HOST[:PORT],HOST[:PORT],.../MASTER[/DB]",
	    [REDIS_CLUSTER] = "HOST[:PORT],HOST[:PORT],...",
	};

	(void)snprintf(ret_form, URL_FORM_SIZE, "%s%s", redis_url_scheme(url->kind, url->tls),
		       parts[url->kind]); /* it fits */
	return ret_form;
}

static int refuse_empty(const struct url_reading *reading, bool is_of_list)
{
	char form[URL_FORM_SIZE];

	return message_refuse(reading->message,
			      is_of_list ? "an entry in the Redis URL's list of hosts is empty: "
					   "%s, with " IN_A_PASSWORD
					 : "the Redis URL names no host: %s, with " IN_A_PASSWORD,
			      url_form(reading->url, form));
}

int url_refuse_list(const struct url_reading *reading)
{
	const char *s = reading->url->tls ? "s" : "";

	return message_refuse(reading->message,
			      "the Redis URL lists hosts, but redis%s:// takes one: use "
			      "redis%s+cluster://HOST,HOST for a cluster, or "
			      "redis%s+sentinel://HOST,HOST/MASTER; write " IN_A_PASSWORD,
			      s, s, s);
}

static int read_name(struct url_reading *reading, const char *text, size_t size, char **ret_host,
		     size_t *ret_used)
{
	bool bracketed = size > 0 && text[0] == '[';
	const char *end = memchr(text, bracketed ? ']' : ':', size);
	const char *from = text + bracketed;
	size_t count = (size_t)((end ? end : text + size) - from);
	char form[URL_FORM_SIZE];

	if (!bracketed && count == 0)
		return refuse_empty(reading, reading->url->host_count > 1 || text[size] == ',');
	if ((bracketed && !end) || !url_is_host(from, count, bracketed ? ":.%-_" : ".-_"))
		return message_refuse(reading->message,
				      "the Redis URL's host is no name or address: %s, with an "
				      "IPv6 address in brackets, and " IN_A_PASSWORD,
				      url_form(reading->url, form));
	*ret_used = count + (bracketed ? 2 : 0);
	return url_copy(reading, from, count, ret_host);
}

int url_host(struct url_reading *reading, const char *text, size_t size,
	     struct redis_host *ret_host, const char *port)
{
	size_t used = 0;
	unsigned number = 0;
	char form[URL_FORM_SIZE];
	int status = read_name(reading, text, size, &ret_host->host, &used);

	if (status != DW_OK)
		return status;
	if (used == size)
		return url_copy(reading, port, strlen(port), &ret_host->port);
	if (text[used] != ':' || !url_number(text + used + 1, size - used - 1, 65535, &number) ||
	    number == 0)
		return message_refuse(reading->message,
				      "the port in the Redis URL is not a number from 1 to 65535: "
				      "%s, with " IN_A_PASSWORD,
				      url_form(reading->url, form));
	return url_copy(reading, text + used + 1, size - used - 1, &ret_host->port);
}

int url_hosts(struct url_reading *reading, const char *text, size_t size, const char *port)
{
	struct redis_url *url = reading->url;
	const char *end = text + size;
	int status = DW_OK;

	for (const char *next = text; status == DW_OK && next; text = next + 1) {
		if (url->host_count == HOSTS_MAX)
			return message_refuse(
			    reading->message,
			    "the Redis URL names more than %d hosts: some of them "
			    "are enough, the others are asked for",
			    HOSTS_MAX);
		next = memchr(text, ',', (size_t)(end - text));
		url->host_count += 1;
		status = url_host(reading, text, (size_t)((next ? next : end) - text),
				  &url->hosts[url->host_count - 1], port);
	}
	return status;
}
