/* Examines what is stored: its owner, its topics, its damage, and its time zones. */
#ifndef DW_CLI_STATE_H
#define DW_CLI_STATE_H

#include "cli/doctor/findings.h"
#include "durawheel/durawheel.h"

/* Each function returns DW_OK, or the error of the store. */
int state_owner(struct findings *, dw *);
int state_members(struct findings *, dw *);
int state_topics(struct findings *, dw *);
int state_zones(struct findings *, dw *);
int state_damage(struct findings *, dw *);

#endif
