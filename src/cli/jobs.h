/* The commands that run, each for one delivery, below a supervisor of its own (cli/supervisor.h).
 *
 * A job is over when its supervisor has ended: with the command's shell, or, when we end the job
 * (over its time, or because we stop), with the last process of the command. Nothing here waits:
 * its user looks after SIGCHLD, and after jobs_wake().
 */
#ifndef DW_CLI_JOBS_H
#define DW_CLI_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/line.h"
#include "durawheel/durawheel.h"

enum job_end {
	JOB_EXITED,  /* by itself */
	JOB_OVERDUE, /* ended because its time was over */
	JOB_STOPPED  /* ended by jobs_stop() */
};

struct exec_job {
	pid_t pid; /* of the supervisor */
	dw_token token;
	struct line line; /* of its firing */
	dw_usec until;    /* steady: when its time is over; DW_NEVER */
	enum job_end end;
	int status; /* the shell's exit code, 128 and more for a signal */
};

/* The exit code that stands for JOB_OVERDUE, as timeout(1) has it. */
#define JOB_OVERDUE_EXIT 124

/* Told of each job that is over; the job lives until the callback returns. */
typedef void (*jobs_over_fn)(struct exec_job *, void *user);

struct jobs {
	const char *command;
	int output; /* the descriptor that is the commands' stdout */
	size_t max;
	dw_usec timeout; /* DW_NEVER: none */
	jobs_over_fn over;
	void *user;
	struct exec_job *all; /* max of them, the first count run */
	size_t count;
};

/* jobs_open: how and how many is set in *jobs. 0, or an errno. From now on this process reaps every
 * orphan that a command leaves behind. */
int jobs_open(struct jobs *);
/* jobs_close leaves what runs alone. */
void jobs_close(struct jobs *);

/* jobs_start starts a job when there is room; its line is moved into it. 0, or an errno. */
int jobs_start(struct jobs *, const dw_firing *, struct line *);

/* jobs_reap, after SIGCHLD; jobs_tick, when jobs_wake() is over: the steady time of the next one,
 * DW_NEVER: none. */
void jobs_reap(struct jobs *);
void jobs_tick(struct jobs *);
dw_usec jobs_wake(const struct jobs *);

/* jobs_stop ends every job. */
void jobs_stop(struct jobs *);

#endif
