/* The history checker sees each kind of broken promise, names it, and nothing else. */
#include "support/history.h"

#include <string.h>

#include "support/cmocka.h"

#define DUE 1000
#define DIGEST 77u

/* What was said. */
struct heard {
	size_t counts[HISTORY_BROKEN_KINDS];
	size_t all;
};

static void hear(void *user, enum history_broken broken, size_t number, const char *line)
{
	struct heard *heard = user;

	assert_int_equal(number, 0);
	assert_non_null(strstr(line, history_broken_name(broken)));
	heard->counts[broken]++;
	heard->all++;
}

static struct history_event event(enum history_kind kind, size_t number, dw_usec at)
{
	return (struct history_event){.kind = kind,
				      .process = 1,
				      .number = number,
				      .at = at,
				      .due = DUE,
				      .digest = DIGEST,
				      .generation = 5,
				      .attempt = 1};
}

static void add(struct history *history, enum history_kind kind, size_t number, dw_usec at)
{
	struct history_event added = event(kind, number, at);

	history_add(history, &added);
}

static void put(struct history *history, size_t number)
{
	add(history, HISTORY_PUT, number, 10);
	add(history, HISTORY_PUT_ANSWERED, number, 20);
}

static void answer(struct history *history, enum history_kind kind, dw_usec at, int status)
{
	struct history_event added = event(kind, 0, at);

	added.status = status;
	added.generation = 6;
	history_add(history, &added);
}

/* finds: exactly one broken promise, and that one. Frees the history. */
static void finds(struct history *history, enum history_broken broken)
{
	struct heard heard = {0};

	assert_int_equal(history_check(history, hear, &heard), 1);
	assert_int_equal(heard.counts[broken], 1);
	history_free(history);
}

static void finds_nothing(struct history *history)
{
	struct heard heard = {0};

	assert_int_equal(history_check(history, hear, &heard), 0);
	assert_int_equal(heard.all, 0);
	history_free(history);
}

static struct history *with_put(void)
{
	struct history *history = history_new();

	put(history, 0);
	return history;
}

static void check_clean_history_is_silent(void **state)
{
	struct history *history = history_new();
	struct history_event moved = event(HISTORY_MOVE, 3, 30);
	struct history_event again = event(HISTORY_START, 4, 2000);

	(void)state;
	for (size_t i = 0; i < 5; i++)
		put(history, i);
	add(history, HISTORY_START, 0, DUE);
	add(history, HISTORY_SETTLED, 0, DUE + 10);
	add(history, HISTORY_CANCEL, 1, 40);
	add(history, HISTORY_CANCEL_ANSWERED, 1, 50);
	add(history, HISTORY_START, 2, DUE + 1);
	moved.due = 3000;
	history_add(history, &moved);
	moved.kind = HISTORY_MOVE_ANSWERED;
	moved.at = 40;
	moved.generation = 9;
	history_add(history, &moved);
	moved.kind = HISTORY_START;
	moved.at = 3001;
	history_add(history, &moved);
	add(history, HISTORY_START, 4, DUE + 1);
	history_fault(history, 1500, 1600);
	again.attempt = 2;
	history_add(history, &again);
	finds_nothing(history);
}

static void start_before_due_is_early(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_START, 0, DUE - 1);
	finds(history, HISTORY_EARLY);
}

static void confirmed_and_never_started_is_lost(void **state)
{
	(void)state;
	finds(with_put(), HISTORY_LOST);
}

static void refused_cancel_and_never_started_is_lost(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_CANCEL, 0, 30);
	answer(history, HISTORY_CANCEL_ANSWERED, 40, DW_ELATE);
	finds(history, HISTORY_LOST);
}

/* It was asked again what is there, and the first cancel had been done. */
static void cancel_over_a_fault_may_say_that_there_is_none(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_CANCEL, 0, 30);
	history_fault(history, 35, 36);
	answer(history, HISTORY_CANCEL_ANSWERED, 40, DW_ENOENT);
	finds_nothing(history);
}

static void no_such_timer_without_fault_or_start_is_lost(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_CANCEL, 0, 30);
	answer(history, HISTORY_CANCEL_ANSWERED, 40, DW_ENOENT);
	history_fault(history, 45, 46);
	finds(history, HISTORY_LOST);
}

static void moved_and_only_started_before_is_lost(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_START, 0, DUE);
	history_fault(history, DUE + 5, DUE + 6);
	add(history, HISTORY_MOVE, 0, DUE + 10);
	answer(history, HISTORY_MOVE_ANSWERED, DUE + 20, DW_OK);
	finds(history, HISTORY_LOST);
}

static void unknown_outcomes_excuse_what_is_missing(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_CANCEL, 0, 30);
	add(history, HISTORY_PUT, 1, 30);
	finds_nothing(history);
}

