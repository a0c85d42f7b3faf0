/* durawheel members: prints which processes share a namespace, and which shards each of them
 * has. */
#include "durawheel/members.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/commands.h"
#include "cli/out/errors.h"
#include "cli/out/line.h"
#include "cli/out/members.h"
#include "cli/out/nodes.h"
#include "cli/out/text.h"
#include "cli/session.h"

enum { VERSION_WIDTH = 8, SINCE_WIDTH = 27, AGO_WIDTH = 10, CLOCK_WIDTH = 10 };

struct listing {
	bool json;
	json_t *object; /* the result of members_object() */
	int code;
};

static size_t who_width(const json_t *members)
{
	char who[MEMBERS_WHO_SIZE];
	const json_t *member;
	size_t i, width = strlen("WHO");

	json_array_foreach(members, i, member)
	{
		members_who(member, who);
		if (text_width(who, strlen(who)) > width)
			width = text_width(who, strlen(who));
	}
	return width;
}

static json_int_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/* write_clock writes how far a member's clock is ahead of the server's clock. */
static void write_clock(dw_usec distance, char ret_text[TEXT_SPAN_SIZE + 1])
{
	ret_text[0] = distance < 0 ? '-' : '+';
	text_span(distance < 0 ? -distance : distance, 1, ret_text + 1);
}

/* In this file session_flush() reports failed writes. */
static void print_member(const json_t *member, size_t width, json_int_t shard_count)
{
	const char *version = json_string_value(json_object_get(member, "version"));
	const json_t *shards = json_object_get(member, "shards");
	char who[MEMBERS_WHO_SIZE], numbers[MEMBERS_SHARDS_SIZE], since[DW_TIME_SIZE];
	char ago[TEXT_SPAN_SIZE], clock[TEXT_SPAN_SIZE + 1], state[MEMBERS_STATE_SIZE];

	members_who(member, who);
	members_shards(shards, numbers);
	dw_format_time(number(member, "since"), since);
	text_distance(number(member, "since"), session_now(), ago);
	write_clock(number(member, "clock_us"), clock);
	members_state(member, shard_count, state);
	text_print(stdout, who, strlen(who), width);
	(void)putchar(' ');
	text_print(stdout, version, strlen(version), VERSION_WIDTH);
	(void)printf(" %-*s %-*s %-*s %zu%s%s%s", SINCE_WIDTH, since, AGO_WIDTH, ago, CLOCK_WIDTH,
		     clock, json_array_size(shards), *numbers ? ": " : "", numbers,
		     *state ? "; " : "");
	text_print(stdout, state, strlen(state), 0);
	(void)putchar('\n');
}

static void print_table(const json_t *object)
{
	const json_t *members = json_object_get(object, "members"), *member;
	const json_t *unowned = json_object_get(object, "unowned");
	json_int_t shard_count = number(object, "shard_count");
	char numbers[MEMBERS_SHARDS_SIZE];
	size_t i, width = who_width(members);

	if (json_array_size(members) == 0) {
		(void)printf("no peers share this namespace%s\n",
			     json_array_size(unowned) > 0 ? ", and no process owns it" : "");
		return;
	}
	(void)printf("%-*s %-*s %-*s %-*s %-*s SHARDS\n", (int)width, "WHO", VERSION_WIDTH,
		     "VERSION", SINCE_WIDTH, "SINCE", AGO_WIDTH, "", CLOCK_WIDTH, "CLOCK");
	json_array_foreach(members, i, member) print_member(member, width, shard_count);
	members_shards(unowned, numbers);
	(void)printf("%lld shards, %zu without an owner%s%s\n", (long long)shard_count,
		     json_array_size(unowned), *numbers ? ": " : "", numbers);
}

static int print(const dw *d, json_t *object, bool json)
{
	struct line line = {0};
	int code =
	    json_array_size(json_object_get(object, "unowned")) > 0 ? EXIT_FAILED : EXIT_DONE;

	if (!json) {
		print_table(object);
		nodes_print(d);
		return code;
	}
	nodes_add(object, d);
	if (line_of(&line, json_incref(object)))
		(void)fwrite(line.bytes, 1, line.size, stdout);
	else
		code = complain(EXIT_FAILED, "out of memory");
	line_free(&line);
	return code;
}

static void members_answered(dw *d, int status, const dw_member_list *list, void *user)
{
	struct listing *listing = user;

	if (status == DW_OK)
		listing->object = members_object(list);
	else
		listing->code = complain(exit_of(status), "%s", why(d, status));
}

static void owner_answered(dw *d, int status, const dw_store_status *store, void *user)
{
	struct listing *listing = user;

	if (status != DW_OK) {
		listing->code = complain(exit_of(status), "%s", why(d, status));
		return;
	}
	members_note_owner(listing->object, store->owner);
	listing->code = print(d, listing->object, listing->json);
}

/* ask asks for the members and then for the owner, and prints the list. */
static void ask(struct listing *listing, dw *d)
{
	int status = dw_members(d, members_answered, listing);

	if (status != DW_OK) {
		listing->code = complain(exit_of(status), "%s", why(d, status));
		return;
	}
	if (session_sync(d) != EXIT_DONE || !listing->object)
		return; /* listing->code has the failure */
	/* If the call itself fails, session_sync() has nothing to wait for. */
	if (dw_get_status(d, owner_answered, listing) == DW_OK)
		(void)session_sync(d);
}

int command_members(const struct options *options)
{
	struct listing listing = {.json = options->value[OPT_JSON] != NULL, .code = EXIT_STORE};
	dw *d;
	int status = session_look(options, (dw_options){.role = DW_CLIENT}, &d);

	if (status != EXIT_DONE)
		return status;
	ask(&listing, d);
	json_decref(listing.object);
	return session_close(d, listing.code);
}
