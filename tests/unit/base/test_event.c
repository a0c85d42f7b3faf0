/* The names of events. */
#include "support/cmocka.h"

#include <string.h>

#include "durawheel/durawheel.h"

static void each_kind_has_a_name_of_its_own(void **state)
{
	int last = DW_EVENT_RECOVERED;

	(void)state;
	assert_string_equal(dw_event_name(DW_EVENT_RECOVERED), "RECOVERED");
	assert_string_equal(dw_event_name(DW_EVENT_LOSS), "LOSS");
	while (strcmp(dw_event_name((dw_event_kind)last), "UNKNOWN") != 0)
		last++;
	assert_true(last > DW_EVENT_LOSS);
	for (int i = DW_EVENT_RECOVERED; i < last; i++)
		for (int j = DW_EVENT_RECOVERED; j < i; j++)
			assert_string_not_equal(dw_event_name((dw_event_kind)i),
						dw_event_name((dw_event_kind)j));
}

static void kind_of_a_newer_library_is_unknown(void **state)
{
	(void)state;
	assert_string_equal(dw_event_name((dw_event_kind)0), "UNKNOWN");
	assert_string_equal(dw_event_name((dw_event_kind)-1), "UNKNOWN");
	assert_string_equal(dw_event_name((dw_event_kind)1000), "UNKNOWN");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(each_kind_has_a_name_of_its_own),
	    cmocka_unit_test(kind_of_a_newer_library_is_unknown),
	};

	return cmocka_run_group_tests_name("event", tests, NULL, NULL);
}
