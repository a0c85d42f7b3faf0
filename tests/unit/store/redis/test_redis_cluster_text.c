/* The answer to CLUSTER NODES, line by line. */
#include "store/redis/nodes/cluster_text.h"

#include "support/cmocka.h"

static const char text[] =
    "aa1 127.0.0.1:7001@17001 myself,master - 0 0 9 connected 0-5460 7000 [7->-bb2]\n"
    "bb2 ::1:7002@17002,name.example master,fail - 0 0 3 connected 5461-6999 7001-16383\n"
    "cc3 :0@0 slave,noaddr aa1 0 0 9 disconnected\n"
    "dd4 127.0.0.1:7004@17004 master - 0 0 0 connected\n";

static void line_tells_address_epoch_and_slots(void **state)
{
	struct cluster_line line;
	const char *at = cluster_line_read(text, &line);

	(void)state;
	assert_non_null(at);
	assert_string_equal(line.id, "aa1");
	assert_string_equal(line.host, "127.0.0.1");
	assert_string_equal(line.port, "7001");
	assert_true(line.is_self && line.is_master && line.is_known);
	assert_int_equal(line.epoch, 9);
	assert_true(cluster_line_has(&line, 0) && cluster_line_has(&line, 5460));
	assert_true(cluster_line_has(&line, 7000));
	assert_false(cluster_line_has(&line, 5461) || cluster_line_has(&line, 7001));
	at = cluster_line_read(at, &line);
	assert_string_equal(line.host, "::1");
	assert_string_equal(line.port, "7002");
	assert_true(line.is_master && !line.is_self);
	assert_true(cluster_line_has(&line, 16383));
	assert_false(cluster_line_has(&line, 7000));
}

static void replica_and_empty_master_have_no_slots(void **state)
{
	struct cluster_line line;
	const char *at = cluster_line_read(text, &line);

	(void)state;
	at = cluster_line_read(at, &line);
	at = cluster_line_read(at, &line);
	assert_non_null(at);
	assert_false(line.is_master || line.is_known);
	at = cluster_line_read(at, &line);
	assert_non_null(at);
	assert_false(line.is_master || cluster_line_has(&line, 0));
	assert_null(cluster_line_read(at, &line));
}

static void other_texts_are_no_lines(void **state)
{
	static const char *const texts[] = {"", "\n", "a", "a b c d",
					    "a b@1 master - 0 0 1 x 0-1\n"};
	struct cluster_line line;

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		assert_null(cluster_line_read(texts[i], &line));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(line_tells_address_epoch_and_slots),
	    cmocka_unit_test(replica_and_empty_master_have_no_slots),
	    cmocka_unit_test(other_texts_are_no_lines),
	};

	return cmocka_run_group_tests_name("redis_cluster_text", tests, NULL, NULL);
}
