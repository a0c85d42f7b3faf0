/* The table of the commands, and the check whether a command may run. */
#include "keyspace/inside.h"

#include <lauxlib.h>
#include <stdlib.h>
#include <string.h>

/* ---- Answers ------------------------------------------------------------------------------- */

static bool answer_table(const struct call *call, const char *field, const char *text)
{
	lua_createtable(call->lua, 0, 1);
	lua_pushstring(call->lua, text);
	lua_setfield(call->lua, -2, field);
	return true;
}

bool answer_error(const struct call *call, const char *text)
{
	return !answer_table(call, "err", text);
}

bool answer_status(const struct call *call, const char *text)
{
	return answer_table(call, "ok", text);
}

bool answer_integer(const struct call *call, double number)
{
	lua_pushnumber(call->lua, number);
	return true;
}

bool answer_bytes(const struct call *call, struct bytes bytes)
{
	if (bytes.at)
		lua_pushlstring(call->lua, bytes.at, bytes.size);
	else
		lua_pushboolean(call->lua, false);
	return true;
}

bool answer_syntax(const struct call *call)
{
	return answer_error(call, "ERR syntax error");
}

bool call_key(const struct call *call, int number, enum kind kind, struct key **ret_key)
{
	struct key *key = key_find(call->keyspace, call->words[number]);

	*ret_key = key;
	if (!key || key->kind == kind)
		return true;
	return answer_error(call,
			    "WRONGTYPE Operation against a key holding the wrong kind of value");
}

/* ---- What may be run ----------------------------------------------------------------------- */

/* refused returns the error of a command that the server refuses now, or NULL if the command may
 * run. */
static const char *refused(const struct keyspace *keyspace, const struct command *command)
{
	bool has_written = keyspace->script && keyspace->has_written;

	switch (keyspace->refusal) {
	case KEYSPACE_DENIES:
		if (strcmp(command->name, keyspace->denied) != 0)
			return NULL;
		return keyspace->script ? "ERR The user executing the script can't run this "
					  "command or subcommand"
					: "NOPERM this user has no permissions to run the";
	case KEYSPACE_READS_ONLY:
		return command->flags & COMMAND_WRITES && !has_written
			   ? "READONLY You can't write against a read only replica."
			   : NULL;
	case KEYSPACE_FULL:
		return command->flags & COMMAND_NEEDS_MEMORY && !has_written
			   ? "OOM command not allowed when used memory > 'maxmemory'."
			   : NULL;
	default:
		return NULL;
	}
}

/* find_in compares the first letter of a name first, because every command of a script comes
 * here. */
static const struct command *find_in(const struct command *commands, struct bytes name)
{
	for (; commands->name; commands++)
		if (name.size > 0 && commands->name[0] == name.at[0] &&
		    commands->size == name.size && memcmp(commands->name, name.at, name.size) == 0)
			return commands;
	return NULL;
}

static bool fits(const struct command *command, int words)
{
	return command->words < 0 ? words >= -command->words : words == command->words;
}

bool command_run(const struct call *call)
{
	struct keyspace *keyspace = call->keyspace;
	const struct command *command = find_in(plain_commands, call->words[0]);
	const char *refusal;

	if (!command)
		command = find_in(sorted_commands, call->words[0]);
	if (!command)
		return answer_error(call, keyspace->script
					      ? "ERR Unknown Redis command called from script"
					      : "ERR unknown command");
	if (!fits(command, call->count))
		return answer_error(
		    call, keyspace->script
			      ? "ERR Wrong number of args calling Redis command from script"
			      : "ERR wrong number of arguments");
	refusal = refused(keyspace, command);
	if (refusal)
		return answer_error(call, refusal);
	keyspace->has_written |= (command->flags & COMMAND_WRITES) != 0;
	return command->run(call);
}
