/* Lua runs the scripts as Redis does: each call has its own KEYS and ARGV, globals are protected,
 * and values become replies by the rules of EVAL. All keyspaces share one interpreter. A script
 * leaves nothing in it, so the order of calls does not matter. */
#include "keyspace/inside.h"

#include <lauxlib.h>
#include <lualib.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORDS_MAX = 16384, GC_PAUSE = 120 };

/* The scripts with these patches, as functions in Lua's registry; 0 means not compiled yet. */
struct texts {
	const struct patch *patches;
	size_t count;
	int functions[SCRIPT_COUNT];
	struct texts *next;
};

static lua_State *lua_state;
static struct texts sound;
static struct keyspace *at_work;

/* ---- redis.* ------------------------------------------------------------------------------- */

static int fail(lua_State *lua, const char *text)
{
	lua_createtable(lua, 0, 1);
	lua_pushstring(lua, text);
	lua_setfield(lua, -2, "err");
	return 1;
}

/* word_at reads a word of a call, and writes a number as Redis does. Returns false if the value
 * cannot be a word. */
static bool word_at(lua_State *lua, int at, struct bytes *ret_word)
{
	if (lua_type(lua, at) == LUA_TNUMBER) {
		char room[32];
		struct bytes text = score_text(lua_tonumber(lua, at), room);

		lua_pushlstring(lua, text.at, text.size);
		lua_replace(lua, at);
	}
	if (lua_type(lua, at) != LUA_TSTRING)
		return false;
	ret_word->at = lua_tolstring(lua, at, &ret_word->size);
	return true;
}

/* check_keys ends the program if a script touches a key that is not in its KEYS. For some commands
 * all words are keys, for the others only the first word. */
static void check_keys(const struct keyspace *keyspace, int count, const struct bytes *words)
{
	bool has_none = bytes_are(words[0], "TIME") || bytes_are(words[0], "PUBLISH");
	bool has_many = bytes_are(words[0], "UNLINK") || bytes_are(words[0], "DEL") ||
			bytes_are(words[0], "EXISTS");

	for (int i = 1; i < (has_none ? 1 : has_many ? count : count < 2 ? count : 2); i++) {
		int k = 0;

		while (k < keyspace->script_key_count &&
		       !bytes_equal(words[i], keyspace->script_keys[k]))
			k++;
		if (k < keyspace->script_key_count)
			continue;
		(void)fprintf(stderr, "%s: the key %.*s is not in KEYS\n", keyspace->script,
			      (int)words[i].size, words[i].at);
		abort();
	}
}

/* run runs a command and pushes its answer. Returns false if the answer is an error. */
static bool run(lua_State *lua)
{
	static struct bytes words[WORDS_MAX];
	int count = lua_gettop(lua);
	struct call call = {.keyspace = at_work, .lua = lua, .count = count, .words = words};

	if (count == 0 || count > WORDS_MAX)
		return !fail(lua,
			     "ERR Please specify at least one argument for this redis lib call");
	for (int i = 0; i < count; i++)
		if (!word_at(lua, i + 1, &words[i]))
			return !fail(lua, "ERR Lua redis lib command arguments must be strings or "
					  "integers");
	luaL_checkstack(lua, LUA_MINSTACK, "too many words");
	if (at_work->script_keys)
		check_keys(at_work, count, words);
	if (at_work->watch)
		at_work->watch(at_work->watch_user,
			       &(struct keyspace_command){at_work->script, count, words});
	return command_run(&call);
}

static int redis_call(lua_State *lua)
{
	return run(lua) ? 1 : lua_error(lua);
}

static int redis_pcall(lua_State *lua)
{
	(void)run(lua); /* the pushed value contains the error */
	return 1;
}

static int single(lua_State *lua, const char *field)
{
	const char *text = luaL_checkstring(lua, 1);

	lua_createtable(lua, 0, 1);
	lua_pushstring(lua, text);
	lua_setfield(lua, -2, field);
	return 1;
}

static int redis_error_reply(lua_State *lua)
{
	return single(lua, "err");
}

static int redis_status_reply(lua_State *lua)
{
	return single(lua, "ok");
}

/* protected_call is Lua's pcall. For a failed command it returns the text of the error. */
static int protected_call(lua_State *lua)
{
	int is_done;

	luaL_checkany(lua, 1);
	is_done = lua_pcall(lua, lua_gettop(lua) - 1, LUA_MULTRET, 0) == 0;
	if (!is_done && lua_istable(lua, -1)) {
		lua_getfield(lua, -1, "err");
		lua_replace(lua, -2);
	}
	lua_pushboolean(lua, is_done);
	lua_insert(lua, 1);
	return lua_gettop(lua);
}