static void unknown_put_may_start(void **state)
{
	struct history *history = history_new();

	(void)state;
	add(history, HISTORY_PUT, 0, 10);
	add(history, HISTORY_START, 0, DUE);
	finds_nothing(history);
}

static void start_after_confirmed_cancel_is_named(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_CANCEL, 0, 30);
	add(history, HISTORY_CANCEL_ANSWERED, 0, 40);
	add(history, HISTORY_START, 0, DUE);
	finds(history, HISTORY_CANCELLED);
}

static void cancel_confirmed_after_start_is_named(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_START, 0, DUE);
	add(history, HISTORY_CANCEL, 0, DUE + 10);
	add(history, HISTORY_CANCEL_ANSWERED, 0, DUE + 20);
	finds(history, HISTORY_CANCELLED);
}

static void start_at_moved_deadline_is_named(void **state)
{
	struct history *history = with_put();
	struct history_event start = event(HISTORY_START, 0, DUE + 500);

	(void)state;
	add(history, HISTORY_MOVE, 0, 30);
	answer(history, HISTORY_MOVE_ANSWERED, 40, DW_OK);
	add(history, HISTORY_START, 0, DUE);
	start.generation = 6;
	start.attempt = 2;
	history_fault(history, DUE + 10, DUE + 20);
	history_add(history, &start);
	finds(history, HISTORY_MOVED);
}

static void start_after_no_such_timer_is_named(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_CANCEL, 0, 30);
	answer(history, HISTORY_CANCEL_ANSWERED, 40, DW_ENOENT);
	add(history, HISTORY_START, 0, DUE);
	finds(history, HISTORY_GONE);
}

/* start_again: a second start, of that attempt. */
static void start_again(struct history *history, uint32_t attempt)
{
	struct history_event again = event(HISTORY_START, 0, DUE + 100);

	again.attempt = attempt;
	history_add(history, &again);
}

static void start_after_confirmed_settlement_is_named(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_START, 0, DUE);
	add(history, HISTORY_SETTLED, 0, DUE + 10);
	history_fault(history, DUE + 20, DUE + 30);
	start_again(history, 2);
	finds(history, HISTORY_AGAIN);
}

static void second_start_without_fault_is_named(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_START, 0, DUE);
	history_fault(history, DUE - 20, DUE - 10);
	history_fault(history, DUE + 200, DUE + 300);
	start_again(history, 2);
	finds(history, HISTORY_REPEATED);
}

/* Three starts, and one fault that lasted over all of them. */
static void more_starts_than_faults_is_named(void **state)
{
	struct history *history = with_put();
	struct history_event third = event(HISTORY_START, 0, DUE + 200);

	(void)state;
	history_fault(history, DUE - 20, DUE + 500);
	add(history, HISTORY_START, 0, DUE);
	start_again(history, 2);
	third.attempt = 3;
	history_add(history, &third);
	finds(history, HISTORY_REPEATED);
}

static void same_attempt_again_is_named(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_START, 0, DUE);
	history_fault(history, DUE + 20, DUE + 30);
	start_again(history, 1);
	finds(history, HISTORY_ATTEMPT);
}

static void start_of_what_nobody_put_is_a_phantom(void **state)
{
	struct history *history = history_new();

	(void)state;
	add(history, HISTORY_START, 0, DUE);
	finds(history, HISTORY_PHANTOM);
}

static void start_of_a_failed_put_is_a_phantom(void **state)
{
	struct history *history = history_new();

	(void)state;
	add(history, HISTORY_PUT, 0, 10);
	answer(history, HISTORY_PUT_ANSWERED, 20, DW_EFULL);
	add(history, HISTORY_START, 0, DUE);
	finds(history, HISTORY_PHANTOM);
}

static void other_bytes_are_named(void **state)
{
	struct history *history = with_put();
	struct history_event start = event(HISTORY_START, 0, DUE);

	(void)state;
	start.digest = DIGEST + 1;
	history_add(history, &start);
	finds(history, HISTORY_DATA);
}

static void other_deadline_is_named(void **state)
{
	struct history *history = with_put();
	struct history_event start = event(HISTORY_START, 0, DUE + 10);

	(void)state;
	start.due = DUE + 5;
	history_add(history, &start);
	finds(history, HISTORY_DEADLINE);
}

static void deadline_of_a_failed_move_is_named(void **state)
{
	struct history *history = with_put();
	struct history_event move = event(HISTORY_MOVE, 0, 30);
	struct history_event start = event(HISTORY_START, 0, DUE + 10);

	(void)state;
	move.due = start.due = DUE + 5;
	history_add(history, &move);
	answer(history, HISTORY_MOVE_ANSWERED, 40, DW_ELATE);
	history_add(history, &start);
	finds(history, HISTORY_DEADLINE);
}

