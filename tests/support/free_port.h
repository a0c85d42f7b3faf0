/* A port of 127.0.0.1 for a server of a test. */
#ifndef DW_TESTS_FREE_PORT_H
#define DW_TESTS_FREE_PORT_H

/* free_port returns a port that was free a moment ago. No outgoing connection takes it while the
 * server is started again, because it is below the ports that Linux gives those. */
unsigned free_port(void);

#endif
