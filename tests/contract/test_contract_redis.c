#include "contract/contract.h"

#include <stdio.h>
#include <stdlib.h>

#include "store/store.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

/* One server for all cases; each has a namespace of its own. */
static struct redis_server server;
static unsigned place_count;
static const char *url_of_server;

static void *make_place(void)
{
	char *name = malloc(16);

	assert_non_null(name);
	(void)snprintf(name, 16, "case%u", ++place_count);
	return name;
}

static int open_store(void *place, const dw_store_env *env, dw_store **ret_store)
{
	char message[DW_MESSAGE_SIZE] = "";
	dw_store_env named = *env;
	int status;

	named.name = place;
	status = redis_store_open(ret_store, url_of_server, &named, message);
	if (status != DW_OK)
		print_message("%s\n", message);
	return status;
}

/* run: the suite over url. */
static int run(const char *title, const char *url)
{
	struct contract_kind kind = {.name = title,
				     .shared = true,
				     .served = true,
				     .make_place = make_place,
				     .free_place = free,
				     .open = open_store};

	url_of_server = url;
	return contract_run(&kind);
}

/* On a unix socket and over TCP, with each of the settings that decide what a confirmation is. */
int main(void)
{
	static const char *const always[] = {"--appendonly", "yes", "--appendfsync", "always",
					     NULL};
	static const char *const everysec[] = {"--appendonly", "yes", "--appendfsync", "everysec",
					       NULL};
	char url[TEMP_SIZE + 16];
	int failed;

	redis_server_start(&server, true, always);
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	failed = run("redis, unix socket, appendfsync always", url);
	redis_server_end(&server);

	redis_server_start(&server, true, everysec);
	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", server.port);
	failed += run("redis, TCP, appendfsync everysec", url);
	redis_server_end(&server);
	return failed;
}