static void second_answer_is_named(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_PUT_ANSWERED, 0, 25);
	add(history, HISTORY_START, 0, DUE);
	finds(history, HISTORY_ANSWERS);
}

static void figures_are_those_of_the_events(void **state)
{
	struct history *history = with_put();

	(void)state;
	add(history, HISTORY_START, 0, DUE);
	history_fault(history, DUE + 20, DUE + 30);
	start_again(history, 2);
	assert_int_equal(history_count(history, HISTORY_START), 2);
	assert_int_equal(history_answers(history, HISTORY_PUT_ANSWERED, DW_OK), 1);
	assert_int_equal(history_repeats(history), 1);
	assert_int_equal(history_slowest(history), 10);
	assert_int_equal(history_first_start(history, DUE + 1), DUE + 100);
	assert_int_equal(history_first_start(history, DUE + 101), DW_NEVER);
	finds_nothing(history);
}

static unsigned part_of(size_t number)
{
	return number == 0 ? 3 : 5;
}

static void fault_of_another_part_excuses_nothing(void **state)
{
	struct history *history = with_put();

	(void)state;
	history_divide(history, part_of);
	add(history, HISTORY_START, 0, DUE);
	history_fault_in(history, 1u << 5, DUE + 20, DUE + 30);
	start_again(history, 2);
	finds(history, HISTORY_REPEATED);
}

static void only_what_the_replaced_server_had_may_be_lost(void **state)
{
	struct history *history = with_put();

	(void)state;
	put(history, 1);
	history_divide(history, part_of);
	assert_int_equal(history_replaced_in(history, 1u << 5, 0, DUE), 1);
	finds(history, HISTORY_LOST);
}

static void what_all_servers_have_must_not_be_lost(void **state)
{
	struct history *history = history_new();
	struct history_event answered = event(HISTORY_PUT_ANSWERED, 0, 20);

	(void)state;
	add(history, HISTORY_PUT, 0, 10);
	answered.is_safe = true;
	history_add(history, &answered);
	assert_int_equal(history_replaced(history, 0, DUE), 0);
	finds(history, HISTORY_LOST);
}

/* started_twice: each time as the first attempt, and the server was replaced meanwhile. */
static struct history *started_twice(dw_usec replaced_from)
{
	struct history *history = with_put();

	add(history, HISTORY_START, 0, DUE + 10);
	add(history, HISTORY_START, 0, DUE + 90);
	history_fault(history, DUE, DUE + 50);
	(void)history_replaced(history, replaced_from, DUE + 50);
	return history;
}

static void claim_may_be_lost_with_its_server(void **state)
{
	(void)state;
	finds_nothing(started_twice(DUE));
	finds(started_twice(DUE + 20), HISTORY_ATTEMPT);
}

/* Its put is answered after the start, with another generation. */
static struct history *started_before_its_answer(dw_usec replaced_from)
{
	struct history *history = history_new();

	add(history, HISTORY_PUT, 0, 10);
	add(history, HISTORY_START, 0, DUE + 10);
	answer(history, HISTORY_PUT_ANSWERED, DUE + 60, DW_OK);
	history_fault(history, DUE, DUE + 50);
	(void)history_replaced(history, replaced_from, DUE + 50);
	return history;
}

static void call_may_be_made_again_at_the_next_server(void **state)
{
	struct history *history = started_before_its_answer(DUE);
	struct heard heard = {0};

	(void)state;
	(void)history_check(history, hear, &heard);
	assert_int_equal(heard.counts[HISTORY_DEADLINE], 0);
	history_free(history);
	history = started_before_its_answer(DUE + 20);
	(void)history_check(history, hear, &heard);
	assert_true(heard.counts[HISTORY_DEADLINE] > 0);
	history_free(history);
}

/* started_by_two_puts: its put has no answer, and was done at two servers. */
static struct history *started_by_two_puts(dw_usec replaced_until)
{
	struct history *history = history_new();
	struct history_event again = event(HISTORY_START, 0, DUE + 90);

	add(history, HISTORY_PUT, 0, 10);
	add(history, HISTORY_START, 0, DUE + 60);
	again.generation = 9;
	history_add(history, &again);
	history_fault(history, DUE, DUE + 80);
	(void)history_replaced(history, 0, replaced_until);
	return history;
}

static void put_may_be_done_by_its_owner_and_its_caller(void **state)
{
	(void)state;
	finds_nothing(started_by_two_puts(DUE));
	finds(started_by_two_puts(5), HISTORY_ATTEMPT);
}

