/* The commands: their table, and one file for each. A command opens the store, does its work and
 * closes the store. It returns an exit code, and reports every error by complain() before it
 * returns. */
#ifndef DW_CLI_COMMANDS_H
#define DW_CLI_COMMANDS_H

#include "cli/options.h"
#include "durawheel/topic.h"

extern const struct command commands[];
extern const size_t command_count;

/* command_of returns the command whose name is the first word or the first two words. Returns NULL
 * if there is no such command. */
const struct command *command_of(const char *const *words, size_t count);

int command_add(const struct options *);
int command_cancel(const struct options *);
int command_check(const struct options *);
int command_dead(const struct options *);
int command_dead_list(const struct options *);
int command_dead_requeue(const struct options *);
int command_dead_drop(const struct options *);
int command_doctor(const struct options *);
int command_import(const struct options *);
int command_journal(const struct options *);
int command_journal_list(const struct options *);
int command_journal_replay(const struct options *);
int command_journal_drop(const struct options *);
int command_list(const struct options *);
int command_members(const struct options *);
int command_move(const struct options *);
int command_purge(const struct options *);
int command_run(const struct options *);
int command_serve(const struct options *);
int command_show(const struct options *);
int command_stats(const struct options *);
int command_top(const struct options *);
int command_ack(const struct options *);
int command_push(const struct options *);
int command_take(const struct options *);
int command_topic(const struct options *);
int command_topic_drop(const struct options *);
int command_topic_list(const struct options *);
int command_topic_pause(const struct options *);
int command_topic_resume(const struct options *);
int command_topic_set(const struct options *);
int command_topic_show(const struct options *);
int command_when(const struct options *);
int command_why(const struct options *);
int command_work(const struct options *);

/* take_of_options reads --topic, --max or --batch, and --wait. Returns EXIT_DONE, or complains. */
int take_of_options(const struct options *, const char *command, dw_take_options *ret_take);

/* take_event is the on_event callback of commands that take messages. It warns about damaged
 * messages. */
void take_event(dw *, const dw_event *, void *user);

#endif
