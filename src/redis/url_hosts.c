#include <string.h>

#include "base/message.h"
#include "redis/url_text.h"

static int read_name(struct url_reading *reading, const char *text, size_t size, char **ret_host,
		     size_t *ret_used)
{
	bool bracketed = size > 0 && text[0] == '[';
	const char *end = memchr(text, bracketed ? ']' : ':', size);
	const char *from = text + bracketed;
	size_t count = (size_t)((end ? end : text + size) - from);

	if ((bracketed && !end) || !url_is_host(from, count, bracketed ? ":.%-_" : ".-_"))
		return message_refuse(reading->message,
				      "the Redis URL has no host name or address: "
				      "redis://HOST[:PORT][/DB], with an IPv6 address in "
				      "brackets, and @ / ? : in a password as %%40 %%2F %%3F %%3A");
	*ret_used = count + (bracketed ? 2 : 0);
	return url_copy(reading, from, count, ret_host);
}

int url_host(struct url_reading *reading, const char *text, size_t size,
	     struct redis_host *ret_host, const char *port)
{
	size_t used = 0;
	unsigned number = 0;
	int status = read_name(reading, text, size, &ret_host->host, &used);

	if (status != DW_OK)
		return status;
	if (used == size)
		return url_copy(reading, port, strlen(port), &ret_host->port);
	if (text[used] != ':' || !url_number(text + used + 1, size - used - 1, 65535, &number) ||
	    number == 0)
		return message_refuse(reading->message,
				      "the port in the Redis URL is not a number from 1 to 65535: "
				      "redis://HOST[:PORT][/DB], with @ / ? : in a password as "
				      "%%40 %%2F %%3F %%3A");
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
		status = url_host(reading, text, (size_t)((next ? next : end) - text),
				  &url->hosts[url->host_count++], port);
	}
	return status;
}