/* renumbered: it starts with a later generation than its put was answered. */
static struct history *renumbered(dw_usec answered_at, dw_usec replaced_from)
{
	struct history *history = history_new();
	struct history_event started = event(HISTORY_START, 0, DUE + 10);

	add(history, HISTORY_PUT, 0, 10);
	answer(history, HISTORY_PUT_ANSWERED, answered_at, DW_OK);
	started.generation = 9;
	history_add(history, &started);
	(void)history_replaced(history, replaced_from, replaced_from + 5);
	return history;
}

static void new_owner_may_give_other_numbers_at_a_new_server(void **state)
{
	(void)state;
	finds_nothing(renumbered(20, 30));
	finds_nothing(renumbered(DUE + 60, 30));
	finds(renumbered(20, DUE + 20), HISTORY_DEADLINE);
	finds(renumbered(DUE + 60, -DW_MINUTES(2)), HISTORY_DEADLINE);
}

static void figures_of_a_part_are_those_of_its_timers(void **state)
{
	struct history *history = with_put();

	(void)state;
	put(history, 1);
	history_divide(history, part_of);
	add(history, HISTORY_START, 0, DUE + 50);
	add(history, HISTORY_START, 1, DUE + 7);
	assert_int_equal(history_latest_in(history, 1u << 5, 0, DW_NEVER, 0), 7);
	assert_int_equal(history_latest_in(history, 1u << 3, 0, DW_NEVER, 0), 50);
	assert_int_equal(history_latest_in(history, 1u << 3, DUE + 1, DW_NEVER, 0), 0);
	assert_int_equal(history_first_start_in(history, 1u << 3, 0), DUE + 50);
	finds_nothing(history);
}

static void changes_of_the_process_are_counted_for_each_part(void **state)
{
	struct history *history = history_new();
	struct history_event start = event(HISTORY_START, 0, DUE);

	(void)state;
	history_divide(history, part_of);
	history_add(history, &start);
	start.at = DUE + 2;
	start.process = 2;
	start.number = 1; /* of another part */
	history_add(history, &start);
	assert_int_equal(history_changes(history), 0);
	start.number = 0;
	history_add(history, &start);
	start.at = DUE + 1;
	start.process = 1;
	start.number = 1;
	history_add(history, &start);
	assert_int_equal(history_changes(history), 2);
	history_free(history);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(check_clean_history_is_silent),
	    cmocka_unit_test(start_before_due_is_early),
	    cmocka_unit_test(confirmed_and_never_started_is_lost),
	    cmocka_unit_test(refused_cancel_and_never_started_is_lost),
	    cmocka_unit_test(cancel_over_a_fault_may_say_that_there_is_none),
	    cmocka_unit_test(no_such_timer_without_fault_or_start_is_lost),
	    cmocka_unit_test(moved_and_only_started_before_is_lost),
	    cmocka_unit_test(unknown_outcomes_excuse_what_is_missing),
	    cmocka_unit_test(unknown_put_may_start),
	    cmocka_unit_test(start_after_confirmed_cancel_is_named),
	    cmocka_unit_test(cancel_confirmed_after_start_is_named),
	    cmocka_unit_test(start_at_moved_deadline_is_named),
	    cmocka_unit_test(start_after_no_such_timer_is_named),
	    cmocka_unit_test(start_after_confirmed_settlement_is_named),
	    cmocka_unit_test(second_start_without_fault_is_named),
	    cmocka_unit_test(more_starts_than_faults_is_named),
	    cmocka_unit_test(same_attempt_again_is_named),
	    cmocka_unit_test(start_of_what_nobody_put_is_a_phantom),
	    cmocka_unit_test(start_of_a_failed_put_is_a_phantom),
	    cmocka_unit_test(other_bytes_are_named),
	    cmocka_unit_test(other_deadline_is_named),
	    cmocka_unit_test(deadline_of_a_failed_move_is_named),
	    cmocka_unit_test(second_answer_is_named),
	    cmocka_unit_test(figures_are_those_of_the_events),
	    cmocka_unit_test(fault_of_another_part_excuses_nothing),
	    cmocka_unit_test(only_what_the_replaced_server_had_may_be_lost),
	    cmocka_unit_test(what_all_servers_have_must_not_be_lost),
	    cmocka_unit_test(claim_may_be_lost_with_its_server),
	    cmocka_unit_test(call_may_be_made_again_at_the_next_server),
	    cmocka_unit_test(put_may_be_done_by_its_owner_and_its_caller),
	    cmocka_unit_test(new_owner_may_give_other_numbers_at_a_new_server),
	    cmocka_unit_test(figures_of_a_part_are_those_of_its_timers),
	    cmocka_unit_test(changes_of_the_process_are_counted_for_each_part),
	};

	return cmocka_run_group_tests_name("history", tests, NULL, NULL);
}
