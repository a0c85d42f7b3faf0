/* A program with a journal, and a redis-server that a test kills and restarts. Timers are named "0"
 * to "63". Their topic is "t". */
#ifndef DW_TESTS_JOURNALED_H
#define DW_TESTS_JOURNALED_H

#include "durawheel/durawheel.h"
#include "support/redis_server.h"

#define JOURNALED_IDS 64

/* What the program knows about one id. */
struct known {
	int status; /* the status of the last answer */
	dw_level level;
	int answers;
	int starts;
	uint32_t attempt; /* the attempt of the last start */
	dw_token token;
};

struct program {
	dw *d;
	struct known ids[JOURNALED_IDS];
	dw_verdict verdict; /* the verdict of the handler */
	dw_usec retry_in;   /* the delay of its DW_RETRY; 0: the default */
	int outages, replays, odd, owners, lost;
	uint64_t replayed;
	int odd_status;
};

extern struct redis_server journaled_server;
extern char journaled_folder[TEMP_SIZE];
extern char journaled_file[TEMP_SIZE];

/* The options with which the next program is opened. */
extern dw_outage journaled_outage;
extern dw_usec journaled_lease;
extern const char *journaled_path; /* the path of the server's socket; NULL: journaled_server's */
extern const char *journaled_name; /* the name of the namespace */

/* journaled_server_start starts a server that keeps all data. */
void journaled_server_start(void);

/* journaled_begin starts a server that keeps all data, and opens a program. journaled_end closes
 * both, and removes the folder. */
void journaled_begin(struct program *, dw_role);
void journaled_end(struct program *);

/* journaled_try opens a program. journaled_open does so, too, and fails the test if it cannot. */
int journaled_try(struct program *, dw_role, const char *name, const char *file, char *message);
void journaled_open(struct program *, dw_role, const char *file);
void journaled_close(struct program *);

/* lose_redis kills the server, and turns until the program knows that. get_redis_back starts the
 * server again, and turns until it has the rows of the journal. */
void lose_redis(struct program *);
void get_redis_back(struct program *);

/* turn_once waits at most this time. */
void turn_once(struct program *, int milliseconds);
void turn_seconds(struct program *, double seconds);

/* turn_until turns until *counter is at least `least`. The test runner ends a test that hangs. */
void turn_until(struct program *, const int *counter, int least);

/* known_answered is the callback of the calls. put, cancel and move wait for the answer. */
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
