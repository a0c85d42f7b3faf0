/* A program with a journal, and the redis-server that it loses and gets back. Timers are named "0"
 * to "63"; their topic is "t". */
#ifndef DW_TESTS_JOURNALED_H
#define DW_TESTS_JOURNALED_H

#include "durawheel/durawheel.h"
#include "support/redis_server.h"

#define JOURNALED_IDS 64

/* What is known of one id. */
struct known {
	int status; /* of the last answer */
	dw_level level;
	int answers;
	int starts;
	uint32_t attempt; /* of the last start */
	dw_token token;
};

struct program {
	dw *d;
	struct known ids[JOURNALED_IDS];
	dw_verdict verdict; /* of the handler */
	dw_usec retry_in;   /* of its DW_RETRY, 0: the default */
	int outages, replays, odd, owners, lost;
	uint64_t replayed;
	int odd_status;
};

extern struct redis_server journaled_server;
extern char journaled_folder[TEMP_SIZE];
extern char journaled_file[TEMP_SIZE];

/* What the next program is opened with. */
extern dw_outage journaled_outage;
extern dw_usec journaled_lease;
extern const char *journaled_path; /* of a socket; NULL: the server's */
extern const char *journaled_name; /* of the namespace */

/* journaled_server_start: a server that loses nothing. */
void journaled_server_start(void);

/* journaled_begin starts a server that loses nothing, and opens a program; journaled_end closes
 * both, and removes the folder. */
void journaled_begin(struct program *, dw_role);
void journaled_end(struct program *);

/* journaled_try opens one more program, or the same again. journaled_open: it must succeed. */
int journaled_try(struct program *, dw_role, const char *name, const char *file, char *message);
void journaled_open(struct program *, dw_role, const char *file);
void journaled_close(struct program *);

/* lose_redis kills the server, and turns until the program knows; get_redis_back until it has the
 * rows of the journal. */
void lose_redis(struct program *);
void get_redis_back(struct program *);

/* turn_once waits so long at most. */
void turn_once(struct program *, int milliseconds);
void turn_seconds(struct program *, double seconds);

/* turn_until: *counter is at least so much; a test that hangs is ended by its runner. */
void turn_until(struct program *, const int *counter, int least);

/* known_answered is the callback of the calls. put, cancel and move turn until they are
 * answered. */
struct known *known_of(struct program *, const char *id);
void known_answered(dw *, const dw_result *, void *known);
void begin_put(struct program *, const char *id, dw_usec delay);
void begin_cancel(struct program *, const char *id);
void begin_move(struct program *, const char *id, dw_usec delay);
void put(struct program *, const char *id, dw_usec delay);
void cancel(struct program *, const char *id);
void move(struct program *, const char *id, dw_usec delay);

void assert_answer(struct program *, const char *id, int status, dw_level);
uint64_t rows(const struct program *);

#endif
