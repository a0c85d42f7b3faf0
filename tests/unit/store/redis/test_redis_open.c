/* Opening while the server refuses what it will take later. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <hiredis/hiredis.h>

#include "store/store.h"
#include "support/ask.h"
#include "support/cmocka.h"
#include "support/redis_server.h"

static struct redis_server server;
static redisContext *redis;
static unsigned place_count;

static void command(const char *text)
{
	redisReply *reply = redisCommand(redis, text);

	assert_non_null(reply);
	if (reply->type == REDIS_REPLY_ERROR)
		fail_msg("%s: %s", text, reply->str);
	freeReplyObject(reply);
}

/* await_info waits until the section of INFO says the words. */
static void await_info(const char *section, const char *words)
{
	for (int i = 0; i < 60000; i++) {
		redisReply *reply = redisCommand(redis, "INFO %s", section);
		bool found;

		assert_non_null(reply);
		found = strstr(reply->str, words);
		freeReplyObject(reply);
		if (found)
			return;
		(void)nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
	}
	fail_msg("INFO %s does not say %s", section, words);
}

/* ---- What is refused ------------------------------------------------------------------------ */

static void refuse_for_replicas(void)
{
	command("CONFIG SET min-replicas-to-write 1");
}

static void accept_without_replicas(void)
{
	command("CONFIG SET min-replicas-to-write 0");
}

/* refuse_for_disk: a snapshot cannot take the place of a folder. */
static void refuse_for_disk(void)
{
	char path[TEMP_SIZE];

	temp_file(path, server.folder, "dump.rdb");
	assert_int_equal(mkdir(path, 0700), 0);
	command("BGSAVE");
	await_info("persistence", "rdb_bgsave_in_progress:0");
	await_info("persistence", "rdb_last_bgsave_status:err");
}

static void accept_without_disk(void)
{
	char path[TEMP_SIZE];

	command("CONFIG SET stop-writes-on-bgsave-error no");
	temp_file(path, server.folder, "dump.rdb");
	assert_int_equal(rmdir(path), 0);
}

struct refusal {
	const char *word;
	void (*begin)(void);
	void (*end)(void);
};

static const struct refusal refusals[] = {
    {"NOREPLICAS", refuse_for_replicas, accept_without_replicas},
    {"MISCONF", refuse_for_disk, accept_without_disk},
};

#define REFUSALS (sizeof refusals / sizeof *refusals)

/* ---- Opening -------------------------------------------------------------------------------- */

struct opening {
	dw_role role;
	dw_usec patience;
	char name[16];
	dw *d;
	int status;
	char message[DW_MESSAGE_SIZE];
	char log[DW_MESSAGE_SIZE];
};

static void log_line(dw_log_level level, const char *line, void *user)
{
	if (level <= DW_LOG_WARN)
		(void)snprintf(((struct opening *)user)->log, DW_MESSAGE_SIZE, "%s", line);
}

static void *open_one(void *arg)
{
	struct opening *opening = arg;
	char url[TEMP_SIZE + 16];
	dw_options options = {.size = sizeof options,
			      .store = url,
			      .role = opening->role,
			      .name = opening->name,
			      .open_patience_us = opening->patience,
			      .on_log = log_line,
			      .on_log_user = opening};

	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	opening->status = dw_open(&opening->d, &options, opening->message);
	(void)dw_close(opening->d, DW_SECONDS(60)); /* the thread's own */
	return NULL;
}

static struct opening new_opening(dw_role role, dw_usec patience)
{
	struct opening opening = {.role = role, .patience = patience};

	(void)snprintf(opening.name, sizeof opening.name, "place%u", ++place_count);
	return opening;
}

static void refusal_that_lasts_is_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < REFUSALS; i++) {
		refusals[i].begin();
		for (dw_role role = DW_OWNER; role <= DW_STANDBY; role++) {
			struct opening opening = new_opening(role, DW_SECONDS(1));

			(void)open_one(&opening);
			assert_string_equal(opening.log, ""); /* once is enough */
			if (role != DW_OWNER) {
				assert_int_equal(opening.status, DW_OK); /* it writes nothing */
				continue;
			}
			assert_true(opening.status == DW_ESTORE || opening.status == DW_EFULL);
			if (!strstr(opening.message, refusals[i].word) ||
			    !strstr(opening.message, "unix://"))
				fail_msg("%d: \"%s\" does not say %s", (int)role, opening.message,
					 refusals[i].word);
		}
		refusals[i].end();
	}
}

static void refusal_that_passes_is_waited_for(void **state)
{
	(void)state;
	for (size_t i = 0; i < REFUSALS; i++) {
		struct opening opening = new_opening(DW_OWNER, DW_SECONDS(60));
		char words[32];
		pthread_t thread;

		refusals[i].begin();
		command("CONFIG RESETSTAT");
		assert_int_equal(pthread_create(&thread, NULL, open_one, &opening), 0);
		(void)snprintf(words, sizeof words, "errorstat_%s", refusals[i].word);
		await_info("errorstats", words);
		refusals[i].end();
		assert_int_equal(pthread_join(thread, NULL), 0);
		if (opening.status != DW_OK)
			fail_msg("%s", opening.message);
		command("CONFIG SET stop-writes-on-bgsave-error yes");
	}
}

/* A lease with our nonce that this store has not asked for may be one of long ago, which came back
 * with old data. Its end is waited for, as everybody's. */
static void lease_with_our_nonce_alone_is_not_replaced(void **state)
{
	static dw_usec clock = DW_SECONDS(1700000000);
	char url[TEMP_SIZE + 16];
	char message[DW_MESSAGE_SIZE] = "";
	struct ask asks[2];

	(void)state;
	(void)snprintf(url, sizeof url, "unix://%s", server.path);
	for (int i = 0; i < 2; i++) {
		ask_init(&asks[i], DW_OWNER, 7, &clock); /* both have the same nonce */
		asks[i].env.name = "left";
		asks[i].env.patience = DW_SECONDS(60);
		assert_int_equal(redis_store_open(&asks[i].store, url, &asks[i].env, message),
				 i == 0 ? DW_OK : DW_EOWNED);
	}
	ask_end(&asks[0]);
	assert_int_equal(redis_store_open(&asks[1].store, url, &asks[1].env, message), DW_OK);
	ask_end(&asks[1]);
}

static int begin(void **state)
{
	static const char *const saving[] = {"--save", "3600000 1", NULL};

	(void)state;
	redis_server_start(&server, false, saving);
	redis = redisConnectUnix(server.path);
	assert_non_null(redis);
	assert_int_equal(redis->err, 0);
	return 0;
}

static int end(void **state)
{
	(void)state;
	redisFree(redis);
	redis_server_end(&server);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test_setup_teardown(refusal_that_lasts_is_named, begin, end),
	    cmocka_unit_test_setup_teardown(refusal_that_passes_is_waited_for, begin, end),
	    cmocka_unit_test_setup_teardown(lease_with_our_nonce_alone_is_not_replaced, begin, end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
