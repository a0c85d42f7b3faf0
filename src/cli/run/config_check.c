#include "cli/run/config_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>

#include "cli/out/errors.h"
#include "web/http.h"
#include "cli/session.h"

/* The options that are checked, and the file for messages about its lines. */
struct checked {
	const char *path;
	const struct config *config;
	struct options all; /* the options of the file and of the command line */
	struct config_place place;
	size_t fault_count;
};

void config_point_at(const char *path, const struct config *config, const struct options *options,
		     enum option_id id, struct config_place *ret_place)
{
	bool is_of_file = config->values[id] && options->value[id] == config->values[id];

	if (is_of_file)
		(void)snprintf(ret_place->words, sizeof ret_place->words, "%.300s:%zu: ", path,
			       config->lines[id]); /* the text always fits */
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

/* check_outage refuses --outage without a journal, because nothing could start during the
 * outage. */
static void check_outage(struct checked *checked)
{
	if (!checked->all.value[OPT_OUTAGE] || checked->all.value[OPT_JOURNAL])
		return;
	point_at(checked, OPT_OUTAGE);
	count_fault(checked, complain(EXIT_USAGE, "--outage is for --journal FILE"));
}

/* check_file complains if the path exists and is not a regular file. A folder of the path may be
 * missing, because another program (like systemd) may create it later. */
static void check_file(struct checked *checked, enum option_id id, const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || S_ISREG(status.st_mode))
		return;
	point_at(checked, id);
	count_fault(checked,
		    complain(EXIT_USAGE, "--%s %.300s: this is no file: write the path of one",
			     options_name(id), path));
}

/* check_redis refuses the option if it is given and the store is not in Redis. */
static void check_redis(struct checked *checked, const char *store, enum option_id id)
{
	if (!checked->all.value[id] || (store && strstr(store, "://")))
		return;
	point_at(checked, id);
	count_fault(checked, complain(EXIT_USAGE,
				      "--%s is for a store in Redis, and this one is not: leave it "
				      "out, or write --store redis://HOST",
				      options_name(id)));
}

/* check_peer refuses options that --peer excludes. */
static void check_peer(struct checked *checked)
{
	static const struct {
		enum option_id id;
		const char *reason;
	} others[] = {
	    {OPT_STANDBY, "a peer fires beside others, a standby waits until they are gone"},
	    {OPT_JOURNAL, "only an owner that is alone keeps a journal"},
	    {OPT_UNTIL_IDLE, "a peer knows only the timers of its own shards"},
	};

	for (size_t i = 0; i < sizeof others / sizeof *others; i++) {
		if (!checked->all.value[OPT_PEER] || !checked->all.value[others[i].id])
			continue;
		point_at(checked, checked->config->values[others[i].id] ? others[i].id : OPT_PEER);
		count_fault(checked, complain(EXIT_USAGE, "--peer and --%s exclude each other: %s",
					      options_name(others[i].id), others[i].reason));
	}
}

static void check_store(struct checked *checked)
{
	static const char scheme[] = "sqlite:";
	const char *given = checked->all.value[OPT_STORE];
	const char *store = given ? given : getenv("DURAWHEEL_STORE");

	if (given && strncasecmp(given, scheme, strlen(scheme)) == 0)
		check_file(checked, OPT_STORE, given + strlen(scheme));
	/* Only a store in Redis can be unreachable or have peers. */
	check_redis(checked, store, OPT_JOURNAL);
	check_redis(checked, store, OPT_PEER);
	if (checked->all.value[OPT_JOURNAL])
		check_file(checked, OPT_JOURNAL, checked->all.value[OPT_JOURNAL]);
	check_outage(checked);
	check_peer(checked);
}

/* check_http refuses options of the web server without --http, and checks the others. */
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
	point_at(checked, OPT_ALLOW_HOST);
	count_fault(checked, http_check_host(&checked->all));
}

int config_check(const char *path, const struct config *config, const struct options *given,
		 bool looks)
{
	struct checked checked = {.path = path, .config = config, .all = *given};

	for (size_t i = 0; i < OPTION_COUNT; i++)
		if (!checked.all.value[i])
			checked.all.value[i] = config->values[i];
	check_store(&checked);
	check_http(&checked);
	if (looks) {
		point_at(&checked, OPT_STORE);
		count_fault(&checked, session_check(&checked.all));
	}
	return checked.fault_count > 0 ? EXIT_USAGE : EXIT_DONE;
}
