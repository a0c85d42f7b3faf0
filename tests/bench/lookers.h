/*
 * lookers.h: who looks at a web server: 20 pages, each fetched every 2 s as the page's script does,
 * and a monitoring system that asks for /metrics 10 times a second. Over raw sockets, in a process
 * of its own.
 */
#ifndef LOOKERS_H
#define LOOKERS_H

/* What they have got so far. */
struct lookers_seen {
	unsigned pages, scrapes, failures;
};

/* lookers_fork makes the process. Call it before there are threads. */
void lookers_fork(void);
void lookers_end(void);

/* lookers_at: they look at 127.0.0.1:port from now on; 0: at nothing. */
void lookers_at(int port);

/* lookers_seen returns what they got since the start. */
struct lookers_seen lookers_seen(void);

#endif
