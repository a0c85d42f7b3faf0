/* A unit test of one's own handlers, with cmocka: orders that are cancelled unless they are paid
 * within 30 minutes. Payments are asked of a bank, which may be away. No test waits: the clock is
 * durawheel/testing.h's.
 *
 * A program has the first half in its own file, and the test links it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <durawheel/testing.h>

/* ---- The program ----------------------------------------------------------------------------- */

struct shop {
	dw *timers;
	int (*is_paid)(const char *order); /* asks the bank: 1, 0, or -1 if the bank is away */
	int cancelled;
	int given_up;
};

/* on_timeout ends an order. A bank that is away is asked again a minute later. */
static dw_verdict on_timeout(dw *d, const dw_firing *firing, void *user)
{
	struct shop *shop = user;
	int paid = shop->is_paid(firing->id);

	if (paid < 0) {
		(void)dw_retry_in(d, DW_MINUTES(1));
		return DW_RETRY;
	}
	shop->cancelled += !paid;
	return DW_DONE;
}

static void on_event(dw *d, const dw_event *event, void *user)
{
	(void)d;
	if (event->kind == DW_EVENT_DEAD)
		((struct shop *)user)->given_up++;
}

/* shop_open opens the timers. options says where; the hooks are the shop's. */
static int shop_open(struct shop *shop, dw_options options)
{
	int error;

	options.on_event = on_event;
	options.on_event_user = shop;
	error = dw_open(&shop->timers, &options, NULL);
	return error ? error : dw_on(shop->timers, "order.timeout", on_timeout, shop);
}

static int shop_order(struct shop *shop, const char *order)
{
	return dw_after(shop->timers, "order.timeout", order, DW_MINUTES(30), NULL, 0);
}

/* ---- The test -------------------------------------------------------------------------------- */

static int never_paid(const char *order)
{
	(void)order;
	return 0;
}

static int bank_away(const char *order)
{
	(void)order;
	return -1;
}

static void open_shop(struct shop *shop, int (*is_paid)(const char *order))
{
	dw_options options = {.size = sizeof options, .store = "memory:", .flags = DW_TEST_CLOCK};

	*shop = (struct shop){.is_paid = is_paid};
	assert_int_equal(shop_open(shop, options), DW_OK);
	assert_int_equal(shop_order(shop, "order:42"), DW_OK);
}

static void pass(struct shop *shop, dw_usec time)
{
	assert_int_equal(dw_test_advance(shop->timers, dw_now(shop->timers) + time), DW_OK);
}

static void close_shop(struct shop *shop)
{
	assert_int_equal(dw_close(shop->timers, 0), DW_OK);
}

static void unpaid_order_is_cancelled_after_30_minutes(void **state)
{
	struct shop shop;

	(void)state;
	open_shop(&shop, never_paid);
	pass(&shop, DW_MINUTES(30) - 1);
	assert_int_equal(shop.cancelled, 0);
	pass(&shop, 1);
	assert_int_equal(shop.cancelled, 1);
	close_shop(&shop);
}

static void order_waits_for_the_bank(void **state)
{
	struct shop shop;

	(void)state;
	open_shop(&shop, bank_away);
	pass(&shop, DW_MINUTES(35));
	shop.is_paid = never_paid;
	assert_int_equal(shop.cancelled, 0);
	pass(&shop, DW_MINUTES(1));
	assert_int_equal(shop.cancelled, 1);
	close_shop(&shop);
}

static void order_is_given_up_after_16_retries(void **state)
{
	struct shop shop;

	(void)state;
	open_shop(&shop, bank_away);
	pass(&shop, DW_MINUTES(30 + DW_RETRIES_MAX) - 1);
	assert_int_equal(shop.given_up, 0);
	pass(&shop, 1);
	assert_int_equal(shop.given_up, 1);
	assert_int_equal(shop.cancelled, 0);
	close_shop(&shop);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(unpaid_order_is_cancelled_after_30_minutes),
	    cmocka_unit_test(order_waits_for_the_bank),
	    cmocka_unit_test(order_is_given_up_after_16_retries),
	};

	return cmocka_run_group_tests_name("orders", tests, NULL, NULL);
}
