/* What dw_metrics() and dw_health() ask of the engine. */
#ifndef DW_ENGINE_NUMBERS_H
#define DW_ENGINE_NUMBERS_H

#include "durawheel/topic.h"

struct engine;

#define REPORT_SIZE 3072

/* engine_report writes the owner's counters and the last error (0: none) as JSON. */
void engine_report(const struct engine *, char ret_text[REPORT_SIZE]);

/* engine_topic_numbers calls fn at once with the topics in memory, without their queues. */
void engine_topic_numbers(struct engine *, dw_topic_fn, void *user);

/* engine_health: DW_OK or the status of dw_health(), but for overdue turns. */
int engine_health(const struct engine *);

#endif
