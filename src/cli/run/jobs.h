/* Runs one command for each delivery, or each batch of deliveries, below a supervisor of its own
 * (cli/run/supervisor.h). The commands of different topics may differ: each has its job_way.
 *
 * A job is over when its supervisor has ended. A supervisor ends with the shell of its command. If
 * we end the job, because its time is over or because we stop, the supervisor ends with the last
 * process of the command. No function here waits: the user calls jobs_reap() after SIGCHLD and
 * jobs_tick() when jobs_wake() is over. */
#ifndef DW_CLI_JOBS_H
#define DW_CLI_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/out/line.h"
#include "cli/run/shell.h"
#include "durawheel/durawheel.h"

enum job_end {
	JOB_EXITED,  /* the command ended by itself */
	JOB_OVERDUE, /* we ended the command when its time was over */
	JOB_STOPPED  /* jobs_stop() ended the command */
};

/* A delivery, and the line of its firing. */
struct job_item {
	dw_token token; /* of `work`: the token of the message */
	struct line line;
	bool is_answered;            /* of `work`: the command itself has answered the message */
	char message[DW_ID_MAX + 1]; /* of `work`: the id of the message; otherwise "" */
};

/* How the commands of a topic run. It must live as long as its jobs run. A change counts for jobs
 * that start later. */
struct job_way {
	char **words; /* the command and its arguments, and a NULL */
	int output;   /* the descriptor for the stdout of the commands */
	size_t max;
	dw_usec timeout; /* DW_NEVER: no time limit */
	size_t running;  /* jobs of this way */
};

struct exec_job {
	pid_t pid; /* the supervisor */
	struct job_way *way;
	struct job_item *items;
	size_t count;
	dw_usec until; /* steady time when it is overdue, or DW_NEVER */
	int answers;   /* shell_input.answers; the user closes it */
	int note;      /* shell_input.note */
	enum job_end end;
	int status;                /* the shell's exit code, 128 and more for a signal */
	char last[DW_WHY_MAX + 1]; /* the last line that it has written to stderr */
};

/* The exit code that is printed for JOB_OVERDUE; timeout(1) uses the same. */
#define JOB_OVERDUE_EXIT 124
#define JOB_DEAD_EXIT 100 /* the command gives up: its timers become dead letters */

/* Called for each job that is over. The job lives until the callback returns. */
typedef void (*jobs_over_fn)(struct exec_job *, void *user);

struct jobs {
	jobs_over_fn over;
	void *user;
	struct exec_job *all; /* an array with room for so many; the first count are running */
	size_t room;
	size_t count;
	size_t held; /* deliveries of all running jobs */
};

/* jobs_open returns EXIT_DONE, or complains if no command can start here. From now on this process
 * reaps every orphan that a command leaves behind. */
int jobs_open(struct jobs *, jobs_over_fn over, void *user);
/* jobs_close frees memory. It does not end running jobs. */
void jobs_close(struct jobs *);

/* jobs_items: room for count deliveries with empty lines; NULL: no memory. jobs_items_free frees it
 * with its lines. */
struct job_item *jobs_items(size_t count);
void jobs_items_free(struct job_item *, size_t count);

/* job_way_is_full: as many jobs run as the way allows. */
static inline bool job_way_is_full(const struct job_way *way)
{
	return way->running >= way->max;
}

/* jobs_start starts a job, which owns the items from then on. 0, or an errno; EAGAIN: the way is
 * full. */
int jobs_start(struct jobs *, struct job_way *, const struct shell_input *, struct job_item *items,
	       size_t count);

/* jobs_reap: call it after SIGCHLD. jobs_tick: call it at the steady time that jobs_wake() returns,
 * which is DW_NEVER if no job has a time limit. */
void jobs_reap(struct jobs *);
void jobs_tick(struct jobs *);
dw_usec jobs_wake(const struct jobs *);

/* jobs_stop ends every job. */
void jobs_stop(struct jobs *);

#endif
