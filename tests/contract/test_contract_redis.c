#include "contract/contract.h"

#include <fcntl.h>
#include <hiredis/hiredis.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "store/store.h"
#include "support/certificates.h"
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

static void fill(void *place, bool full)
{
	redisContext *redis = redisConnectUnix(server.path);
	redisReply *reply;

	(void)place;
	assert_true(redis && !redis->err);
	reply = redisCommand(redis, "CONFIG SET maxmemory-policy noeviction maxmemory %d", full);
	assert_true(reply && reply->type == REDIS_REPLY_STATUS);
	freeReplyObject(reply);
	redisFree(redis);
}

static void free_place(void *place)
{
	fill(place, false); /* a case that has failed leaves it full */
	free(place);
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

/* The server's clock is ahead by *ahead_us, which it shares with the test. */
static _Atomic int64_t *ahead_us;

static void set_ahead(dw_usec ahead)
{
	atomic_store(ahead_us, ahead);
}

static void begin_clock(const char *folder)
{
	char path[TEMP_SIZE];
	int fd = open(temp_file(path, folder, "ahead"), O_RDWR | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0 && ftruncate(fd, sizeof *ahead_us) == 0);
	ahead_us = mmap(NULL, sizeof *ahead_us, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	assert_true(ahead_us != MAP_FAILED);
	(void)close(fd);
	assert_int_equal(setenv("DW_CLOCK_AHEAD_FILE", path, 1), 0);
}

static void start(bool tls, const char *const *options)
{
	assert_int_equal(setenv("LD_PRELOAD", DW_CLOCK_AHEAD, 1), 0);
	if (tls)
		redis_server_start_tls(&server, options);
	else
		redis_server_start(&server, true, options);
	assert_int_equal(unsetenv("LD_PRELOAD"), 0);
}

/* run: the suite over url. */
static int run(const char *title, const char *url)
{
	struct contract_kind kind = {.name = title,
				     .shared = true,
				     .served = true,
				     .make_place = make_place,
				     .free_place = free_place,
				     .open = open_store,
				     .fill = fill,
				     .set_ahead = set_ahead};

	url_of_server = url;
	return contract_run(&kind);
}

#if DW_WITH_TLS
static int run_by_tcp(void)
{
	struct certificates made;
	char url[TEMP_SIZE + 64];
	char cert[TEMP_SIZE];
	char key[TEMP_SIZE];
	const char *const options[] = {"--appendonly",
				       "yes",
				       "--appendfsync",
				       "everysec",
				       "--tls-cert-file",
				       cert,
				       "--tls-key-file",
				       key,
				       "--tls-ca-cert-file",
				       cert,
				       "--tls-auth-clients",
				       "no",
				       NULL};
	int failed;

	certificates_make(&made);
	certificates_sign(&made, &(struct certificate){"server", "ca", CERTIFICATE_NAMES, -1, 9});
	(void)certificates_file(&made, "server.pem", cert);
	(void)certificates_file(&made, "server.key", key);
	start(true, options);
	(void)snprintf(url, sizeof url, "rediss://127.0.0.1:%u?ca=%s/ca.pem", server.port,
		       made.folder);
	failed = run("redis, TLS, appendfsync everysec", url);
	redis_server_end(&server);
	certificates_remove(&made);
	return failed;
}
#else
static int run_by_tcp(void)
{
	static const char *const options[] = {"--appendonly", "yes", "--appendfsync", "everysec",
					      NULL};
	char url[64];
	int failed;

	start(false, options);
	(void)snprintf(url, sizeof url, "redis://127.0.0.1:%u", server.port);
	failed = run("redis, TCP, appendfsync everysec", url);
	redis_server_end(&server);
	return failed;
}
#endif

/* On a unix socket and over TCP, with TLS where there is any, and with each of the settings that
 * decide what a confirmation is. */
int main(void)
{
	static const char *const always[] = {"--appendonly", "yes", "--appendfsync", "always",
					     NULL};
	char folder[TEMP_SIZE], url[TEMP_SIZE + 16];
	int failed;

	temp_make(folder);
	begin_clock(folder);
	start(false, always);
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	failed = run("redis, unix socket, appendfsync always", url);
	redis_server_end(&server);

	failed += run_by_tcp();
	temp_remove(folder);
	return failed;
}
