/* Answers questions about the stored timers: get, list, status. */
#ifndef DW_ENGINE_QUERIES_H
#define DW_ENGINE_QUERIES_H

#include "engine/call/calls.h"

void query_show_page(struct engine *, const struct call *);
void query_show_due(struct engine_env *, const struct call *);
void query_show_end(struct engine_env *, const struct call *);
void query_show_status(struct engine_env *, const struct call *);

#endif
