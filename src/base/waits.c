/* The words for what a timer waits for. The API, the command, the web page and JSON all use this
 * table. */
#include "durawheel/why.h"

#define LOOK_AT_TOPIC "topic show TOPIC"
#define BEGIN_OWNER "run --topic=TOPIC --exec CMD"

static const dw_waits_words table[] = {
    [DW_WAITS_NOT] = {"", "", "", ""},
    [DW_WAITS_STORE] = {"store", "the lease of the owner is over, so nothing of its shard starts",
			"Wait until the owner renews its lease; if it does not, look at the store.",
			"doctor"},
    [DW_WAITS_HANDLER] = {"handler", "the owner has no handler for the topic",
			  "Give the owner's program a handler for the topic.", LOOK_AT_TOPIC},
    [DW_WAITS_QUEUE] = {"queue", "the queue is full",
			"Start a worker for the queue, or let the queue have more messages.",
			"work --topic=TOPIC --exec CMD"},
    [DW_WAITS_WORKERS] = {"workers", "all workers or jobs are at work",
			  "Wait until one of them ends, or give the owner more of them.",
			  LOOK_AT_TOPIC},
    [DW_WAITS_SIZE] = {"size", "the server closes the connection on a message of its size",
		       "Raise client-query-buffer-limit of the Redis server.", "doctor"},
    [DW_WAITS_PAUSED] = {"paused", "the topic or its owner is paused",
			 "Let the topic go on, or the handle of its owner.", "topic resume TOPIC"},
    [DW_WAITS_BATCH] = {"batch", "a batch gathers",
			"Wait until the batch is full, or the wait of its handler ends.",
			LOOK_AT_TOPIC},
    [DW_WAITS_ZONE] = {"zone", "the owner does not know the time zone of its rule",
		       "Install or update the package tzdata on the machine of the owner.",
		       "doctor"},
    [DW_WAITS_DUE] = {"due", "its deadline has not come",
		      "Wait, or give the timer another deadline.", "move --in 0s ID"},
    [DW_WAITS_RETRY] = {"retry", "its last attempt failed, and the next one comes later",
			"Mend what failed, and wait, or let it be tried at once.",
			"move --in 0s ID"},
    [DW_WAITS_RUNS] = {"runs", "its handler runs",
		       "Wait until the handler ends, or look at what it does.", LOOK_AT_TOPIC},
    [DW_WAITS_HOLD] = {"hold", "the program holds it, and has not settled it",
		       "Let the program settle it, or wait for the end of the hold.",
		       LOOK_AT_TOPIC},
    [DW_WAITS_VERDICT] = {"verdict", "its handler has ended, and the verdict is not stored yet",
			  "Wait for the store; if that takes long, look at it.", "doctor"},
    [DW_WAITS_CLAIM] = {"claim", "the store has not answered the claim of the owner",
			"Wait for the store; if that takes long, look at it.", "doctor"},
    [DW_WAITS_CLAIMED] = {"claimed", "its owner has claimed it, and starts it or runs it now",
			  "Wait: its owner tells more within some seconds.", "why ID"},
    [DW_WAITS_TURN] = {"turn", "nothing is in its way: it starts when the owner comes to it",
		       "Wait; if that takes long, handlers keep the thread of the owner busy.",
		       LOOK_AT_TOPIC},
    [DW_WAITS_OWNER] = {"owner", "nobody owns the store or its shard, so nothing of it fires",
			"Start a program that owns the store.", BEGIN_OWNER},
    [DW_WAITS_SILENT] = {"silent", "its owner has told the store nothing for more than 30 s",
			 "Look whether the owner reaches the store, and whether its loop turns.",
			 "stats"},
    [DW_WAITS_LOADS] = {"loads", "its owner has not read it yet",
			"Wait until the owner has loaded its timers.", "stats"},
    [DW_WAITS_AWAY] = {"away", "the owner cannot reach the store", "Bring the store back.",
		       "doctor"},
    [DW_WAITS_REFUSED] = {"refused", "the server refuses what is asked of its shard",
			  "Mend what the server names, for example a key of another type.",
			  "check"},
    [DW_WAITS_MOVES] = {"moves", "its shard is being given to another peer",
			"Wait: it moves when the deliveries in it have ended.", "members"},
    [DW_WAITS_NEWER] = {"newer", "a newer durawheel has written it, and only that one fires it",
			"Let the newer version own the store.", "stats"},
    [DW_WAITS_MEMORY] = {"memory", "its owner has no memory to schedule it",
			 "Give the program of the owner more memory.", "stats"},
    [DW_WAITS_MESSAGE] = {"message", "it has become a message of its queue",
			  "Start a worker for the queue.", "work --topic=TOPIC --exec CMD"},
};

const dw_waits_words *dw_describe_waits(dw_waits waits)
{
	static const dw_waits_words newer = {"other",
					     "a reason that only the durawheel of the owner knows",
					     "Ask with the version of the owner.", "stats"};
	unsigned number = (unsigned)waits;

	return number < sizeof table / sizeof *table ? &table[number] : &newer;
}
