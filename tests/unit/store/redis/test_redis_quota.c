/* How the shards are divided among the peers. */
#include "store/redis/owner/quota.h"

#include <stdio.h>
#include <string.h>

#include "support/cmocka.h"

#define NOW DW_SECONDS(1000)
#define OLD(seconds) (NOW - DW_SECONDS(seconds))

enum { SHARDS = 16, MANY = 50 };

/* A table of a case: the members in any order, and what each should have. */
struct expected {
	struct quota_member member;
	unsigned share;
};

static void check(const struct expected *expected, unsigned count, unsigned shards)
{
	struct quota_member members[QUOTA_MEMBERS_MAX];

	for (unsigned i = 0; i < count; i++)
		members[i] = expected[i].member;
	quota_share(members, count, shards, NOW);
	for (unsigned i = 0; i < count; i++)
		for (unsigned j = 0; j < count; j++)
			if (strcmp(members[j].name, expected[i].member.name) == 0)
				assert_int_equal(members[j].share, expected[i].share);
}

#define CHECK(shards, ...)                                                                         \
	do {                                                                                       \
		static const struct expected table[] = {__VA_ARGS__};                              \
		check(table, sizeof table / sizeof *table, shards);                                \
	} while (0)

static void quota_alone_is_everything(void **state)
{
	(void)state;
	CHECK(SHARDS, {{OLD(9), "a", 0, SHARDS, 0}, 16});
	CHECK(SHARDS, {{OLD(0), "a", 0, SHARDS, 0}, 16});
	check(NULL, 0, SHARDS);
}

static void quota_of_older_members_has_the_rest(void **state)
{
	(void)state;
	CHECK(SHARDS, {{OLD(7), "b", 9, SHARDS, 0}, 5}, {{OLD(8), "c", 0, SHARDS, 0}, 6},
	      {{OLD(7), "d", 7, SHARDS, 0}, 5});
	CHECK(5, {{OLD(8), "b", 9, SHARDS, 0}, 2}, {{OLD(8), "a", 0, SHARDS, 0}, 3});
}

static void quota_of_a_young_member_is_nothing(void **state)
{
	(void)state;
	CHECK(SHARDS, {{OLD(7), "a", 16, SHARDS, 0}, 16}, {{OLD(2), "b", 0, SHARDS, 0}, 0});
	CHECK(SHARDS, {{OLD(7), "a", 15, SHARDS, 0}, 8}, {{OLD(2), "b", 1, SHARDS, 0}, 8});
	CHECK(SHARDS, {{OLD(7), "a", 16, SHARDS, 0}, 8}, {{OLD(3), "b", 0, SHARDS, 0}, 8});
	/* It is all that the older ones have no room for: one of them leaves. */
	CHECK(SHARDS, {{OLD(7), "a", 16, 0, 0}, 0}, {{OLD(0), "b", 0, SHARDS, 0}, 16});
	CHECK(SHARDS, {{OLD(7), "a", 6, 6, 0}, 6}, {{OLD(0), "b", 0, SHARDS, 0}, 10});
	CHECK(SHARDS, {{OLD(2), "a", 0, SHARDS, 0}, 8}, {{OLD(1), "b", 0, SHARDS, 0}, 8});
	/* The server's clock was set back. */
	CHECK(SHARDS, {{OLD(7), "a", 16, SHARDS, 0}, 8}, {{OLD(-90), "b", 0, SHARDS, 0}, 8});
}

static void quota_of_a_member_without_room_goes_to_the_others(void **state)
{
	(void)state;
	CHECK(SHARDS, {{OLD(9), "a", 0, 1, 0}, 1}, {{OLD(8), "b", 0, SHARDS, 0}, 8},
	      {{OLD(7), "c", 0, SHARDS, 0}, 7});
	CHECK(SHARDS, {{OLD(9), "a", 0, 0, 0}, 0}, {{OLD(8), "b", 0, 3, 0}, 3},
	      {{OLD(7), "c", 0, 7, 0}, 7}, {{OLD(6), "d", 0, 5, 0}, 5});
	CHECK(SHARDS, {{OLD(9), "a", 0, 2, 0}, 2}, {{OLD(8), "b", 0, 3, 0}, 3});
}

/* Of any number of members all shards are given, and two members differ by one at most. */
static void quota_of_many_members_is_even(void **state)
{
	char names[MANY][8];
	struct quota_member members[MANY];

	(void)state;
	for (unsigned count = 1; count <= MANY; count++) {
		unsigned sum = 0, least = SHARDS, most = 0;

		for (unsigned i = 0; i < count; i++) {
			(void)snprintf(names[i], sizeof names[i], "%u", i);
			members[i] = (struct quota_member){
			    .since = OLD(10 + i % 3), .name = names[i], .room = SHARDS};
		}
		quota_share(members, count, SHARDS, NOW);
		for (unsigned i = 0; i < count; i++) {
			sum += members[i].share;
			least = members[i].share < least ? members[i].share : least;
			most = members[i].share > most ? members[i].share : most;
		}
		assert_int_equal(sum, SHARDS);
		assert_true(most - least <= 1);
	}
}

/* Each member takes other ones of the free shards. */
static void quota_first_leaves_shards_to_older_members(void **state)
{
	struct quota_member members[] = {
	    {OLD(9), "a", 4, SHARDS, 0}, {OLD(8), "b", 6, SHARDS, 0}, {OLD(7), "c", 2, SHARDS, 0}};

	(void)state;
	quota_share(members, 3, SHARDS, NOW);
	assert_int_equal(quota_first(members, 3, "a"), 0);
	assert_int_equal(quota_first(members, 3, "b"), 2);
	assert_int_equal(quota_first(members, 3, "c"), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(quota_alone_is_everything),
	    cmocka_unit_test(quota_of_older_members_has_the_rest),
	    cmocka_unit_test(quota_of_a_young_member_is_nothing),
	    cmocka_unit_test(quota_of_a_member_without_room_goes_to_the_others),
	    cmocka_unit_test(quota_of_many_members_is_even),
	    cmocka_unit_test(quota_first_leaves_shards_to_older_members),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
