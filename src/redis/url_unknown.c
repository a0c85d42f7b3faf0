/* Says what is wrong with an option that no Redis URL of its kind has. */
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/message.h"
#include "redis/url_text.h"

#define LIST_SIZE 160

enum use { USE_ALWAYS, USE_NO_CLUSTER, USE_TLS, USE_SENTINEL };

static const struct option {
	const char *name, *value;
	enum use use;
} options[] = {
    {"db", "N", USE_NO_CLUSTER},
    {"password-file", "FILE", USE_ALWAYS},
    {"replicas", "N", USE_NO_CLUSTER},
    {"ca", "FILE", USE_TLS},
    {"cert", "FILE", USE_TLS},
    {"key", "FILE", USE_TLS},
    {"sni", "NAME", USE_TLS},
    {"sentinel-user", "NAME", USE_SENTINEL},
    {"sentinel-password-file", "FILE", USE_SENTINEL},
};

static bool may_stand(const struct option *option, const struct redis_url *url)
{
	switch (option->use) {
	case USE_NO_CLUSTER:
		return url->kind != REDIS_CLUSTER;
	case USE_TLS:
		return url->tls;
	case USE_SENTINEL:
		return url->kind == REDIS_SENTINEL;
	default:
		return true;
	}
}

static void list_options(const struct redis_url *url, char ret_list[LIST_SIZE])
{
	size_t size = 0;

	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (may_stand(&options[i], url))
			size += (size_t)snprintf(ret_list + size, LIST_SIZE - size, "%s%s=%s",
						 size > 0 ? ", " : "", options[i].name,
						 options[i].value); /* all of them fit */
}

static bool same(char a, char b)
{
	return ascii_is_for(&a, &b, 1) || (a == '_' && b == '-');
}

/* is_near returns true if one letter is missing, too many or wrong, or if two neighbours are
 * swapped, or if the word is the beginning of the name. */
static bool is_near(const char *word, size_t size, const char *name)
{
	size_t length = strlen(name), begin = 0, end = 0;
	size_t least = size < length ? size : length, most = size < length ? length : size;

	while (begin < least && same(word[begin], name[begin]))
		begin++;
	while (end < least - begin && same(word[size - 1 - end], name[length - 1 - end]))
		end++;
	if (size > 2 && begin == size)
		return true;
	if (size == length && most - begin - end == 2)
		return same(word[begin], name[begin + 1]) && same(word[begin + 1], name[begin]);
	return size > 1 && most - begin - end <= 1;
}

int url_refuse_option(const struct url_reading *reading, const char *text, size_t size)
{
	const char *equals = memchr(text, '=', size);
	size_t word = equals ? (size_t)(equals - text) : size;
	char list[LIST_SIZE] = "";

	for (size_t i = 0; i < sizeof options / sizeof *options; i++)
		if (may_stand(&options[i], reading->url) && is_near(text, word, options[i].name))
			return message_refuse(reading->message,
					      "the Redis URL has an unknown option after its ?: "
					      "did you mean %s=%s? A ? in a password is written "
					      "%%3F",
					      options[i].name, options[i].value);
	list_options(reading->url, list);
	return message_refuse(reading->message,
			      "the Redis URL has an unknown option after its ?: write %s, joined "
			      "by &, and a ? in a password as %%3F",
			      list);
}
