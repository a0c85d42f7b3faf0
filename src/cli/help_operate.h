/* The help of the commands that show how it goes: part of the table in commands.c. */
#ifndef DW_CLI_HELP_OPERATE_H
#define DW_CLI_HELP_OPERATE_H

static const char help_of_serve[] =
    "  --http ADDRESS    127.0.0.1:PORT (default: 127.0.0.1:8990), [::1]:PORT, or\n"
    "                    unix:PATH, which only this user can reach\n"
    "  --token-file FILE a secret of 32 characters or more, mode 0600; requests need\n"
    "                    Authorization: Bearer. Any other address needs it\n"
    "  --allow-host NAME answers for this Host, too: that of a proxy in front;\n"
    "                    may be given again\n"
    "  --show-data       shows the data of timers, and not only its size\n"
    "\n"
    "  /                 a page: now, topics, timers, dead letters, schedules\n"
    "  /metrics          for Prometheus\n"
    "  /healthz /readyz  200, or 503 and why; they need no token\n"
    "  /api/v1/          status topics timers timers/ID dead schedules: JSON. Lists\n"
    "                    take ?topic=T&limit=N&after=NEXT, timers also prefix=P\n"
    "\n"
    "The store is asked once a second, however many look.\n";

#endif
