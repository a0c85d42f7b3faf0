/* struct.pack, struct.unpack and bit.*, as Redis provides them to scripts. Only integers without
 * padding are supported, because our scripts use nothing else. */
#include "keyspace/inside.h"

#include <lauxlib.h>

#include "base/bytes.h"

/* The state of a format while it is read. */
struct format {
	const char *at;
	bool is_big;
};

/* next_size returns the number of bytes of the next integer, or 0 at the end of the format.
 * *ret_signed tells whether the integer may be negative. */
static size_t next_size(lua_State *lua, struct format *format, bool *ret_signed)
{
	size_t size = 4;
	char letter;

	while (*format->at == '<' || *format->at == '>')
		format->is_big = *format->at++ == '>';
	letter = *format->at;
	if (letter == '\0')
		return 0;
	format->at++;
	*ret_signed = letter == 'b' || letter == 'i';
	if (letter == 'b' || letter == 'B')
		return 1;
	if (letter != 'i' && letter != 'I')
		return (size_t)luaL_error(lua, "the keyspace knows no format '%c'", letter);
	if (*format->at >= '1' && *format->at <= '8')
		size = (size_t)(*format->at++ - '0');
	return size;
}

static void reverse(unsigned char *bytes, size_t size)
{
	for (size_t i = 0; i < size / 2; i++) {
		unsigned char byte = bytes[i];

		bytes[i] = bytes[size - 1 - i];
		bytes[size - 1 - i] = byte;
	}
}

static int pack(lua_State *lua)
{
	struct format format = {.at = luaL_checkstring(lua, 1)};
	luaL_Buffer buffer;
	bool is_signed;
	size_t size;

	luaL_buffinit(lua, &buffer);
	for (int i = 2; (size = next_size(lua, &format, &is_signed)) > 0; i++) {
		lua_Number number = luaL_checknumber(lua, i);
		unsigned char bytes[8];

		bytes_put(bytes, number < 0 ? (uint64_t)(int64_t)number : (uint64_t)number,
			  (unsigned)size);
		if (format.is_big)
			reverse(bytes, size);
		luaL_addlstring(&buffer, (const char *)bytes, size);
	}
	luaL_pushresult(&buffer);
	return 1;
}

static lua_Number number_at(const char *at, size_t size, const struct format *format,
			    bool is_signed)
{
	unsigned char bytes[8];
	uint64_t number;

	for (size_t i = 0; i < size; i++)
		bytes[i] = (unsigned char)at[i];
	if (format->is_big)
		reverse(bytes, size);
	number = bytes_get(bytes, (unsigned)size);
	if (!is_signed)
		return (lua_Number)number;
	if (size < 8 && number >> (8 * size - 1))
		number |= UINT64_MAX << 8 * size;
	return (lua_Number)(int64_t)number;
}

static int unpack(lua_State *lua)
{
	struct format format = {.at = luaL_checkstring(lua, 1)};
	size_t have;
	const char *data = luaL_checklstring(lua, 2, &have);
	size_t at = (size_t)luaL_optinteger(lua, 3, 1) - 1;
	int count = 0;
	bool is_signed;
	size_t size;

	while ((size = next_size(lua, &format, &is_signed)) > 0) {
		luaL_argcheck(lua, at + size <= have, 2, "data string too short");
		luaL_checkstack(lua, 2, "too many results");
		lua_pushnumber(lua, number_at(data + at, size, &format, is_signed));
		at += size;
		count++;
	}
	lua_pushinteger(lua, (lua_Integer)at + 1);
	return count + 1;
}

/* ---- bit ----------------------------------------------------------------------------------- */

static uint32_t bits(lua_State *lua, int at)
{
	return (uint32_t)(int64_t)luaL_checknumber(lua, at);
}

static int answer_bits(lua_State *lua, uint32_t number)
{
	lua_pushnumber(lua, (int32_t)number);
	return 1;
}

static int bxor(lua_State *lua)
{
	return answer_bits(lua, bits(lua, 1) ^ bits(lua, 2));
}

static int bnot(lua_State *lua)
{
	return answer_bits(lua, ~bits(lua, 1));
}

static int rshift(lua_State *lua)
{
	return answer_bits(lua, bits(lua, 1) >> (bits(lua, 2) & 31));
}

void structs_open(lua_State *lua)
{
	static const luaL_Reg of_struct[] = {{"pack", pack}, {"unpack", unpack}, {NULL, NULL}};
	static const luaL_Reg of_bit[] = {
	    {"bxor", bxor}, {"bnot", bnot}, {"rshift", rshift}, {NULL, NULL}};

	luaL_register(lua, "struct", of_struct);
	luaL_register(lua, "bit", of_bit);
	lua_pop(lua, 2);
}
