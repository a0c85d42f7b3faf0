/* Keys and their entries. Both are in sorted arrays. A keyspace of a test has some thousand entries
 * at most, so moving pointers is fast enough, and a tree would need more code. */
#include "keyspace/inside.h"

#include <stdlib.h>
#include <string.h>

void *room_for(struct keyspace *keyspace, void *block, size_t size)
{
	void *room = keyspace->alloc.resize(keyspace->alloc.user, block, size);

	if (!room)
		abort();
	return room;
}

/* ---- Bytes --------------------------------------------------------------------------------- */

struct bytes bytes_of(const char *text)
{
	return (struct bytes){text, strlen(text)};
}

bool bytes_equal(struct bytes a, struct bytes b)
{
	return a.size == b.size && (a.size == 0 || memcmp(a.at, b.at, a.size) == 0);
}

bool bytes_are(struct bytes bytes, const char *text)
{
	return bytes_equal(bytes, bytes_of(text));
}

int bytes_compare(struct bytes a, struct bytes b)
{
	size_t size = a.size < b.size ? a.size : b.size;
	int order = size > 0 ? memcmp(a.at, b.at, size) : 0;

	return order != 0 ? order : (a.size > b.size) - (a.size < b.size);
}

static char *copy_of(struct keyspace *keyspace, struct bytes bytes)
{
	char *copy = room_for(keyspace, NULL, bytes.size + 1);

	if (bytes.size > 0)
		memcpy(copy, bytes.at, bytes.size);
	copy[bytes.size] = '\0';
	return copy;
}

/* ---- Arrays of pointers -------------------------------------------------------------------- */

static void put_at(void *array, size_t count, size_t at, void *pointer)
{
	void **pointers = array;

	memmove(pointers + at + 1, pointers + at, (count - at) * sizeof *pointers);
	pointers[at] = pointer;
}

