#include "store/sqlite/heal/suspects.h"

#include <string.h>

#include "base/hash.h"
#include "base/usec.h"

static uint64_t hash_of(const dw_op *op)
{
	return op->id ? hash_bytes(1, op->id, strlen(op->id)) : (uint64_t)op->kind;
}

static struct sqlite_suspect *find(struct sqlite_suspects *suspects, uint64_t hash)
{
	for (size_t i = 0; i < SQLITE_SUSPECTS_MAX; i++)
		if (suspects->all[i].since > 0 && suspects->all[i].hash == hash)
			return &suspects->all[i];
	return NULL;
}

bool sqlite_suspects_add(struct sqlite_suspects *suspects, const dw_op *op, dw_usec steady)
{
	uint64_t hash = hash_of(op);
	struct sqlite_suspect *suspect = find(suspects, hash);

	if (suspect)
		return usec_sub(steady, suspect->since) >= SQLITE_SUSPECT_FOR;
	suspect = &suspects->all[suspects->next++ % SQLITE_SUSPECTS_MAX];
	suspects->count += suspect->since == 0;
	*suspect = (struct sqlite_suspect){hash, steady};
	return false;
}

void sqlite_suspects_clear(struct sqlite_suspects *suspects, dw_op *const *ops, size_t count)
{
	for (size_t i = 0; i < count && suspects->count > 0; i++) {
		struct sqlite_suspect *suspect = find(suspects, hash_of(ops[i]));

		if (!suspect)
			continue;
		suspect->since = 0;
		suspects->count--;
	}
}
