#include "cli/doctor/facts.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/out/text.h"

const char *fact(const struct server *server, const char *name)
{
	for (size_t i = 0; i < server->count; i++)
		if (strcmp(server->facts[i].name, name) == 0)
			return server->facts[i].value;
	return NULL;
}

bool fact_is(const struct server *server, const char *name, const char *value)
{
	const char *its = fact(server, name);

	return its && strcmp(its, value) == 0;
}

int64_t fact_number(const struct server *server, const char *name)
{
	const char *value = fact(server, name);

	return value ? strtoll(value, NULL, 10) : 0;
}

void fact_field(const char *value, const char *name, char *ret_value, size_t size)
{
	size_t name_size = strlen(name);

	ret_value[0] = '\0';
	while (*value) {
		size_t field = strcspn(value, ",");

		if (field > name_size && strncmp(value, name, name_size) == 0 &&
		    value[name_size] == '=')
			(void)snprintf(ret_value, size, "%.*s", (int)(field - name_size - 1),
				       value + name_size + 1); /* cut if long */
		value += field;
		value += *value == ',';
	}
}

/* ---- Commands of redis-cli ----------------------------------------------------------------- */

/* put_socket writes the options of redis-cli for the path in "unix://PATH?db=0". It leaves out a
 * masked password. */
static void put_socket(const char *path, char *ret_text, size_t size)
{
	char socket[DW_ID_SIZE], word[TEXT_SHELL_SIZE];

	path += strncmp(path, "***@", 4) == 0 ? 4 : 0;
	(void)snprintf(socket, sizeof socket, "%.*s", (int)strcspn(path, "? "),
		       path);                                                    /* cut if long */
	(void)snprintf(ret_text, size, " -s %s", text_shell_word(socket, word)); /* it fits */
}

/* put_host writes the options of redis-cli for "HOST:PORT/0". It leaves out values that are the
 * defaults of redis-cli. */
static void put_host(const char *place, char *ret_text, size_t size)
{
	const char *end = place + (*place == '[' ? strcspn(place, "]") : strcspn(place, ":/ "));
	const char *host = place + (*place == '['), *port = end + (*end == ']');
	int host_size = (int)(end - host), port_size;
	bool is_here = strncmp(host, "127.0.0.1", 9) == 0 || strncmp(host, "localhost", 9) == 0;
	size_t used = 0;

	port += *port == ':';
	port_size = (int)strspn(port, "0123456789");
	ret_text[0] = '\0';
	if (!(is_here && host_size == 9))
		used = (size_t)snprintf(ret_text, size, " -h %.*s", host_size, host);
	if (port_size > 0 && !(port_size == 4 && strncmp(port, "6379", 4) == 0) && used < size)
		(void)snprintf(ret_text + used, size - used, " -p %.*s", port_size,
			       port); /* cut if long */
}

/* put_place writes the options of redis-cli that select the server. */
static void put_place(const struct server *server, char *ret_text, size_t size)
{
	static const char sentinel[] = "Sentinel ";
	const char *name = server->name, *place = strstr(name, "://");
	size_t used;

	ret_text[0] = '\0';
	if (strncmp(name, "unix:", 5) == 0 && place)
		put_socket(place + strlen("://"), ret_text, size);
	else if (strncmp(name, sentinel, strlen(sentinel)) == 0)
		put_host(name + strlen(sentinel), ret_text, size);
	else if (place)
		put_host(place + strlen("://"), ret_text, size);
	used = strlen(ret_text);
	if (server->is_tls)
		(void)snprintf(ret_text + used, size - used, " --tls"); /* cut if long */
}

const char *server_change(const struct server *server, char ret_change[CHANGE_SIZE],
			  const char *format, ...)
{
	char place[TEXT_SHELL_SIZE + 64];
	va_list arguments;
	size_t used;

	put_place(server, place, sizeof place);
	used = (size_t)snprintf(ret_change, CHANGE_SIZE, "redis-cli%.300s ", place); /* it fits */
	va_start(arguments, format);
	(void)vsnprintf(ret_change + used, CHANGE_SIZE - used, format, arguments); /* cut if long */
	va_end(arguments);
	return ret_change;
}
