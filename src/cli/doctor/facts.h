/* Reads the facts about one server, and writes commands of redis-cli for it. */
#ifndef DW_CLI_FACTS_H
#define DW_CLI_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cli/doctor/findings.h"
#include "durawheel/facts.h"

struct server {
	struct findings *findings;
	const char *name; /* a URL, or "Sentinel HOST:PORT"; more text may follow */
	bool is_tls;      /* true if the servers of the store use TLS */
	const dw_fact *facts;
	size_t count;
};

/* fact returns the value of a fact, or NULL if the server has no such fact. fact_is returns true if
 * the fact has this value. fact_number returns the value as a number, or 0 without the fact.
 * fact_field copies the value of a field from a text like "ip=1.2.3.4,lag=1". It writes "" if the
 * field is missing. */
const char *fact(const struct server *, const char *name);
bool fact_is(const struct server *, const char *name, const char *value);
int64_t fact_number(const struct server *, const char *name);
void fact_field(const char *value, const char *name, char *ret_value, size_t size);

/* server_change writes a command of redis-cli for the server. The command contains the host and
 * port or the socket, and --tls if necessary. Returns ret_change. */
#define CHANGE_SIZE 768
const char *server_change(const struct server *, char ret_change[CHANGE_SIZE], const char *format,
			  ...) __attribute__((format(printf, 3, 4)));

#endif
