/* Runs one command for each delivery or batch of deliveries. Each command has its own supervisor
 * process (cli/run/supervisor.h). Topics may have different commands: a job_way describes the
 * command of a topic.
 *
 * A job is over when its supervisor has ended. Normally the supervisor ends when the shell of its
 * command ends. We may also end a job because of its time limit, or because we stop. The supervisor
 * then ends when the last process of the command ends.
 *
 * No function here blocks. The caller must call jobs_reap() after SIGCHLD, and jobs_tick() at the
 * time that jobs_wake() returns. */
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
	JOB_OVERDUE, /* the time limit passed and we ended the command */
	JOB_STOPPED  /* jobs_stop() ended the command */
};

/* A delivery, and the line that is printed for it. Some fields serve only `durawheel work`, whose
 * deliveries are messages of a queue. */
struct job_item {
	dw_token token; /* for `work`: the token of the message */
	struct line line;
	bool is_answered;            /* for `work`: the command itself has answered the message */
	char message[DW_ID_MAX + 1]; /* for `work`: the id of the message; otherwise "" */
};

/* How to run the commands of a topic. A job_way must live as long as its jobs run. A change applies
 * to jobs that start later. */
struct job_way {
	char **words; /* the command and its arguments, ended by NULL */
	int output;   /* the descriptor that becomes the stdout of the commands */
	size_t max;
	dw_usec timeout; /* DW_NEVER means no time limit */
	size_t running;  /* the number of running jobs with this way */
};

struct exec_job {
	pid_t pid; /* the process id of the supervisor */
	struct job_way *way;
	struct job_item *items;
	size_t count;
	dw_usec until; /* the steady time at which the time limit passes, or DW_NEVER */
	int answers;   /* the file shell_input.answers, which the caller closes */
	int note;      /* the file shell_input.note */
	enum job_end end;
	int status;                /* the shell's exit code; 128 and more mean a signal */
	char last[DW_WHY_MAX + 1]; /* the last line that the command has written to stderr */
};

/* The printed exit code of a command that exceeded its time limit. timeout(1) uses the same. */
#define JOB_OVERDUE_EXIT 124
/* A command exits with this code if a retry would not help. Its timers become dead letters. */
#define JOB_DEAD_EXIT 100

/* This is called for each job that is over. The job lives until the callback returns. */
typedef void (*jobs_over_fn)(struct exec_job *, void *user);

struct jobs {
	jobs_over_fn over;
	void *user;
	struct exec_job *all; /* an array with `room` places, of which `count` are used */
	size_t room;
	size_t count;
	size_t held; /* the number of deliveries in all running jobs */
	/* The steady time until which no job starts, because the machine had no room for one; or
	 * 0. */
	dw_usec start_at;
};

/* jobs_open prepares this process to run commands. From now on it reaps every orphan that a command
 * leaves behind. Returns EXIT_DONE, or complains if no command can start here. */
int jobs_open(struct jobs *, jobs_over_fn over, void *user);
/* jobs_close frees memory. It does not end running jobs. */
void jobs_close(struct jobs *);

/* jobs_items allocates `count` deliveries with empty lines. Returns NULL if out of memory.
 * jobs_items_free frees the deliveries and their lines. */
struct job_item *jobs_items(size_t count);
void jobs_items_free(struct job_item *, size_t count);

/* job_way_is_full returns true if the way has the largest allowed number of running jobs. */
static inline bool job_way_is_full(const struct job_way *way)
{
	return way->running >= way->max;
}

/* jobs_may_start returns true if a job of this way may start now. */
static inline bool jobs_may_start(const struct jobs *jobs, const struct job_way *way)
{
	return jobs->start_at == 0 && !job_way_is_full(way);
}

/* jobs_await_room is called with the error of jobs_start(). If the machine lacks descriptors,
 * processes or memory, no job starts for a second, and it returns true. */
bool jobs_await_room(struct jobs *, int error);

/* jobs_start starts a job, and takes ownership of the items if it succeeds. Returns 0 or an errno.
 * EAGAIN means that the way is full. */
int jobs_start(struct jobs *, struct job_way *, const struct shell_input *, struct job_item *items,
	       size_t count);

/* jobs_reap handles ended commands. Call it after SIGCHLD. jobs_tick ends commands whose time limit
 * has passed. Call it at the steady time that jobs_wake() returns, which is DW_NEVER if no job has
 * a limit and jobs may start. */
void jobs_reap(struct jobs *);
void jobs_tick(struct jobs *);
dw_usec jobs_wake(const struct jobs *);

/* jobs_stop ends all running jobs. */
void jobs_stop(struct jobs *);

#endif
