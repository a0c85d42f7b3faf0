/* Checks the arguments of a call. This is apart from the engine, because a call of another thread
 * is checked in that thread. message (DW_MESSAGE_SIZE bytes) says what is wrong. */
#ifndef DW_ENGINE_ARGUMENTS_H
#define DW_ENGINE_ARGUMENTS_H

#include "durawheel/durawheel.h"

/* DW_OK or DW_EINVAL, also for NULL. */
int arguments_id(const char *id, char *message);

int arguments_timer(const dw_timer *, size_t data_max, char *message);
int arguments_settle(const dw_token *, dw_verdict, char *message);

/* arguments_letter: of a dead letter, which may be a damaged timer. So its id may be any bytes. */
int arguments_letter(const char *id, char *message);

#endif
