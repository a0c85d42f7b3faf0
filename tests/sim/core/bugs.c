#include "sim/core/bugs.h"

#include <string.h>

#include "durawheel/wheel.h"
#include "engine/due/crowd.h"
#include "port/job.h"
#include "sim/core/sim.h"

#define NAME(symbol, text) [BUG_##symbol] = (text),
static const char *const names[BUG_COUNT] = {SINGLE_BUGS(NAME) FLEET_BUGS(NAME) PEERS_BUGS(
    NAME) PEER_LOSSES_BUGS(NAME) OUTAGES_BUGS(NAME) QUEUES_BUGS(NAME) SERVERS_BUGS(NAME)};
#undef NAME

const char *bug_name(enum bug bug)
{
	return names[bug] ? names[bug] : "none";
}

enum bug bug_find(const char *name)
{
	for (int i = 1; i < BUG_COUNT; i++)
		if (names[i] && strcmp(names[i], name) == 0)
			return (enum bug)i;
	return BUG_NONE;
}

int __real_dw_wheel_add(dw_wheel *, int64_t deadline, dw_wheel_handle *);
int __wrap_dw_wheel_add(dw_wheel *, int64_t deadline, dw_wheel_handle *);

static enum bug of_wheel;

void bug_wheel(enum bug bug)
{
	of_wheel = bug;
}

/* The linker redirects the engine's calls to here (--wrap). */
int __wrap_dw_wheel_add(dw_wheel *wheel, int64_t deadline, dw_wheel_handle *ret_handle)
{
	if (of_wheel == BUG_LEVEL_EDGE && deadline % (1 << 18) == 0)
		deadline = INT64_MAX;
	if (of_wheel == BUG_WHEEL_ORDER && deadline < INT64_MAX - 100000)
		deadline += 100000 - deadline % 100000;
	return __real_dw_wheel_add(wheel, deadline, ret_handle);
}

int __real_crowd_reserve(struct crowd *, const struct alloc *);
int __wrap_crowd_reserve(struct crowd *, const struct alloc *);

/* Without room equal deadlines are not sorted. */
int __wrap_crowd_reserve(struct crowd *crowd, const struct alloc *alloc)
{
	return of_wheel == BUG_EQUAL_ANY ? DW_ENOMEM : __real_crowd_reserve(crowd, alloc);
}

void __real_job_run(struct job *, dw *);
void __wrap_job_run(struct job *, dw *);

void __wrap_job_run(struct job *job, dw *handle)
{
	dw_verdict first;

	__real_job_run(job, handle);
	if (sim_of(handle)->bug != BUG_BATCH_SHIFT)
		return;
	first = job->verdicts[0];
	for (size_t i = 1; i < job->count; i++)
		job->verdicts[i - 1] = job->verdicts[i];
	job->verdicts[job->count - 1] = first;
}
