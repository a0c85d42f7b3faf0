/* Checks the arguments of a call. It needs no engine, because a call of another thread is checked
 * in that thread. message (DW_MESSAGE_SIZE bytes) says what is wrong. */
#ifndef DW_ENGINE_ARGUMENTS_H
#define DW_ENGINE_ARGUMENTS_H

#include "durawheel/ended.h"
#include "durawheel/select.h"

/* arguments_id returns DW_OK, or DW_EINVAL (also if id is NULL). */
int arguments_id(const char *id, char *message);

/* arguments_topic checks the name of one topic, so it refuses "*". */
int arguments_topic(const char *topic, char *message);

int arguments_timer(const dw_timer *, size_t data_max, char *message);
int arguments_settle(const dw_token *, dw_verdict, char *message);
int arguments_token(const dw_token *, char *message);

/* These two selections contain all timers and all dead letters. */
extern const dw_select arguments_all;
extern const dw_dead_select arguments_all_letters;

int arguments_select(const dw_select *, char *message);
int arguments_bounds(const dw_usec *bounds, size_t count, char *message);
int arguments_dead_select(const dw_dead_select *, char *message);

/* arguments_letter checks the id of a dead letter. The id may be any bytes, because a damaged timer
 * may have become the dead letter. */
int arguments_letter(const char *id, char *message);

#endif
