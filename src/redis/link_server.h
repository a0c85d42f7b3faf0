/* What a link knows of the server. */
#ifndef DW_REDIS_LINK_SERVER_H
#define DW_REDIS_LINK_SERVER_H

#include "durawheel/durawheel.h"

/* All times are on the steady clock. */
struct link_server {
	/* run_id, which is different for each process; "" if the server does not show it. */
	char id[48];
	/* master_replid: the name of the series of writes that replicas follow. It changes when a
	 * replica becomes the master. "" if the server does not show it. */
	char history[48];
	dw_usec up_since; /* the server was certainly up then; DW_NEVER if nobody knows */
	/* Nobody listened at the server's address between these times, before the connection came
	 * up. Both are equal if there was no such time. */
	dw_usec away_since, away_until;
};

#endif
