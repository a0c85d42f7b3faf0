/* The library in a program that has set its locale: rules, URLs and figures stay as they are. The
 * locales are compiled here, because a machine has few of them. */
#include "support/cmocka.h"

#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdbool.h>
#include <string.h>

#include "durawheel/metrics.h"
#include "durawheel/rule.h"
#include "support/seen.h"
#include "support/temp.h"

static char folder[TEMP_SIZE];

/* Turkish and Azerbaijani have another small I, and German another point. */
static const char *const locales[] = {"tr_TR", "az_AZ", "de_DE"};

enum { LOCALES = sizeof locales / sizeof locales[0] };

static int compile(void **state)
{
	char command[2 * TEMP_SIZE];

	(void)state;
	temp_make(folder);
	for (size_t i = 0; i < LOCALES; i++) {
		(void)snprintf(command, sizeof command,
			       "localedef -i %s -f UTF-8 '%s/%s' >/dev/null 2>&1", locales[i],
			       folder, locales[i]);
		if (system(command) != 0)
			return -1;
	}
	return setenv("LOCPATH", folder, 1);
}

static int remove_all(void **state)
{
	char command[2 * TEMP_SIZE];

	(void)state;
	(void)setlocale(LC_ALL, "C");
	(void)snprintf(command, sizeof command, "rm -rf '%s'", folder);
	return system(command);
}

static void set_locale(size_t i)
{
	if (!setlocale(LC_ALL, locales[i]))
		fail_msg("no locale %s", locales[i]);
}

static void rule_may_have_capital_letters(void **state)
{
	static const char *const rules[] = {"0 8 * * FRI", "0 8 1 JUN FrI", "0 8 * * mon-FRI",
					    "@DAILY", "@MIDNIGHT"};
	char message[DW_MESSAGE_SIZE];
	dw_usec times[2];

	(void)state;
	for (size_t i = 0; i < LOCALES; i++) {
		set_locale(i);
		for (size_t k = 0; k < sizeof rules / sizeof rules[0]; k++) {
			dw_rule rule = {.size = sizeof rule, .cron = rules[k]};
			int found = dw_rule_next(&rule, 0, times, 2, message);

			if (found != 2)
				fail_msg("%s: %s: %s", locales[i], rules[k], message);
		}
	}
}

static void url_may_have_capital_letters(void **state)
{
	(void)state;
	for (size_t i = 0; i < LOCALES; i++) {
		char url[TEMP_SIZE + 16], path[TEMP_SIZE];
		dw *d;

		set_locale(i);
		assert_int_equal(dw_close(open_store("MEMORY:", DW_OWNER), PATIENCE), DW_OK);
		(void)snprintf(url, sizeof url, "SQLITE:%s", temp_file(path, folder, "timers.db"));
		if (!DW_WITH_SQLITE)
			continue;
		d = open_store(url, DW_OWNER);
		assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	}
}

/* metrics_of: the metrics of a handle in this locale, for free(). */
static char *metrics_of(void)
{
	dw *d = open_store("memory:", DW_OWNER);
	size_t size;
	char *text;

	assert_int_equal(dw_sync(d, PATIENCE), DW_OK);
	assert_int_equal(dw_metrics(d, NULL, 0, &size), DW_OK);
	text = malloc(size + 1);
	assert_non_null(text);
	assert_int_equal(dw_metrics(d, text, size + 1, NULL), DW_OK);
	assert_int_equal(dw_close(d, PATIENCE), DW_OK);
	return text;
}

static void metrics_have_points(void **state)
{
	(void)state;
	for (size_t i = 0; i < LOCALES; i++) {
		char *text;

		set_locale(i);
		text = metrics_of();
		assert_non_null(strstr(text, "le=\"0.00005\"}"));
		assert_non_null(strstr(text, "le=\"0.0001\"}"));
		assert_non_null(strstr(text, "le=\"0.0025\"}"));
		assert_non_null(strstr(text, "le=\"1\"}"));
		assert_non_null(strstr(text, "le=\"10\"}"));
		for (const char *at = text; (at = strstr(at, "le=\"")); at++)
			assert_null(memchr(at, ',', strcspn(at, "}")));
		free(text);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(rule_may_have_capital_letters),
	    cmocka_unit_test(url_may_have_capital_letters),
	    cmocka_unit_test(metrics_have_points),
	};

	return cmocka_run_group_tests(tests, compile, remove_all);
}