/* ---- The interpreter ----------------------------------------------------------------------- */

static int refuse_global(lua_State *lua)
{
	return luaL_error(lua, "Script attempted to access nonexistent global variable '%s'",
			  luaL_checkstring(lua, 2));
}

static int refuse_new_global(lua_State *lua)
{
	return luaL_error(lua, "Attempt to modify a readonly table");
}

static void protect_globals(lua_State *lua)
{
	lua_createtable(lua, 0, 2);
	lua_pushcfunction(lua, refuse_global);
	lua_setfield(lua, -2, "__index");
	lua_pushcfunction(lua, refuse_new_global);
	lua_setfield(lua, -2, "__newindex");
	lua_setmetatable(lua, LUA_GLOBALSINDEX);
}

static void open_library(lua_State *lua, lua_CFunction open, const char *name)
{
	lua_pushcfunction(lua, open);
	lua_pushstring(lua, name);
	lua_call(lua, 1, 0);
}

static lua_State *interpreter(void)
{
	static const luaL_Reg of_redis[] = {{"call", redis_call},
					    {"pcall", redis_pcall},
					    {"error_reply", redis_error_reply},
					    {"status_reply", redis_status_reply},
					    {NULL, NULL}};
	lua_State *lua = lua_state;

	if (lua)
		return lua;
	lua = lua_state = lua_newstate(lua_memory, NULL);
	if (!lua)
		abort();
	open_library(lua, luaopen_base, "");
	open_library(lua, luaopen_table, LUA_TABLIBNAME);
	open_library(lua, luaopen_string, LUA_STRLIBNAME);
	open_library(lua, luaopen_math, LUA_MATHLIBNAME);
	structs_open(lua);
	luaL_register(lua, "redis", of_redis);
	lua_pop(lua, 1);
	lua_register(lua, "pcall", protected_call);
	protect_globals(lua);
	(void)lua_gc(lua, LUA_GCSETPAUSE, GC_PAUSE); /* it returns the earlier setting */
	return lua;
}

/* ---- Compiling ----------------------------------------------------------------------------- */

static int compile(lua_State *lua, const char *text, size_t size)
{
	if (luaL_loadbuffer(lua, text, size, "@user_script") != 0) {
		(void)fprintf(stderr, "%s\n", lua_tostring(lua, -1));
		abort();
	}
	return luaL_ref(lua, LUA_REGISTRYINDEX);
}

static struct texts *texts_with(const struct patch *patches, size_t count)
{
	struct texts *texts = &sound;

	while (texts && texts->patches != patches)
		texts = texts->next;
	if (texts)
		return texts;
	patch_check(patches, count);
	texts = calloc(1, sizeof *texts);
	if (!texts)
		abort();
	*texts = (struct texts){.patches = patches, .count = count, .next = sound.next};
	sound.next = texts;
	return texts;
}

static int function_of(lua_State *lua, struct texts *texts, enum redis_script_id id)
{
	static char room[SCRIPT_TEXT_MAX];
	size_t size;
	char *text;

	if (texts->functions[id] != 0)
		return texts->functions[id];
	text = texts->count > 0 ? patch_text(id, texts->patches, texts->count, &size) : NULL;
	if (text)
		texts->functions[id] = compile(lua, text, size);
	else if (texts == &sound)
		texts->functions[id] =
		    compile(lua, script_text(&redis_scripts[id], room), redis_scripts[id].size);
	else
		texts->functions[id] = function_of(lua, &sound, id);
	free(text);
	return texts->functions[id];
}

/* ---- Replies ------------------------------------------------------------------------------- */

static void say_bytes(struct reply *root, struct reply *reply, enum reply_kind kind,
		      const char *text, size_t size)
{
	if (!reply_bytes(root, reply, kind, text, size))
		abort();
}

/* say_field converts a table with this field, which is an error or a status. Returns false if the
 * table has no such field. */
static bool say_field(lua_State *lua, struct reply *root, struct reply *reply, const char *field,
		      enum reply_kind kind)
{
	size_t size;
	const char *text;

	lua_pushstring(lua, field);
	lua_rawget(lua, -2);
	text = lua_tolstring(lua, -1, &size);
	if (text)
		say_bytes(root, reply, kind, text, size);
	lua_pop(lua, 1);
	return text != NULL;
}