static void take_at(void *array, size_t count, size_t at)
{
	void **pointers = array;

	memmove(pointers + at, pointers + at + 1, (count - at - 1) * sizeof *pointers);
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

/* place_of returns the index of the entry, or the index at which the entry would be inserted. */
static size_t place_of(const struct key *key, struct bytes name)
{
	size_t low = 0;
	size_t high = key->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bytes_compare(entry_name(key->entries[middle]), name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

size_t key_place(const struct key *key, double score, struct bytes name)
{
	size_t low = 0;
	size_t high = key->count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;
		const struct entry *entry = key->order[middle];

		if (entry->score < score ||
		    (entry->score == score && bytes_compare(entry_name(entry), name) < 0))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

struct entry *key_entry(const struct key *key, struct bytes name)
{
	size_t at = key ? place_of(key, name) : 0;

	if (!key || at == key->count || !bytes_equal(entry_name(key->entries[at]), name))
		return NULL;
	return key->entries[at];
}

struct bytes key_value(const struct key *key, struct bytes name)
{
	const struct entry *entry = key_entry(key, name);

	return entry ? entry_value(entry) : (struct bytes){NULL, 0};
}

static void free_entry(struct keyspace *keyspace, struct entry *entry)
{
	alloc_free(&keyspace->alloc, entry->value);
	alloc_free(&keyspace->alloc, entry);
}

static struct entry *add_entry(struct keyspace *keyspace, struct key *key, size_t at,
			       struct bytes name)
{
	struct entry *entry = room_for(keyspace, NULL, sizeof *entry + name.size + 1);

	*entry = (struct entry){.name_size = name.size};
	if (name.size > 0)
		memcpy(entry->name, name.at, name.size);
	entry->name[name.size] = '\0';
	if (key->count == key->room) {
		size_t room = key->room ? 2 * key->room : 8;

		key->entries = room_for(keyspace, key->entries, room * sizeof *key->entries);
		if (key->kind == KIND_SORTED)
			key->order = room_for(keyspace, key->order, room * sizeof *key->order);
		key->room = room;
	}
	put_at(key->entries, key->count, at, entry);
	return entry;
}

static void set_value(struct keyspace *keyspace, struct entry *entry, struct bytes value)
{
	char *copy = copy_of(keyspace, value);

	alloc_free(&keyspace->alloc, entry->value);
	entry->value = copy;
	entry->value_size = value.size;
}

bool key_set(struct keyspace *keyspace, struct key *key, struct bytes name, struct bytes value)
{
	struct entry *entry = key_entry(key, name);
	bool is_new = !entry;

	if (is_new) {
		entry = add_entry(keyspace, key, place_of(key, name), name);
		key->count++;
	}
	set_value(keyspace, entry, value);
	return is_new;
}

void key_push(struct keyspace *keyspace, struct key *key, struct bytes value)
{
	set_value(keyspace, add_entry(keyspace, key, key->count, (struct bytes){"", 0}), value);
	key->count++;
}

bool key_rank(struct keyspace *keyspace, struct key *key, struct bytes name, double score)
{
	struct entry *entry = key_entry(key, name);
	size_t others = key->count;
	bool is_new = !entry;

	if (is_new) {
		entry = add_entry(keyspace, key, place_of(key, name), name);
		key->count++;
	} else {
		take_at(key->order, others, key_place(key, entry->score, name));
		others--;
	}
	entry->score = score;
	key->count = others; /* key_place() must see only the other entries */
	put_at(key->order, others, key_place(key, score, name), entry);
	key->count = others + 1;
	return is_new;
}

bool key_remove(struct keyspace *keyspace, struct key *key, struct bytes name)
{
	size_t at = place_of(key, name);
	struct entry *entry = key_entry(key, name);

	if (!entry)
		return false;
	if (key->kind == KIND_SORTED)
		take_at(key->order, key->count, key_place(key, entry->score, name));
	take_at(key->entries, key->count, at);
	key->count--;
	free_entry(keyspace, entry);
	return true;
}

void key_shift(struct keyspace *keyspace, struct key *key)
{
	struct entry *first = key->entries[0];

	take_at(key->entries, key->count, 0);
	key->count--;
	free_entry(keyspace, first);
}

/* ---- Keys ---------------------------------------------------------------------------------- */

static size_t place_of_key(const struct keyspace *keyspace, struct bytes name)
{
	size_t low = 0;
	size_t high = keyspace->key_count;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (bytes_compare(keyspace->keys[middle]->name, name) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* is_over returns true if the key has expired. Redis deletes a key in the first millisecond after
 * its time. */
static bool is_over(const struct keyspace *keyspace, const struct key *key)
{
	return key->ends_ms != 0 && keyspace->now / 1000 > key->ends_ms;
}

struct key *key_find(struct keyspace *keyspace, struct bytes name)
{
	size_t at = place_of_key(keyspace, name);
	struct key *key = at < keyspace->key_count ? keyspace->keys[at] : NULL;

	if (!key || !bytes_equal(key->name, name))
		return NULL;
	if (is_over(keyspace, key)) {
		key_delete(keyspace, key);
		return NULL;
	}
	return key;
}

struct key *key_make(struct keyspace *keyspace, struct bytes name, enum kind kind)
{
	struct key *key = key_find(keyspace, name);

	if (key)
		return key;
	key = room_for(keyspace, NULL, sizeof *key);
	*key = (struct key){.name = {copy_of(keyspace, name), name.size}, .kind = kind};
	if (keyspace->key_count == keyspace->key_room) {
		keyspace->key_room = keyspace->key_room ? 2 * keyspace->key_room : 32;
		keyspace->keys =
		    room_for(keyspace, keyspace->keys, keyspace->key_room * sizeof *keyspace->keys);
	}
	put_at(keyspace->keys, keyspace->key_count, place_of_key(keyspace, name), key);
	keyspace->key_count++;
	return key;
}

void key_delete(struct keyspace *keyspace, struct key *key)
{
	for (size_t i = 0; i < key->count; i++)
		free_entry(keyspace, key->entries[i]);
	take_at(keyspace->keys, keyspace->key_count, place_of_key(keyspace, key->name));
	keyspace->key_count--;
	alloc_free(&keyspace->alloc, key->entries);
	alloc_free(&keyspace->alloc, key->order);
	alloc_free(&keyspace->alloc, (void *)(uintptr_t)key->name.at);
	alloc_free(&keyspace->alloc, key);
}

void key_delete_empty(struct keyspace *keyspace, struct key *key)
{
	if (key->count == 0)
		key_delete(keyspace, key);
}
