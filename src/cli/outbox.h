/* The lines that stdout has not taken yet, in their order, each with the delivery it settles.
 *
 * Invariant: while a line waits, later ones wait behind it. A line leaves when its last byte is
 * written. The outbox is bounded only by its user, who stops the firings when it is full.
 */
#ifndef DW_CLI_OUTBOX_H
#define DW_CLI_OUTBOX_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/line.h"
#include "cli/sink.h"
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
/* outbox_close drops what waits. */
void outbox_close(struct outbox *);

/* What is done with a delivery when its line is out. */
typedef void (*outbox_settle_fn)(const dw_token *, dw_verdict, void *user);

/* outbox_put writes the line, or keeps it with its delivery and the verdict on that. OUTBOX_FAILED:
 * errno says why, and nothing was kept. */
enum outbox_state outbox_put(struct outbox *, const dw_token *, dw_verdict, const struct line *);

/* outbox_drain writes what stdout takes and calls settle for each line that is out. OUTBOX_WRITTEN:
 * nothing waits any more. */
enum outbox_state outbox_drain(struct outbox *, outbox_settle_fn settle, void *user);

/* outbox_is_full: no more should be put. outbox_is_torn: the first line is written in part. */
bool outbox_is_full(const struct outbox *);
bool outbox_is_torn(const struct outbox *);

/* outbox_cut drops all but the line that is written in part, outbox_drop that one, too. settle, if
 * it is not NULL, is called for each. */
void outbox_cut(struct outbox *, outbox_settle_fn settle, void *user);
void outbox_drop(struct outbox *, outbox_settle_fn settle, void *user);

#endif
