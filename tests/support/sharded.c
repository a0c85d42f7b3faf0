#include "support/sharded.h"

#include <stdio.h>

#include "durawheel/durawheel.h"
#include "store/redis/store.h"
#include "support/cmocka.h"

void sharded_open(struct viewer *viewer, const struct redis_server *server, const char *name)
{
	char url[TEMP_SIZE + 16];
	dw_options options = {.store = url, .name = name, .lease_us = DW_SECONDS(4)};

	(void)snprintf(url, sizeof url, "unix://%s", server->path);
	if (viewer_open(viewer, &options) != DW_OK)
		fail_msg("%s", viewer->message);
	assert_int_equal(dw_on(viewer->d, "t", viewer_due, viewer), DW_OK);
}

const char *sharded_id(unsigned shard, unsigned number)
{
	static char id[16];
	unsigned found = 0;

	for (unsigned i = 0;; i++) {
		(void)snprintf(id, sizeof id, "t%u", i);
		if (crc16_of(id) % SHARDS == shard && found++ == number)
			return id;
	}
}

void sharded_put_all(const struct viewer *viewer, dw_usec delay)
{
	for (unsigned i = 0; i < TIMERS; i++)
		assert_int_equal(
		    dw_after(viewer->d, "t", sharded_id(i % SHARDS, i / SHARDS), delay, NULL, 0),
		    DW_OK);
	viewer_sync(viewer, DW_OK);
}

int sharded_put(struct viewer *viewer, unsigned shard, unsigned number)
{
	dw_timer timer = {.size = sizeof timer, .id = sharded_id(shard, number), .topic = "t"};

	return viewer_answer(viewer, dw_put(viewer->d, &timer, viewer_done, viewer));
}

int sharded_outlast_lease(const struct viewer *viewer, unsigned shard)
{
	int before = viewer->starts;

	for (int i = 1; i <= OUTLAST_TIMERS; i++) {
		assert_int_equal(
		    dw_after(viewer->d, "t", sharded_id(shard, 90), DW_MILLISECONDS(100), NULL, 0),
		    DW_OK);
		viewer_await(viewer, &viewer->starts, before + i);
	}
	return OUTLAST_TIMERS;
}
