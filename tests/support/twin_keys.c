#include "support/twin_inside.h"

#include <stdlib.h>
#include <string.h>

/* ---- Memory: a test's, which is enough ----------------------------------------------------- */

static void *room_for(struct twin *twin, void *block, size_t size)
{
	void *room = twin->alloc.resize(twin->alloc.user, block, size);

	if (!room)
		abort();
	return room;
}

static char *copy(struct twin *twin, struct bytes bytes)
{
	char *room = room_for(twin, NULL, bytes.size + 1);

	if (bytes.size > 0)
		memcpy(room, bytes.at, bytes.size);
	room[bytes.size] = '\0';
	return room;
}

/* ---- Keys ---------------------------------------------------------------------------------- */

int key_compare(struct bytes a, struct bytes b)
{
	size_t size = a.size < b.size ? a.size : b.size;
	int order = size > 0 ? memcmp(a.at, b.at, size) : 0;

	return order ? order : (a.size > b.size) - (a.size < b.size);
}

static int64_t now_ms(const struct twin *twin)
{
	return twin->now / 1000;
}

struct key *key_of(struct twin *twin, const char *name, size_t size)
{
	struct bytes wanted = {name, size};
	size_t at = 0;
	struct key *key;

	for (size_t end = twin->key_count; at < end;) {
		size_t middle = at + (end - at) / 2;
		struct bytes found = {twin->keys[middle]->name, strlen(twin->keys[middle]->name)};
		int order = key_compare(found, wanted);

		if (order == 0) {
			key = twin->keys[middle];
			if (key->ends_ms && now_ms(twin) > key->ends_ms)
				key_clear(twin, key);
			return key;
		}
		if (order < 0)
			at = middle + 1;
		else
			end = middle;
	}
	if (twin->key_count == twin->key_room) {
		twin->key_room = twin->key_room ? 2 * twin->key_room : 16;
		twin->keys = room_for(twin, twin->keys, twin->key_room * sizeof(struct key *));
	}
	memmove(twin->keys + at + 1, twin->keys + at,
		(twin->key_count++ - at) * sizeof *twin->keys);
	key = room_for(twin, NULL, sizeof *key);
	*key = (struct key){.name = copy(twin, wanted)};
	twin->keys[at] = key;
	return key;
}

static void free_entry(struct twin *twin, struct entry *entry)
{
	alloc_free(&twin->alloc, entry->name);
	alloc_free(&twin->alloc, entry->value);
}

void key_clear(struct twin *twin, struct key *key)
{
	for (size_t i = 0; i < key->count; i++)
		free_entry(twin, &key->entries[i]);
	key->count = 0;
	key->kind = KIND_NONE;
	key->ends_ms = 0;
}

void key_expire(struct twin *twin, struct key *key, double ttl_ms)
{
	if (key->kind == KIND_NONE)
		return;
	if (ttl_ms <= 0)
		key_clear(twin, key);
	else
		key->ends_ms = now_ms(twin) + (int64_t)ttl_ms;
}

long long key_ttl(const struct twin *twin, const struct key *key)
{
	if (key->kind == KIND_NONE)
		return -2;
	return key->ends_ms ? key->ends_ms - now_ms(twin) : -1;
}

/* ---- Entries ------------------------------------------------------------------------------- */

struct bytes entry_name(const struct entry *entry)
{
	return (struct bytes){entry->name, entry->name_size};
}

struct bytes entry_value(const struct entry *entry)
{
	return (struct bytes){entry->value, entry->value_size};
}

struct entry *key_find(const struct key *key, struct bytes name)
{
	for (size_t i = 0; i < key->count; i++)
		if (key_compare(entry_name(&key->entries[i]), name) == 0)
			return &key->entries[i];
	return NULL;
}

struct bytes key_value(const struct key *key, struct bytes name)
{
	const struct entry *entry = key_find(key, name);

	return entry ? entry_value(entry) : (struct bytes){NULL, 0};
}

struct bytes key_text(const struct key *key, const char *field)
{
	return key_value(key, (struct bytes){field, strlen(field)});
}

struct bytes key_string(const struct key *key)
{
	return key_text(key, "");
}

static bool is_before(enum kind kind, const struct entry *a, const struct entry *b)
{
	if (kind == KIND_SORTED && a->score != b->score)
		return a->score < b->score;
	return key_compare(entry_name(a), entry_name(b)) < 0;
}

/* insert takes the entry's memory over. */
static void insert(struct twin *twin, struct key *key, enum kind kind, struct entry entry)
{
	size_t at = key->count;

	key->kind = kind;
	if (key->count == key->room) {
		key->room = key->room ? 2 * key->room : 8;
		key->entries = room_for(twin, key->entries, key->room * sizeof *key->entries);
	}
	for (; at > 0 && is_before(kind, &entry, &key->entries[at - 1]); at--)
		key->entries[at] = key->entries[at - 1];
	key->entries[at] = entry;
	key->count++;
}

static void take_out(struct key *key, struct entry *entry)
{
	size_t at = (size_t)(entry - key->entries);

	key->count--;
	memmove(entry, entry + 1, (key->count - at) * sizeof *entry);
}

void key_set(struct twin *twin, struct key *key, struct bytes name, struct bytes value)
{
	struct entry *entry = key_find(key, name);
	char *fresh = copy(twin, value); /* which may be a part of the old one */

	if (entry) {
		alloc_free(&twin->alloc, entry->value);
		entry->value = fresh;
		entry->value_size = value.size;
		return;
	}
	insert(twin, key, KIND_HASH,
	       (struct entry){.name = copy(twin, name),
			      .name_size = name.size,
			      .value = fresh,
			      .value_size = value.size});
}

void key_set_text(struct twin *twin, struct key *key, const char *field, struct bytes value)
{
	key_set(twin, key, (struct bytes){field, strlen(field)}, value);
}

void key_set_string(struct twin *twin, struct key *key, struct bytes value)
{
	key_set_text(twin, key, "", value);
	key->kind = KIND_STRING;
}

void key_set_score(struct twin *twin, struct key *key, struct bytes name, double score)
{
	struct entry *found = key_find(key, name);
	struct entry entry = {.score = score, .name_size = name.size};

	if (found && found->score == score)
		return;
	if (found) {
		entry.name = found->name;
		take_out(key, found);
	} else {
		entry.name = copy(twin, name);
	}
	insert(twin, key, KIND_SORTED, entry);
}

bool key_remove(struct twin *twin, struct key *key, struct bytes name)
{
	struct entry *entry = key_find(key, name);

	if (!entry)
		return false;
	free_entry(twin, entry);
	take_out(key, entry);
	if (key->count == 0)
		key_clear(twin, key);
	return true;
}
