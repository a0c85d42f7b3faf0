/* A client of a newer version. It stores timers that this version cannot read, and usually sets the
 * format mark of their shards. No owner of that version ever runs. Later the client cancels the
 * timers, and the marks are removed. */
#ifndef SIM_FLEET_NEWER_H
#define SIM_FLEET_NEWER_H

#include <stdbool.h>
#include <stdint.h>

struct dw_row;
struct fleet;
struct name;
struct process;

/* newer_act does one of both, likely times of 10,000. */
void newer_act(struct fleet *, uint32_t likely);

/* newer_end: all of it goes, also the marks that owners have made since. */
void newer_end(struct fleet *);

/* newer_is_there: a timer of it, or the mark of one. */
bool newer_is_there(struct fleet *);

/* newer_look: the server's data has changed, and a newer version's timer may have changed too. */
void newer_look(struct fleet *, struct name *);

/* newer_met: an answer shows the owner one. newer_check: it soon owns nothing. */
void newer_met(struct process *, const struct dw_row *);
void newer_check(struct process *);

#endif
