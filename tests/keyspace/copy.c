/* Operations on all keys at once: copy them, set them back to a copy, delete them. */
#include "keyspace/inside.h"

#include <string.h>

static void copy_key(struct keyspace *to, const struct key *from)
{
	struct key *key = key_make(to, from->name, from->kind);

	key->ends_ms = from->ends_ms;
	for (size_t i = 0; i < from->count; i++) {
		const struct entry *entry = from->entries[i];

		if (from->kind == KIND_SORTED)
			(void)key_rank(to, key, entry_name(entry), entry->score); /* new */
		else if (from->kind == KIND_LIST)
			key_push(to, key, entry_value(entry));
		else
			(void)key_set(to, key, entry_name(entry), entry_value(entry)); /* new */
	}
}

struct keyspace *keyspace_copy(struct keyspace *keyspace)
{
	struct keyspace *copy = keyspace_new(&keyspace->alloc);

	for (size_t i = 0; i < keyspace->key_count; i++)
		copy_key(copy, keyspace->keys[i]);
	return copy;
}

void keyspace_set_back(struct keyspace *keyspace, const struct keyspace *copy)
{
	keyspace_empty(keyspace, "");
	for (size_t i = 0; i < copy->key_count; i++)
		copy_key(keyspace, copy->keys[i]);
}

void keyspace_empty(struct keyspace *keyspace, const char *prefix)
{
	size_t size = strlen(prefix);

	for (size_t i = keyspace->key_count; i > 0; i--) {
		struct key *key = keyspace->keys[i - 1];

		if (key->name.size >= size && memcmp(key->name.at, prefix, size) == 0)
			key_delete(keyspace, key);
	}
}

void keyspace_take(struct keyspace *to, struct keyspace *from, const char *prefix)
{
	size_t size = strlen(prefix);

	keyspace_empty(to, prefix);
	for (size_t i = 0; i < from->key_count; i++) {
		const struct key *key = from->keys[i];

		if (key->name.size >= size && memcmp(key->name.at, prefix, size) == 0)
			copy_key(to, key);
	}
	keyspace_empty(from, prefix);
}
