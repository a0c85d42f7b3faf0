#include "store/memory/dead_letters.h"

#include <string.h>

#include "base/usec.h"

int dead_letters_add(struct dead_letters *letters, const struct alloc *alloc,
		     const struct dead_letter *letter)
{
	size_t id_size = strlen(letter->id) + 1;
	size_t topic_size = strlen(letter->topic) + 1;
	struct dead_letter *made = alloc_new(alloc, sizeof *made + letter->body_size + id_size +
							topic_size + letter->why.size);
	char *at = (char *)(made + 1);

	if (!made)
		return DW_ENOMEM;
	*made = *letter;
	made->body = at;
	if (letter->body_size)
		memcpy(at, letter->body, letter->body_size);
	made->id = memcpy(at += letter->body_size, letter->id, id_size);
	made->topic = memcpy(at += id_size, letter->topic, topic_size);
	made->why.text = at += topic_size;
	if (letter->why.size)
		memcpy(at, letter->why.text, letter->why.size);
	made->number = ++letters->number;
	made->after = NULL;
	made->before = letters->last;
	*(letters->last ? &letters->last->after : &letters->first) = made;
	letters->last = made;
	letters->count++;
	return DW_OK;
}

void dead_letters_drop(struct dead_letters *letters, const struct alloc *alloc,
		       struct dead_letter *letter)
{
	*(letter->before ? &letter->before->after : &letters->first) = letter->after;
	*(letter->after ? &letter->after->before : &letters->last) = letter->before;
	letters->count--;
	alloc_free(alloc, letter);
}

void dead_letters_clear(struct dead_letters *letters, const struct alloc *alloc)
{
	while (letters->first)
		dead_letters_drop(letters, alloc, letters->first);
}

struct dead_letter *dead_letters_find(const struct dead_letters *letters, const char *id,
				      uint64_t generation)
{
	struct dead_letter *letter = letters->last;

	while (letter && (strcmp(letter->id, id) != 0 ||
			  (generation != 0 && letter->record.head.generation != generation)))
		letter = letter->before;
	return letter;
}

uint64_t dead_letters_forget(struct dead_letters *letters, const struct alloc *alloc, dw_usec now)
{
	uint64_t forgotten = 0;

	for (; letters->first && forgotten < LIFE_DEAD_AT_ONCE; forgotten++) {
		if (!life_forgets(letters->count, letters->first->at, now))
			break;
		dead_letters_drop(letters, alloc, letters->first);
	}
	return forgotten;
}
