/* The promises of queue topics, checked at each operation that the table carries out:
 *
 *	I14  a queue never has more messages than its bound
 *	I15  a message that was taken is handed out to nobody else while it is hidden
 *	I16  a message is in the queue until it is answered, dropped or expired, each counted;
 *	     a timer is settled after its message is in the queue
 *	I17  messages are handed out in the order in which they were pushed
 *
 * and that a program hears what was done. */
#ifndef SIM_QUEUES_JUDGE_H
#define SIM_QUEUES_JUDGE_H

#include "durawheel/topic.h"
#include "store/memory/table.h"

struct queues;

#define QUEUES 2u
#define ENTRIES_MAX 8192u
#define NAMED_MAX 8192u
#define ENTRY_TOKEN_SIZE 64u /* without the topic */

enum entry_state { ENTRY_WAITS, ENTRY_TAKEN, ENTRY_LATER, ENTRY_DONE, ENTRY_DROPPED };

/* One message. Its number in its queue is its place, counted from 1. */
struct entry {
	enum entry_state state;
	uint64_t generation; /* in its token */
	uint32_t name;       /* the number in its id */
	dw_usec due;
	dw_usec until; /* taken: hidden until then; later: it comes back then */
	uint64_t delivery;
	char token[ENTRY_TOKEN_SIZE]; /* of the last delivery */
	bool unsure;                  /* it may have been dropped */
};

struct judged_queue {
	struct dw_topic_settings settings;
	struct entry entries[ENTRIES_MAX];
	uint32_t count;
	uint32_t first;      /* no entry before it is in the queue */
	uint32_t handed_out; /* the last one that was handed out for the first time */
	uint64_t dropped, done;
};

/* What became of an id. */
struct named {
	bool confirmed; /* a program was told that it is stored */
	bool refused;   /* ... that it is not */
	bool settled;
	bool again; /* it was put again: more than one message may be made of it */
	uint32_t pushes;
};

struct judge {
	struct judged_queue queues[QUEUES];
	struct named names[NAMED_MAX];
	uint64_t taken; /* messages that programs got */
};

/* judge_topic: the name of a queue. judge_id writes the id of a number. */
const char *judge_topic(uint32_t queue);
void judge_id(uint32_t number, char ret_id[16]);
uint32_t judge_number(const char *id);

/* judge_set: the settings of a queue are these from now on. */
void judge_set(struct queues *, uint32_t queue, const dw_topic_settings *);

/* judge_applied: the table has carried out the operation; wanted: as it was asked. */
void judge_applied(struct queues *, const dw_op *, const dw_op *wanted,
		   const struct table_caller *);

/* The same of one message each, for a store whose judge sees other things. judge_answer: status is
 * what its token was answered, and due when it comes back. */
void judge_pushed(struct queues *, uint32_t queue, const struct entry *);
void judge_dropped(struct queues *, uint32_t queue, uint64_t generation);
void judge_bound(struct queues *, uint32_t queue);
struct delivered {
	const char *id, *token;
	dw_usec now;
	bool is_kept; /* its value is not in the reply: it is hidden until it is read */
};
void judge_handed_out(struct queues *, uint32_t queue, const struct delivered *);
struct concluded {
	const char *token;
	int status;
	dw_verdict verdict;
	dw_usec due, now;
};
void judge_concluded(struct queues *, uint32_t queue, const struct concluded *);
void judge_settled(struct queues *, const char *id);

/* judge_queue: the number of a topic's queue. */
uint32_t judge_queue(const char *topic);

/* judge_again: a program puts an id again. judge_told: it was told what became of an id.
 * judge_got: it has got a message. */
void judge_again(struct queues *, const char *id);
void judge_told(struct queues *, const char *id, int status);
void judge_got(struct queues *, const dw_message *);

/* judge_is_over: nothing is left in the queues. judge_end checks what must be true then. */
bool judge_is_over(struct queues *);
void judge_end(struct queues *);

#endif
