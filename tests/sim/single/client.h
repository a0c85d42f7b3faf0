/* Clients: other processes that write into the same store, past the owner. Their operations are
 * carried out and answered at once. */
#ifndef SIM_SINGLE_CLIENT_H
#define SIM_SINGLE_CLIENT_H

struct single;

void client_act(struct single *);

#endif
