#include "cli/config_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/errors.h"
#include "cli/http.h"
#include "cli/session.h"

/* The values, and where they stand. */
struct checked {
	const char *path;
	const struct config *config;
	struct options all; /* of the file, and those that were given */
	struct config_place place;
	size_t fault_count;
};

void config_point_at(const char *path, const struct config *config, const struct options *options,
		     enum option_id id, struct config_place *ret_place)
{
	bool is_of_file = config->values[id] && options->value[id] == config->values[id];

	if (is_of_file)
		(void)snprintf(ret_place->words, sizeof ret_place->words, "%.300s:%zu: ", path,
			       config->lines[id]); /* it fits */
	complain_about(is_of_file ? ret_place->words : NULL);
}

static void point_at(struct checked *checked, enum option_id id)
{
	config_point_at(checked->path, checked->config, &checked->all, id, &checked->place);
}

static void count_fault(struct checked *checked, int code)
{
	checked->fault_count += code != EXIT_DONE;
	complain_about(NULL);
}

/* check_journal: only Redis can be away. */
static void check_journal(struct checked *checked)
{
	const char *store = checked->all.value[OPT_STORE];

	if (!checked->all.value[OPT_JOURNAL])
		return;
	if (!store)
		store = getenv("DURAWHEEL_STORE");
	point_at(checked, OPT_JOURNAL);
	if (!store || !strstr(store, "://"))
		count_fault(checked,
			    complain(EXIT_USAGE, "--journal is for a store in Redis, and this one "
						 "is a file: leave it out, or write --store "
						 "redis://HOST"));
	complain_about(NULL);
}

/* check_http: what is for the web server needs one. */
static void check_http(struct checked *checked)
{
	static const enum option_id parts[] = {OPT_TOKEN_FILE, OPT_ALLOW_HOST, OPT_SHOW_DATA};

	for (size_t i = 0; !checked->all.value[OPT_HTTP] && i < sizeof parts / sizeof *parts; i++) {
		if (!checked->all.value[parts[i]])
			continue;
		point_at(checked, parts[i]);
		count_fault(checked,
			    complain(EXIT_USAGE, "--%s is for the web server: write --http ADDRESS",
				     options_name(parts[i])));
	}
	if (!checked->all.value[OPT_HTTP])
		return;
	point_at(checked, OPT_HTTP);
	count_fault(checked, http_check_address(&checked->all));
	point_at(checked, OPT_TOKEN_FILE);
	count_fault(checked, http_check_token(&checked->all));
}

int config_check(const char *path, const struct config *config, const struct options *given,
		 bool looks)
{
	struct checked checked = {.path = path, .config = config, .all = *given};

	for (size_t i = 0; i < OPT_COUNT; i++)
		if (!checked.all.value[i])
			checked.all.value[i] = config->values[i];
	check_journal(&checked);
	check_http(&checked);
	if (looks) {
		point_at(&checked, OPT_STORE);
		count_fault(&checked, session_check(&checked.all));
	}
	return checked.fault_count > 0 ? EXIT_USAGE : EXIT_DONE;
}
