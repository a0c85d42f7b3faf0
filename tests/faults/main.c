/* crash: kills, stops and starves the command and the library as real processes.
 *
 * 	crash COMMAND [TEST...]
 *
 * DW_SEED=n repeats a run as far as its timing can be repeated. DW_TEST_SCALE is the amount of work
 * in percent of the usual (or 0.1 for a tenth). DW_LONG=1 runs the full size. The folder of a
 * failed test is kept. */
#include "faults/faults.h"

static const struct faults_test tests[] = {
    {"kill_run", kill_run},
    {"cancel_race", cancel_race},
    {"cancel_deadline", cancel_deadline},
    {"cancel_command", cancel_command},
    {"kill_import", kill_import},
    {"kill_put", kill_put},
    {"kill_rules", kill_rules},
    {"kill_ends", kill_ends},
    {"order", order},
    {"order_killed", order_killed},
    {"stop_continue", stop_continue},
    {"stop_term", stop_term},
    {"clock_steps", clock_steps},
    {"second_owner", second_owner},
    {"fork_outlives", fork_outlives},
    {"fork_closes", fork_closes},
    {"full_disk", full_disk},
    {"small_disk", small_disk},
};
enum { TESTS = sizeof tests / sizeof tests[0] };

int main(int argc, char **argv)
{
	return faults_main(argc, argv, tests, TESTS);
}
