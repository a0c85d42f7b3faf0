/* The words of a call on timers. */
#ifndef DW_STORE_REDIS_BATCH_H
#define DW_STORE_REDIS_BATCH_H

#include <stdbool.h>

#include "port/op.h"

struct redis_store;
struct shard;

#define BATCH_MAX 512u                    /* operations of one command */
#define BATCH_GOOD 256u                   /* so many are not waited for */
#define GATHER_MAX (2 * BATCH_MAX)        /* so far others of the kind are looked for */
#define BATCH_BYTES_MAX ((size_t)1 << 20) /* of their bodies */

struct batch {
	unsigned char *packed; /* room for the bodies of one command */
	size_t packed_size;
	char flags[BATCH_MAX]; /* of the puts of one command */
};

/* batch_gather moves operations of the first one's kind forward, behind it. Those of one id keep
 * their order. */
void batch_gather(struct op_queue *);

/* batch_take_back puts operations that were sent in vain back into the queue, by their order of
 * submission. */
void batch_take_back(struct op_queue *, struct op_queue *ops);

/* batch_run: how many operations at the head of the queue make one command, and the room that their
 * bytes need. batch_room makes it. batch_add adds their words; false: one cannot be stored. */
size_t batch_run(const struct op_queue *, size_t *ret_bytes);
int batch_room(struct redis_store *, size_t bytes);
bool batch_add(struct redis_store *, const struct shard *, const struct op_queue *, size_t count);

/* batch_is_known: nobody has to look at the timer that is claimed or settled, unless a client has
 * written it since. batch_forget: somebody has to. */
bool batch_is_known(const dw_op *);
void batch_forget(struct op_queue *);

/* batch_version: what a put asks for; the script takes it if nobody was ahead of it. */
uint64_t batch_version(const struct redis_store *, const struct shard *, const dw_op *);

/* batch_add_forget adds how many dead letters the shard may keep, and since when. */
void batch_add_forget(struct redis_store *, const struct shard *);

#endif
