/* crash: the command and the library, killed, stopped and starved as real processes.
 *
 *	crash COMMAND [TEST...]
 *
 * DW_SEED=n repeats a run as far as time can be repeated; DW_TEST_SCALE is the share of the usual
 * amount, in percent (or 0.1 for a tenth); DW_LONG=1 is the full size. The folder of a test that
 * failed is kept.
 */
#include "faults/faults.h"

static const struct faults_test tests[] = {
    {"kill_run", kill_run},
    {"cancel_race", cancel_race},
    {"cancel_deadline", cancel_deadline},
    {"cancel_command", cancel_command},
    {"kill_import", kill_import},
    {"kill_put", kill_put},
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
