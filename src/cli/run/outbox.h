/* The lines that stdout has not taken yet, in order, each with the delivery that it settles.
 *
 * Invariant: while a line waits, later lines wait behind it. A line leaves the outbox when its last
 * byte is written. The outbox itself has no limit: its user pauses the firings when
 * outbox_is_full(). */
#ifndef DW_CLI_OUTBOX_H
#define DW_CLI_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/out/line.h"
#include "cli/run/sink.h"
#include "durawheel/durawheel.h"

struct outbox_entry;

struct outbox {
	struct sink sink;
	struct outbox_entry *first;
	struct outbox_entry *last;
	size_t count;
	size_t bytes;
};

enum outbox_state { OUTBOX_WRITTEN, OUTBOX_WAITING, OUTBOX_FAILED };

void outbox_open(struct outbox *);
/* outbox_close drops the waiting lines. */
void outbox_close(struct outbox *);

/* Called for each delivery whose line has left the outbox. */
typedef void (*outbox_settle_fn)(const dw_token *, dw_verdict, void *user);

/* outbox_put writes the line, or keeps it with its delivery and verdict. has_run: a command has run
 * for it, so it is settled even if its line is dropped. OUTBOX_FAILED: errno says why, and the line
 * was not kept. */
enum outbox_state outbox_put(struct outbox *, const dw_token *, dw_verdict, const struct line *,
			     bool has_run);

/* outbox_drain writes as much as stdout takes, and calls settle for each finished line.
 * OUTBOX_WRITTEN: no line waits any more. */
enum outbox_state outbox_drain(struct outbox *, outbox_settle_fn settle, void *user);

/* outbox_is_full: no more lines should be added. outbox_is_torn: the first line is only partly
 * written. */
bool outbox_is_full(const struct outbox *);
bool outbox_is_torn(const struct outbox *);

/* outbox_cut drops all lines but a partly written one. outbox_drop drops that one too. Both call
 * settle for each dropped line for which a command has run, unless settle is NULL. */
void outbox_cut(struct outbox *, outbox_settle_fn settle, void *user);
void outbox_drop(struct outbox *, outbox_settle_fn settle, void *user);

#endif
