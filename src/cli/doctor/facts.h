/* The facts of one server, and the words of redis-cli that lead to it. */
#ifndef DW_CLI_FACTS_H
#define DW_CLI_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/doctor/findings.h"
#include "durawheel/facts.h"

struct server {
	struct findings *findings;
	const char *name; /* a URL, or "Sentinel HOST:PORT"; a text may come behind it */
	bool is_tls;      /* the servers of its store have TLS */
	const dw_fact *facts;
	size_t count;
};

/* fact returns the value of a fact, or NULL. fact_is compares it; fact_number reads it, 0 if there
 * is none. fact_field copies the value of a field from a fact like "ip=1.2.3.4,lag=1", or "". */
const char *fact(const struct server *, const char *name);
bool fact_is(const struct server *, const char *name, const char *value);
int64_t fact_number(const struct server *, const char *name);
void fact_field(const char *value, const char *name, char *ret_value, size_t size);

/* server_change writes a command of redis-cli for the server: with its host and port, its socket,
 * or --tls. Returns ret_change. */
#define CHANGE_SIZE 768
const char *server_change(const struct server *, char ret_change[CHANGE_SIZE], const char *format,
			  ...) __attribute__((format(printf, 3, 4)));

#endif
