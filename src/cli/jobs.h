/* The commands that run, each for one delivery.
 *
 * A job is over when its shell has ended. One that we end ourselves (over its time, or because we
 * stop) is over when its whole process group has ended: the group is told to (SIGTERM), and after a
 * grace made to (SIGKILL). Nothing here waits: its user looks after SIGCHLD, and after jobs_wake().
 */
#ifndef DW_CLI_JOBS_H
#define DW_CLI_JOBS_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "cli/line.h"
#include "durawheel/durawheel.h"

#define JOBS_GRACE DW_SECONDS(5) /* between SIGTERM and SIGKILL */

enum job_end {
	JOB_EXITED,  /* by itself */
	JOB_OVERDUE, /* ended because its time was over */
	JOB_STOPPED  /* ended by jobs_stop() */
};

struct job {
	pid_t pid; /* of the shell, and the number of its process group */
	dw_token token;
	struct line line; /* of its firing */
	dw_usec until;    /* steady: when it is ended or, being ended, killed; DW_NEVER */
	enum job_end end;
	bool ending; /* SIGTERM is sent */
	bool gone;   /* the shell has ended, and perhaps not all of its group */
	int status;  /* the shell's exit code, 128 and more for a signal */
};

/* The exit code that stands for JOB_OVERDUE, as timeout(1) has it. */
#define JOB_OVERDUE_EXIT 124

/* Told of each job that is over; the job lives until the callback returns. */
typedef void (*jobs_over_fn)(struct job *, void *user);

struct jobs {
	const char *command;
	size_t max;
	dw_usec timeout; /* DW_NEVER: none */
	jobs_over_fn over;
	void *user;
	struct job *all; /* max of them, the first count run */
	size_t count;
};

/* jobs_open: how and how many is set in *jobs. 0, or an errno. From now on this process takes care
 * of every orphan of its children. */
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
