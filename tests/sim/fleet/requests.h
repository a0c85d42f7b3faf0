/* What arrives: the server carries a request out and replies; a process receives a reply. */
#ifndef SIM_FLEET_REQUESTS_H
#define SIM_FLEET_REQUESTS_H

struct fleet;

void requests_init(struct fleet *);
void requests_work(struct fleet *);

#endif