static size_t items_of(lua_State *lua)
{
	int count = 0;
	bool is_there;

	do {
		lua_rawgeti(lua, -1, ++count);
		is_there = !lua_isnil(lua, -1);
		lua_pop(lua, 1);
	} while (is_there);
	return (size_t)count - 1;
}

static void say_value(lua_State *lua, struct reply *root, struct reply *reply);

static void say_table(lua_State *lua, struct reply *root, struct reply *reply)
{
	luaL_checkstack(lua, 2, "an answer is too deep");
	if (say_field(lua, root, reply, "err", REPLY_ERROR) ||
	    say_field(lua, root, reply, "ok", REPLY_STATUS))
		return;
	if (!reply_items(root, reply, items_of(lua)))
		abort();
	for (size_t i = 0; i < reply->count; i++) {
		lua_rawgeti(lua, -1, (int)i + 1);
		say_value(lua, root, &reply->items[i]);
		lua_pop(lua, 1);
	}
}

/* say_value converts the value on top of the stack to a reply of EVAL. */
static void say_value(lua_State *lua, struct reply *root, struct reply *reply)
{
	size_t size;
	const char *text;

	switch (lua_type(lua, -1)) {
	case LUA_TNUMBER:
		*reply = (struct reply){.kind = REPLY_INTEGER,
					.integer = (int64_t)lua_tonumber(lua, -1)};
		break;
	case LUA_TSTRING:
		text = lua_tolstring(lua, -1, &size);
		say_bytes(root, reply, REPLY_BULK, text, size);
		break;
	case LUA_TBOOLEAN:
		*reply = (struct reply){.kind = lua_toboolean(lua, -1) ? REPLY_INTEGER : REPLY_NIL,
					.integer = 1};
		break;
	case LUA_TTABLE:
		say_table(lua, root, reply);
		break;
	default:
		*reply = (struct reply){.kind = REPLY_NIL};
	}
}

/* say_failure converts the error that a script has raised to a reply. */
static void say_failure(lua_State *lua, struct reply *reply)
{
	if (!lua_istable(lua, -1)) {
		lua_pushfstring(lua, "ERR %s", lua_tostring(lua, -1));
		lua_replace(lua, -2);
		say_bytes(reply, reply, REPLY_ERROR, lua_tostring(lua, -1), lua_objlen(lua, -1));
		return;
	}
	say_value(lua, reply, reply);
}

/* ---- Calls --------------------------------------------------------------------------------- */

static void set_words(lua_State *lua, const char *name, int count, const struct bytes *words)
{
	lua_pushstring(lua, name);
	lua_createtable(lua, count, 0);
	for (int i = 0; i < count; i++) {
		lua_pushlstring(lua, words[i].at, words[i].size);
		lua_rawseti(lua, -2, i + 1);
	}
	lua_rawset(lua, LUA_GLOBALSINDEX);
}

/* push_function pushes the function of a script, or of a text that is none of our scripts. Returns
 * false if it pushes an error instead. */
static bool push_function(lua_State *lua, const struct keyspace *keyspace,
			  const struct script_call *call)
{
	struct texts *texts;

	if (call->text.at)
		return luaL_loadbuffer(lua, call->text.at, call->text.size, "@user_script") == 0;
	texts = texts_with(keyspace->patches, keyspace->patch_count);
	lua_rawgeti(lua, LUA_REGISTRYINDEX, function_of(lua, texts, call->script));
	return true;
}

void interpreter_eval(struct keyspace *keyspace, struct reply *reply,
		      const struct script_call *call)
{
	lua_State *lua = interpreter();
	struct keyspace *above = at_work;

	at_work = keyspace;
	keyspace->script = call->text.at ? "" : redis_scripts[call->script].name;
	keyspace->has_written = false;
	keyspace->script_keys = call->text.at ? NULL : call->words;
	keyspace->script_key_count = call->keys;
	set_words(lua, "KEYS", call->keys, call->words);
	set_words(lua, "ARGV", call->count - call->keys, call->words + call->keys);
	if (push_function(lua, keyspace, call) && lua_pcall(lua, 0, 1, 0) == 0)
		say_value(lua, reply, reply);
	else
		say_failure(lua, reply);
	lua_pop(lua, 1);
	keyspace->script = NULL;
	keyspace->script_keys = NULL;
	at_work = above;
}

void interpreter_command(struct keyspace *keyspace, struct reply *reply, int count,
			 const struct bytes *words)
{
	lua_State *lua = interpreter();

	(void)command_run(&(struct call){keyspace, lua, count, words}); /* errors are pushed too */
	say_value(lua, reply, reply);
	lua_pop(lua, 1);
}
