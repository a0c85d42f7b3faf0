/* A shard in which there are not as many entries as values: somebody else has written, or deleted,
 * below our keys. The renewals count both; if they differ twice in a row the shard is looked
 * through. An entry whose value is gone may be of a timer that the engine knows: it pushes all it
 * has of the shard. What is an orphan after that is mended by a script. */
#include "store/redis/inside.h"

#include <stdio.h>
#include <string.h>

#define PUSH_AGAIN DW_SECONDS(60)

struct mending {
	struct shard *shard;
	const char *which; /* "z", then "h" */
	char cursor[24];
	unsigned found;
	bool pushes;
};

static void next_page(struct redis_store *, struct mending *);

static void end(struct redis_store *store, struct mending *mending)
{
	if (mending->found > 0 || mending->pushes)
		complain(store, "timers of shard %u had lost their place or their value",
			 mending->shard->number);
	mending->shard->mending = false;
	mending->shard->uneven = 0;
	if (mending->pushes)
		loss_push(store, mending->shard);
	alloc_free(&store->alloc, mending);
}

/* mend leaves the orphan to a script of its own, which looks again: much may have happened. */
static void mend(struct redis_store *store, struct mending *mending, const struct reply *id)
{
	struct shard *shard = mending->shard;
	char name[DW_ID_MAX + 1];
	dw_op *op;

	if (mending->which[0] == 'z' &&
	    (!shard->pushed_at || store->now > shard->pushed_at + PUSH_AGAIN)) {
		mending->pushes = true;
		return;
	}
	if (id->size > DW_ID_MAX || memchr(id->bytes, 0, id->size))
		return; /* no id of ours */
	memcpy(name, id->bytes, id->size + 1);
	op = op_new(&store->alloc, DW_OP_MEND, name, NULL, 0);
	if (!op)
		return;
	answer_take(store, op);
	op_queue_push(&shard->waiting, op);
	mending->found++;
}

static void came(struct redis_store *store, struct request *request, const struct reply *reply)
{
	struct mending *mending = request->context;

	request_free(store, request);
	if (reply->kind == REPLY_ERROR) {
		end(store, mending); /* another time */
		return;
	}
	for (size_t i = 1; i < reply->count; i++)
		mend(store, mending, &reply->items[i]);
	(void)snprintf(mending->cursor, sizeof mending->cursor, "%s", reply->items[0].bytes);
	if (strcmp(mending->cursor, "0") == 0) {
		if (strcmp(mending->which, "h") == 0) {
			end(store, mending);
			return;
		}
		mending->which = "h";
	}
	next_page(store, mending);
}

static void lost(struct redis_store *store, struct request *request)
{
	struct mending *mending = request->context;

	request_free(store, request);
	end(store, mending);
}

static void next_page(struct redis_store *store, struct mending *mending)
{
	struct request *request = request_new(store, mending->shard, came, lost);

	if (!request) {
		end(store, mending);
		return;
	}
	request->context = mending;
	call_begin_rare(store, "orphans", mending->shard);
	words_text(&store->words, mending->which);
	words_text(&store->words, mending->cursor);
	if (request_send(store, request) != DW_OK)
		lost(store, request);
}

void mend_count(struct redis_store *store, struct shard *shard, int64_t entries, int64_t values)
{
	struct mending *mending;

	shard->uneven = entries == values ? 0 : shard->uneven + 1;
	if (entries == values)
		shard->pushed_at = 0; /* what is torn from now on may be known again */
	if (shard->uneven < 2 || shard->mending)
		return;
	mending = alloc_new(&store->alloc, sizeof *mending);
	if (!mending)
		return;
	*mending = (struct mending){.shard = shard, .which = "z", .cursor = "0"};
	shard->mending = true;
	next_page(store, mending);
}
