#include "cli/run/jobs.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "cli/session.h"
#include "cli/run/shell.h"
#include "cli/run/supervisor.h"

#define START_AGAIN DW_SECONDS(1)

int jobs_open(struct jobs *jobs, jobs_over_fn over, void *user)
{
	*jobs = (struct jobs){.over = over, .user = user};
	/* If SIGCHLD is ignored, the kernel does not report how children end. This process may have
	 * inherited that setting. It also adopts the orphans of commands, because a container may
	 * have no init that reaps them. */
	if (signal(SIGCHLD, SIG_DFL) == SIG_ERR || prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) != 0)
		return complain(EXIT_FAILED, "cannot run commands: %s", strerror(errno));
	/* Without this path each start of a command would fail, and use up the timers' retries. */
	if (access(SHELL_SELF, X_OK) != 0)
		return complain(EXIT_FAILED,
				"cannot run commands without " SHELL_SELF ": %s: mount proc on "
				"/proc",
				strerror(errno));
	return EXIT_DONE;
}

void jobs_close(struct jobs *jobs)
{
	for (size_t i = 0; i < jobs->count; i++) {
		jobs_items_free(jobs->all[i].items, jobs->all[i].count);
		(void)close(jobs->all[i].note); /* nobody reads the note any more */
	}
	free(jobs->all);
}

static dw_usec after(dw_usec duration)
{
	dw_usec now = session_steady();

	return duration > DW_NEVER - now ? DW_NEVER : now + duration;
}

struct job_item *jobs_items(size_t count)
{
	return calloc(count, sizeof(struct job_item));
}

void jobs_items_free(struct job_item *items, size_t count)
{
	for (size_t i = 0; items && i < count; i++)
		line_free(&items[i].line);
	free(items);
}

/* open_note creates a file for the last line that a command writes to stderr. Returns -1 if it
 * fails; errno has the error. */
static int open_note(void)
{
	int low = memfd_create("durawheel-note", MFD_CLOEXEC);
	int note = low < 0 ? -1 : fcntl(low, F_DUPFD_CLOEXEC, SUPERVISOR_NOTE + 1);

	if (low >= 0)
		(void)close(low); /* `note` is a duplicate of it */
	return note;
}

/* make_room allocates a place for one more job. Returns 0 or ENOMEM. */
static int make_room(struct jobs *jobs)
{
	size_t room = jobs->room == 0 ? 8 : 2 * jobs->room;
	struct exec_job *all;

	if (jobs->count < jobs->room)
		return 0;
	all = realloc(jobs->all, room * sizeof *all);
	if (!all)
		return ENOMEM;
	jobs->all = all;
	jobs->room = room;
	return 0;
}

static int start(struct jobs *jobs, const struct job_way *way, const struct shell_input *input,
		 pid_t *ret_pid, int *ret_note)
{
	struct shell_input whole = *input;
	int error = job_way_is_full(way) ? EAGAIN : make_room(jobs);

	if (error != 0)
		return error;
	whole.note = open_note();
	if (whole.note < 0)
		return errno;
	error = shell_start(way->words, way->output, &whole, ret_pid);
	if (error != 0)
		(void)close(whole.note); /* nothing was written to it */
	*ret_note = whole.note;
	return error;
}

bool jobs_await_room(struct jobs *jobs, int error)
{
	if (error != EMFILE && error != ENFILE && error != EAGAIN && error != ENOMEM)
		return false;
	jobs->start_at = session_steady() + START_AGAIN;
	return true;
}

int jobs_start(struct jobs *jobs, struct job_way *way, const struct shell_input *input,
	       struct job_item *items, size_t count)
{
	pid_t pid;
	int note = -1;
	int error = start(jobs, way, input, &pid, &note);

	if (error != 0)
		return error;
	jobs->all[jobs->count++] = (struct exec_job){.pid = pid,
						     .way = way,
						     .items = items,
						     .count = count,
						     .answers = input->answers,
						     .note = note,
						     .until = after(way->timeout)};
	way->running++;
	jobs->held += count;
	return 0;
}

static void read_note(struct exec_job *job)
{
	ssize_t size = pread(job->note, job->last, sizeof job->last - 1, 0);

	job->last[size > 0 ? size : 0] = '\0';
	(void)close(job->note); /* the file was only read */
}

/* finish removes job i. The last job of the array takes its place. */
static void finish(struct jobs *jobs, size_t i)
{
	struct exec_job job = jobs->all[i];

	jobs->all[i] = jobs->all[--jobs->count];
	job.way->running--;
	jobs->held -= job.count;
	read_note(&job);
	jobs->over(&job, jobs->user);
	jobs_items_free(job.items, job.count);
}

static void terminate(struct exec_job *job, enum job_end why)
{
	job->end = why;
	job->until = DW_NEVER;
	/* The process id is valid, because we have not reaped the child. */
	(void)kill(job->pid, SIGTERM);
}

/* child_ended finishes the job whose supervisor has ended. It ignores other children, because they
 * are adopted orphans. */
static void child_ended(struct jobs *jobs, pid_t pid, int status)
{
	for (size_t i = 0; i < jobs->count; i++) {
		if (jobs->all[i].pid != pid)
			continue;
		jobs->all[i].status =
		    WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
		finish(jobs, i);
		return;
	}
}

void jobs_reap(struct jobs *jobs)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, WNOHANG)) > 0)
		child_ended(jobs, pid, status);
}

void jobs_tick(struct jobs *jobs)
{
	dw_usec now = session_steady();

	if (jobs->start_at <= now)
		jobs->start_at = 0;
	jobs_reap(jobs); /* a command that has ended was in time */
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->all[i].until <= now)
			terminate(&jobs->all[i], JOB_OVERDUE);
}

dw_usec jobs_wake(const struct jobs *jobs)
{
	dw_usec wake = jobs->start_at ? jobs->start_at : DW_NEVER;

	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->all[i].until < wake)
			wake = jobs->all[i].until;
	return wake;
}

void jobs_stop(struct jobs *jobs)
{
	jobs_reap(jobs);
	for (size_t i = 0; i < jobs->count; i++)
		if (jobs->all[i].end == JOB_EXITED)
			terminate(&jobs->all[i], JOB_STOPPED);
}
