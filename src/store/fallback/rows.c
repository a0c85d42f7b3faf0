#include "store/fallback/rows.h"

#include <string.h>

#include "base/hash.h"

static uint64_t hash_of(const char *id)
{
	return hash_bytes(1, id, strlen(id));
}

int rows_index_init(struct rows_index *rows, const struct alloc *alloc)
{
	rows->bytes = 0;
	rows->behind = (struct op_queue){0};
	return linear_init(&rows->table, alloc);
}

struct row *rows_index_find(const struct rows_index *rows, const char *id)
{
	uint64_t hash = hash_of(id);
	struct linear_node *node = linear_first(&rows->table, hash);

	while (node && (node->hash != hash || strcmp(((struct row *)node)->id, id) != 0))
		node = node->next;
	return (struct row *)node;
}

struct row *rows_index_add(struct rows_index *rows, const struct alloc *alloc, const char *id)
{
	size_t size = strlen(id) + 1;
	struct row *row = alloc_new(alloc, sizeof *row + size);

	if (!row)
		return NULL;
	memcpy(row->id, id, size);
	row->node.hash = hash_of(id);
	if (linear_add(&rows->table, &row->node) == DW_OK)
		return row;
	alloc_free(alloc, row);
	return NULL;
}

void rows_index_remove(struct rows_index *rows, const struct alloc *alloc, struct row *row)
{
	op_queue_append(&rows->behind, op_queue_take(&row->behind));
	rows->bytes -= row->bytes;
	linear_remove(&rows->table, &row->node);
	alloc_free(alloc, row);
}

struct visitor {
	void (*visit)(struct row *, void *user);
	void *user;
};

static void visit_row(struct linear_node *node, void *user)
{
	const struct visitor *visitor = user;

	visitor->visit((struct row *)node, visitor->user);
}

void rows_index_each(struct rows_index *rows, void (*visit)(struct row *, void *user), void *user)
{
	struct visitor visitor = {visit, user};

	for (uint32_t i = 0; linear_visit(&rows->table, i, visit_row, &visitor); i++)
		;
}

struct removal {
	struct rows_index *rows;
	const struct alloc *alloc;
};

static void remove_row(struct row *row, void *user)
{
	const struct removal *removal = user;

	rows_index_remove(removal->rows, removal->alloc, row);
}

static void remove_written(struct row *row, void *user)
{
	if (row->writes == 0)
		remove_row(row, user);
}

void rows_index_clear(struct rows_index *rows, const struct alloc *alloc)
{
	struct removal removal = {rows, alloc};

	rows_index_each(rows, remove_written, &removal);
}

void rows_index_free(struct rows_index *rows, const struct alloc *alloc)
{
	struct removal removal = {rows, alloc};

	rows_index_each(rows, remove_row, &removal);
	linear_free(&rows->table);
}
