/* Examines what the servers of a store in Redis report about themselves. */
#ifndef DW_CLI_SERVER_H
#define DW_CLI_SERVER_H

#include "cli/doctor/findings.h"
#include "durawheel/durawheel.h"

/* server_examine asks all servers, and judges each. Returns DW_OK, or why they were not asked. */
int server_examine(struct findings *, dw *);

#endif
