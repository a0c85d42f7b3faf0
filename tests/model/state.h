/* state: one moment of the model. The world is one id, one Redis shard and four parties:
 *
 *	owner    A, the process with the journal
 *	standby  B, another process on another machine; it never fails
 *	client   C, on a third machine
 *	server   Redis, which neither fails nor forgets
 *
 * Every put makes a new generation of the id: g1, g2, ... Their order is the order of the calls.
 * The structure has bytes only, so that equal states have equal bytes. */
#ifndef MODEL_STATE_H
#define MODEL_STATE_H

#include <stdbool.h>
#include <stdint.h>

#define GENERATIONS 4u /* one more than the puts of all parties */
#define FENCES 12u

enum record_kind { RECORD_NONE, RECORD_PENDING, RECORD_CLAIMED };
enum inbox_kind { INBOX_EMPTY, INBOX_PUT, INBOX_DELETED };

/* The timer in Redis. open: an earlier claim may start yet. */
struct record {
	uint8_t kind, generation, version, attempt, fence, open;
};

/* lease: the fence of its holder, or 0. last_row: the highest row applied (J9). mark: the last
 * request of the present fence that was run. marks: by earlier fence, 1 + its last mark (J10). */
struct server {
	struct record record;
	uint8_t version, lease, fence, fires, inbox, inbox_version, last_row, mark, marks[FENCES];
};

enum row_kind { ROW_NONE, ROW_PUT, ROW_START, ROW_SETTLE, ROW_CANCEL };

/* A journal's row. base: the version in Redis that it supersedes, or 0 (J7). floor: what Redis had
 * given away as versions when the row was written. fence: the highest that the
 * owner has held since it has the row (J8). doubt_fence: 0, or the
 * row repeats request doubt_number of that owner, whose outcome is unknown (J10). sent: a former
 * process may have replayed it (J19). */
struct row {
	uint8_t kind, generation, base, attempt, floor, number, fence, doubt_fence, doubt_number;
	uint8_t sent;
};

enum request_kind { REQUEST_NONE, REQUEST_PUT, REQUEST_CLAIM, REQUEST_SETTLE };

/* journaled: a put in doubt that the journal has, too. moot: the journal has taken over the claim
 * or settle in doubt; Redis may run it yet, and the owner asks for it no more. */
struct request {
	uint8_t kind, generation, number, fence, attempt, version, journaled, moot;
};

enum stage { STAGE_IDLE, STAGE_SENT, STAGE_RUN, STAGE_DOUBT, STAGE_DOUBT_RUN };
enum reply { REPLY_NONE, REPLY_OK, REPLY_GONE, REPLY_FENCED };

enum timer_kind { TIMER_NONE, TIMER_PENDING, TIMER_CLAIMED, TIMER_RUNNING, TIMER_DONE };
/* LOCAL_TIMER: only the journal has the timer. LOCAL_CLAIM: only the journal has its claim. */
enum local { LOCAL_NO, LOCAL_TIMER, LOCAL_CLAIM };

/* The timer in the owner's memory. */
struct timer {
	uint8_t kind, generation, version, attempt, local;
};

enum role { ROLE_CLIENT, ROLE_LOADING, ROLE_OWNER };

/* row, rows (how many were written) and doubt_ended survive a kill: they are the
 * journal's. lease: the owner may believe in its lease. request_late: the request
 * lies in a socket that the owner has given up. doubt_ended: Redis has ended the connection of the
 * request in doubt. */
struct owner {
	uint8_t up, cut, role, fence, lease;
	struct timer timer;
	struct request request;
	uint8_t stage, number, reply, reply_version, reply_attempt, request_late;
	struct row row;
	uint8_t rows, doubt_ended;
};

enum standby_stage { STANDBY_IDLE, STANDBY_CLAIMED, STANDBY_STARTED };

struct standby {
	uint8_t owns, fence, stage, generation, version, attempt, takeovers;
};

/* waits: for the owner to acknowledge its cancel (J16). */
struct client {
	uint8_t waits, generation;
};

enum confirmed { CONFIRMED_NO, CONFIRMED_JOURNALED, CONFIRMED_STORED };

/* DONE: DW_OK by Redis. LOCAL: DW_OK by the journal, because Redis never had the timer. UNKNOWN:
 * the owner's DW_EUNKNOWN. */
enum cancelled { CANCELLED_NO, CANCELLED_DONE, CANCELLED_LOCAL, CANCELLED_UNKNOWN };

/* What was promised about one generation, and what became of it. ended: it was replaced, settled or
 * deleted. attempt: the highest that was started. */
struct history {
	uint8_t confirmed, cancelled, ended, settled, settled_journal, starts, attempt;
};

struct spent {
	uint8_t faults, puts, cancels, client_puts, client_cancels;
};

struct state {
	struct server server;
	struct owner owner;
	struct standby standby;
	struct client client;
	uint8_t generations;
	struct history history[GENERATIONS];
	struct spent spent;
};

#endif
