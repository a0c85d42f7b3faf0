/* A packet arrives: the server carries out the request and replies, or a process gets its reply. */
#ifndef SIM_FLEET_REQUESTS_H
#define SIM_FLEET_REQUESTS_H

#include "keyspace/keyspace.h"

struct fleet;
struct packet;
struct sim;

void requests_init(struct fleet *);
void requests_work(struct fleet *);

/* requests_script: the name of the script; NULL: another command. */
const char *requests_script(const struct packet *);

/* requests_message: what subscribers of a channel get. */
struct reply *requests_message(struct sim *, struct bytes channel, struct bytes text);

#endif
