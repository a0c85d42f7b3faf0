/* What a link knows of the server. */
#ifndef DW_REDIS_LINK_SERVER_H
#define DW_REDIS_LINK_SERVER_H

#include "durawheel/durawheel.h"

/* The times are on the steady clock. */
struct link_server {
	char id[48]; /* run_id, which each process has anew; "" if it is not shown */
	/* master_replid, which names the writes that replicas follow. It changes when a replica
	 * becomes the master. "" if it is not shown. */
	char history[48];
	dw_usec up_since; /* the server was up then; DW_NEVER if nobody knows */
	/* In this time before the connection, nobody listened at the server's address. Equal: there
	 * was no such time. */
	dw_usec away_since, away_until;
};

#endif
