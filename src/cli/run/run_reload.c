#include "cli/run/run_reload.h"

#include <string.h>

#include "cli/run/config.h"
#include "cli/run/config_check.h"
#include "cli/out/errors.h"
#include "cli/run/run_core.h"
#include "cli/run/run_fire.h"

/* take moves the topics of the file into the runner. Returns EXIT_DONE, or complains. */
static int take(struct runner *runner, struct config *config)
{
	return recipes_of_config(&runner->recipes, config) ? EXIT_DONE
							   : complain(EXIT_FAILED, "out of memory");
}

/* read_file reads and checks the file. Returns EXIT_DONE, or complains. */
static int read_file(const struct runner *runner, struct config *config, bool looks)
{
	int code = config_read(runner->config_path, config);
	/* After a fault, the library would only report the same fault again. */
	bool looks_now = looks && code == EXIT_DONE;
	int checked = config_check(runner->config_path, config, runner->given, looks_now);

	return code != EXIT_DONE ? code : checked;
}

int run_reload_first(struct runner *runner, struct options *options)
{
	bool checks = options->value[OPT_CHECK] != NULL;
	int code;

	runner->config_path = options->value[OPT_CONFIG];
	if (!runner->config_path)
		return checks ? complain(EXIT_USAGE, "run: --check is for --config FILE")
			      : config_check(NULL, &runner->config, options, false);
	code = read_file(runner, &runner->config, checks);
	if (code == EXIT_DONE)
		code = config_options(&runner->config, options);
	return code == EXIT_DONE ? take(runner, &runner->config) : code;
}

static bool is_same(const char *a, const char *b)
{
	return a && b ? strcmp(a, b) == 0 : a == b;
}

/* tell_unchanged warns about changes in [run], because they apply only after a restart. */
static void tell_unchanged(const struct runner *runner, const struct config *config)
{
	for (enum option_id id = 0; id < OPTION_COUNT; id++)
		if (!is_same(runner->config.values[id], config->values[id]))
			(void)complain(EXIT_DONE, "%.300s: %s takes effect after a restart",
				       runner->config_path, options_key(id));
}

void run_reload(struct runner *runner)
{
	struct config config;
	size_t count;

	service_reloading(&runner->service);
	if (read_file(runner, &config, false) != EXIT_DONE) {
		(void)complain(EXIT_USAGE, "%.300s is not used: the settings stay as they were",
			       runner->config_path);
	} else {
		count = config.count;
		tell_unchanged(runner, &config);
		if (take(runner, &config) == EXIT_DONE && run_fire_handle(runner) == EXIT_DONE)
			(void)complain(EXIT_DONE, "%.300s: read again, %zu topic%s",
				       runner->config_path, count, count == 1 ? "" : "s");
	}
	config_free(&config);
	service_reloaded(&runner->service);
}
