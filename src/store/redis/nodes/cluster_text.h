/* Reads the answer to CLUSTER NODES: one line for each node of a Redis Cluster. */
#ifndef DW_STORE_REDIS_CLUSTER_TEXT_H
#define DW_STORE_REDIS_CLUSTER_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { CLUSTER_ID_SIZE = 48, CLUSTER_HOST_SIZE = 256, CLUSTER_PORT_SIZE = 8 };

struct cluster_line {
	char id[CLUSTER_ID_SIZE];
	char host[CLUSTER_HOST_SIZE]; /* "": the node does not know its own host */
	char port[CLUSTER_PORT_SIZE];
	bool is_self;   /* the line describes the node that has answered */
	bool is_master; /* the node is a master and has slots */
	bool is_known;  /* the address can be used */
	uint64_t epoch; /* the node's configuration epoch */
	const char *slots;
};

/* cluster_line_read reads the line at the beginning of the text. Returns the text after it. It
 * returns NULL at the end, or if the text is not an answer to CLUSTER NODES. */
const char *cluster_line_read(const char *text, struct cluster_line *ret_line);

/* cluster_line_has returns true if the node has the slot. While a slot moves, the node that it
 * leaves has it. */
bool cluster_line_has(const struct cluster_line *, unsigned slot);

#endif
