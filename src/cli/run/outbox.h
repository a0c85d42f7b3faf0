/* Queues the lines that stdout has not accepted yet. Each line belongs to a delivery, which is
 * settled when the line is written.
 *
 * Invariant: the lines are written in the order in which they came. A line leaves the outbox when
 * its last byte is written. The outbox itself has no limit. Its user must pause deliveries while
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
/* outbox_close drops the waiting lines and frees memory. */
void outbox_close(struct outbox *);

/* This is called for each delivery whose line has left the outbox. */
typedef void (*outbox_settle_fn)(const dw_token *, dw_verdict, void *user);

/* outbox_put writes the line, or keeps it with its delivery and verdict. `has_run` says that a
 * command has already run for the delivery. Such a delivery is settled even if its line is dropped.
 * If it returns OUTBOX_FAILED, the line was not kept and errno has the error. */
enum outbox_state outbox_put(struct outbox *, const dw_token *, dw_verdict, const struct line *,
			     bool has_run);

/* outbox_drain writes as much as stdout accepts, and calls `settle` for each finished line. It
 * returns OUTBOX_WRITTEN if no line is left, and OUTBOX_FAILED with errno set if stdout fails. */
enum outbox_state outbox_drain(struct outbox *, outbox_settle_fn settle, void *user);

/* outbox_is_full returns true if no line should be added. outbox_is_torn returns true if the first
 * line is only partly written. */
bool outbox_is_full(const struct outbox *);
bool outbox_is_torn(const struct outbox *);

/* outbox_cut drops all lines except one that is partly written. outbox_drop drops all lines. For
 * each dropped line whose command has run, they call `settle` unless it is NULL. */
void outbox_cut(struct outbox *, outbox_settle_fn settle, void *user);
void outbox_drop(struct outbox *, outbox_settle_fn settle, void *user);

#endif
