/* A packet arrives: the server carries out the request and replies, or a process gets its reply. */
#ifndef SIM_FLEET_REQUESTS_H
#define SIM_FLEET_REQUESTS_H

struct fleet;

void requests_init(struct fleet *);
void requests_work(struct fleet *);

#endif
