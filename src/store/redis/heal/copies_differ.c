#include "store/redis/heal/copies_differ.h"

#include <stdio.h>
#include <string.h>

#include "store/redis/core.h"
#include "topic/settings.h"

/* copy_is_before sorts by topic and version. Among copies with the same version, damaged ones come
 * first, and copies with a token come last. */
static bool copy_is_before(const dw_row *a, const dw_row *b)
{
	int order = strcmp(a->id, b->id);

	if (order != 0)
		return order < 0;
	if (a->head.generation != b->head.generation)
		return a->head.generation < b->head.generation;
	if (a->status != b->status)
		return a->status != DW_OK;
	return strlen(a->token) < strlen(b->token);
}

dw_row *copies_sort(struct rows *rows)
{
	return rows->first = rows_sort(rows->first, copy_is_before);
}

dw_row *copies_last(dw_row *row)
{
	while (row->next && strcmp(row->next->id, row->id) == 0)
		row = row->next;
	return row;
}

/* has_newest returns true if the shard of this row has the newest settings, and needs no write. If
 * the newest change is a drop, a shard without the settings needs no write either, even if it does
 * not remember the drop. */
static bool has_newest(const dw_row *row, const dw_row *newest)
{
	return newest->gone ? row->gone
			    : row->head.generation == newest->head.generation &&
				  row->status == newest->status;
}

/* is_unchanged returns true if the owner already knew the newest settings. */
static bool is_unchanged(const dw_row *first, const dw_row *newest)
{
	while (first != newest && first->number != COPY_OF_OWNER)
		first = first->next;
	return first->number == COPY_OF_OWNER && has_newest(first, newest);
}

static bool has_shard(const struct shard_set *shards, unsigned number)
{
	return shard_next(shards, number) == number;
}

void copies_note(const struct redis_store *store, const dw_row *first, const dw_row *newest,
		 const struct shard_set *partial, struct shard_set *ret_differ)
{
	struct shard_set right = {0};

	if (is_unchanged(first, newest))
		right = *partial;
	*ret_differ = (struct shard_set){0};
	for (const dw_row *row = first;; row = row->next) {
		bool is_right = has_newest(row, newest);

		if (row->number < store->shard_count && is_right)
			shard_add(&right, (unsigned)row->number);
		if (row->number < store->shard_count && !is_right)
			shard_add(ret_differ, (unsigned)row->number);
		if (row == newest)
			break;
	}
	for (unsigned i = 0; i < store->shard_count; i++)
		if (!has_shard(&right, i) && (!newest->gone || has_shard(partial, i)))
			shard_add(ret_differ, i);
}

/* ---- Flaws --------------------------------------------------------------------------------- */

/* The copies of one topic, from its first row to its newest one. */
struct copies {
	const struct redis_store *store;
	const dw_row *first, *newest;
};

/* is_sound returns true if this row is not damaged, or if the topic was dropped since, so that the
 * drop replaces the row. */
static bool is_sound(const dw_row *row, const dw_row *newest)
{
	return (row->status == DW_OK && row->head.generation > 0) || (newest->gone && !row->gone);
}

/* is_damaged returns true if settings were damaged by hand, and describes them. An owner that reads
 * them writes an undamaged copy over them everywhere. */
static bool is_damaged(const struct copies *copies, char *ret_words)
{
	const dw_row *row = copies->first, *newest = copies->newest;
	char words[DW_MESSAGE_SIZE] = "they have no version";

	while (row != newest && is_sound(row, newest))
		row = row->next;
	if (is_sound(row, newest))
		return false;
	(void)settings_check_text(row->body, row->body_size, words);
	if (row->gone)
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "shard %u remembers a drop of the topic without its version: "
			       "delete the field from the hash {%.40s:%02u}:u",
			       (unsigned)row->number, copies->store->names.name,
			       (unsigned)row->number);
	else if (is_sound(newest, newest))
		(void)snprintf(
		    ret_words, DW_MESSAGE_SIZE,
		    "the settings in shard %u are damaged (%.80s): \"durawheel topic set "
		    "TOPIC\" writes those of another shard over them",
		    (unsigned)row->number, words);
	else
		(void)snprintf(ret_words, DW_MESSAGE_SIZE,
			       "the settings are damaged in every shard that has some, as in %u "
			       "(%.80s): write all of them again by durawheel topic set",
			       (unsigned)row->number, words);
	return true;
}

/* is_older returns true if a shard lacks the newest settings, and names the shard. */
static bool is_older(const struct copies *copies, char *ret_words)
{
	static const struct shard_set none;
	struct shard_set differ;
	unsigned shard;

	copies_note(copies->store, copies->first, copies->newest, &none, &differ);
	shard = shard_next(&differ, 0);
	(void)snprintf(ret_words, DW_MESSAGE_SIZE,
		       "the topic has older settings, or none, in shard %u: an owner writes the "
		       "newest ones into every shard",
		       shard);
	return shard < copies->store->shard_count;
}

/* is_ambiguous returns true if two copies have the same version but different settings, and
 * describes them. */
static bool is_ambiguous(const struct copies *copies, char *ret_words)
{
	const dw_row *row = copies->first, *newest = copies->newest;

	while (row != newest && row->body_size == newest->body_size &&
	       memcmp(row->body, newest->body, newest->body_size) == 0)
		row = row->next;
	(void)snprintf(
	    ret_words, DW_MESSAGE_SIZE,
	    "the settings in shard %u are not those in shard %u, but have their version: "
	    "look at \"durawheel topic show TOPIC\", and write them by topic set",
	    (unsigned)row->number, (unsigned)newest->number);
	return row != newest && !newest->gone;
}

static bool is_misnamed(const struct copies *copies, char *ret_words)
{
	(void)snprintf(ret_words, DW_MESSAGE_SIZE,
		       "no topic has this name: delete the field from the hash {%.40s:%02u}:t",
		       copies->store->names.name, (unsigned)copies->first->number);
	return copies->first->status == DW_EINVAL;
}

void copies_check(const struct redis_store *store, struct rows *rows, uint64_t until,
		  copies_flaw_fn *flaw, void *user)
{
	dw_row *first = copies_sort(rows);
	char words[DW_MESSAGE_SIZE];

	while (first) {
		dw_row *newest = copies_last(first);
		struct copies copies = {store, first, newest};

		if (newest->head.generation < until &&
		    (is_misnamed(&copies, words) || is_damaged(&copies, words) ||
		     is_older(&copies, words) || is_ambiguous(&copies, words)))
			flaw(user, newest->id, words);
		first = newest->next;
	}
}
