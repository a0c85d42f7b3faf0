/* durawheel work: a consumer. It takes messages of queue topics, passes them to a command, and
 * answers them by the exit code.
 *
 * While a command runs, `work` keeps extending the time in which its messages are hidden from other
 * consumers. If `work` is killed, the messages become visible again after the topic's hide time. */
#include "cli/commands.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/out/errors.h"
#include "cli/run/jobs.h"
#include "cli/run/log.h"
#include "cli/run/run_exec.h"
#include "cli/session.h"
#include "cli/run/supervisor.h"
#include "cli/out/durations.h"
#include "cli/tool/work_answers.h"
#include "durawheel/topic.h"

#define STOP_PATIENCE DW_SECONDS(10)
#define WAIT_DEFAULT DW_SECONDS(10)
#define TOUCH_EVERY DW_MILLISECONDS(300) /* far below the shortest hide time, which is 1 s */
#define TAKE_AGAIN DW_SECONDS(1)         /* the pause after a failure */

struct consumer {
	dw *d;
	struct jobs jobs;
	struct job_way way;
	dw_take_options take;
	bool takes;       /* a take has begun and has no answer yet */
	dw_usec take_at;  /* the steady time before which no take may begin */
	dw_usec touch_at; /* the steady time of the next touch */
	bool stop, hurried, over;
	dw_usec patient_until; /* if `stop`: the steady time until which it waits for commands */
	int signal_fd;
	int code;
};

static void stop_work(struct consumer *consumer, int code)
{
	if (consumer->stop)
		return;
	consumer->stop = true;
	consumer->code = code;
	consumer->patient_until = session_steady() + STOP_PATIENCE;
	if (consumer->jobs.count > 0)
		(void)complain(code, "stopping: waiting for %zu running, at most %d s",
			       consumer->jobs.count, (int)(STOP_PATIENCE / DW_SECONDS(1)));
}

/* ---- Answers ------------------------------------------------------------------------------- */

static void work_answered(dw *d, const dw_result *results, size_t count, void *user)
{
	(void)d;
	(void)user;
	for (size_t i = 0; i < count; i++)
		if (results[i].status == DW_ESTALE)
			warn("%s: it was handed out again meanwhile", results[i].id);
		else if (results[i].status != DW_OK)
			warn("%s: the answer failed: %s; it comes back", results[i].id,
			     dw_strerror(results[i].status));
}

/* answer answers all messages of the job that the command has not answered itself. All get the same
 * verdict. */
static void answer(struct consumer *consumer, const struct exec_job *job, dw_verdict verdict)
{
	const char *tokens[DW_TAKE_MAX];
	dw_answer given = {.size = sizeof given, .tokens = tokens, .verdict = verdict};
	char text[EXEC_WHY_SIZE];

	run_exec_why(job, text);
	if (verdict != DW_DONE)
		given.why = text;
	for (size_t i = 0; i < job->count; i++)
		if (!job->items[i].is_answered)
			tokens[given.count++] = job->items[i].token.id;
	if (given.count > 0 && dw_ack(consumer->d, &given, work_answered, consumer) != DW_OK)
		warn("%s", why(consumer->d, DW_ENOMEM));
}

static void answer_one(struct job_item *item, const struct work_answer *said, void *user)
{
	struct consumer *consumer = user;
	const char *token = item->token.id;
	dw_answer given = {.size = sizeof given,
			   .tokens = &token,
			   .count = 1,
			   .verdict = said->verdict,
			   .retry_in = said->retry_in,
			   .why = said->why};

	item->is_answered = true;
	if (dw_ack(consumer->d, &given, work_answered, consumer) != DW_OK)
		warn("%s", why(consumer->d, DW_ENOMEM));
}

/* work_over handles the end of a command. If we have stopped the command, the messages that it has
 * not answered become visible again. */
static void work_over(struct exec_job *job, void *user)
{
	struct consumer *consumer = user;

	if (job->end != JOB_STOPPED)
		run_exec_tell(job);
	work_answers_read(job, answer_one, consumer);
	if (job->end != JOB_STOPPED)
		answer(consumer, job, run_exec_verdict(job));
	if (job->answers > 0)
		(void)close(job->answers); /* the file was only read */
}

/* ---- Taking -------------------------------------------------------------------------------- */

static bool fill(struct job_item *items, const dw_message *messages, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		(void)snprintf(items[i].token.id, sizeof items[i].token.id, "%s",
			       messages[i].token); /* the text always fits */
		(void)snprintf(items[i].message, sizeof items[i].message, "%s", messages[i].id);
		items[i].token.attempt = messages[i].attempt;
		if (!line_of_message(&items[i].line, &messages[i]))
			return false;
	}
	return true;
}

static void start(struct consumer *consumer, const dw_message *messages, size_t count)
{
	struct job_item *items = jobs_items(count);
	int answers = memfd_create("durawheel-answers", MFD_CLOEXEC);
	int error = items && fill(items, messages, count) ? 0 : ENOMEM;

	if (error == 0 && answers < 0)
		error = errno;
	if (error == 0)
		error = run_exec_start_lines(&consumer->jobs, &consumer->way,
					     &(struct shell_input){.topic = messages->topic,
								   .count = count,
								   .answers = answers},
					     items);
	if (error == 0)
		return;
	warn("cannot start the command: %s; the messages come back", strerror(error));
	consumer->take_at = session_steady() + TAKE_AGAIN;
	jobs_items_free(items, count);
	if (answers >= 0)
		(void)close(answers); /* nothing was written to it */
}

static void work_taken(dw *d, int status, const dw_message *messages, size_t count, void *user)
{
	struct consumer *consumer = user;

	consumer->takes = false;
	if (count > 0 && !consumer->stop)
		start(consumer, messages, count);
	if (status == DW_OK || status == DW_ECLOSED)
		return;
	if (status == DW_ENOENT) {
		stop_work(consumer,
			  complain(EXIT_ABSENT, "%s: see durawheel topic set", why(d, status)));
		return;
	}
	warn("cannot take: %s; trying again", status == DW_ECORRUPT
						  ? "a queue is damaged: durawheel check says where"
						  : dw_strerror(status));
	consumer->take_at = session_steady() + TAKE_AGAIN;
}

static void take_next(struct consumer *consumer)
{
	int status;

	if (consumer->takes || consumer->stop || job_way_is_full(&consumer->way) ||
	    session_steady() < consumer->take_at)
		return;
	status = dw_take(consumer->d, &consumer->take, work_taken, consumer);
	consumer->takes = status == DW_OK;
	if (status != DW_OK)
		stop_work(consumer, complain(exit_of(status), "%s", why(consumer->d, status)));
}

static void touch(struct consumer *consumer)
{
	if (consumer->jobs.count == 0 || session_steady() < consumer->touch_at)
		return;
	consumer->touch_at = session_steady() + TOUCH_EVERY;
	for (size_t i = 0; i < consumer->jobs.count; i++) {
		const struct exec_job *job = &consumer->jobs.all[i];
		const char *tokens[DW_TAKE_MAX];

		for (size_t k = 0; k < job->count; k++)
			tokens[k] = job->items[k].token.id;
		/* If it fails, the next touch follows soon. */
		(void)dw_touch(consumer->d, tokens, job->count, NULL, NULL);
	}
}

/* ---- The loop ------------------------------------------------------------------------------ */

static void hurry(struct consumer *consumer)
{
	consumer->over = consumer->hurried;
	consumer->hurried = true;
	jobs_stop(&consumer->jobs);
	consumer->patient_until = session_steady() + SUPERVISOR_GRACE + DW_SECONDS(1);
}

static void take_signals(struct consumer *consumer)
{
	struct signalfd_siginfo signal;

	while (read(consumer->signal_fd, &signal, sizeof signal) == (ssize_t)sizeof signal) {
		if (signal.ssi_signo == SIGCHLD)
			jobs_reap(&consumer->jobs);
		else
			stop_work(consumer, EXIT_DONE);
	}
}

static int wait_ms(const struct consumer *consumer)
{
	dw_usec wake = jobs_wake(&consumer->jobs), now = session_steady();

	if (consumer->stop && consumer->patient_until < wake)
		wake = consumer->patient_until;
	if (consumer->jobs.count > 0 && consumer->touch_at < wake)
		wake = consumer->touch_at;
	if (!consumer->takes && consumer->take_at > now && consumer->take_at < wake)
		wake = consumer->take_at;
	if (wake == DW_NEVER)
		return -1;
	wake = (wake - now + 999) / 1000;
	return wake < 0 ? 0 : wake > INT_MAX ? INT_MAX : (int)wake;
}

static void step(struct consumer *consumer)
{
	struct pollfd fds[] = {{.fd = consumer->signal_fd, .events = POLLIN},
			       {.fd = dw_fd(consumer->d), .events = POLLIN}};

	if (poll(fds, 2, wait_ms(consumer)) < 0 && errno != EINTR) {
		consumer->over = true;
		stop_work(consumer, complain(EXIT_FAILED, "cannot wait: %s", strerror(errno)));
		return;
	}
	if (fds[0].revents)
		take_signals(consumer);
	jobs_tick(&consumer->jobs);
	if (consumer->stop && session_steady() >= consumer->patient_until)
		hurry(consumer);
	if (fds[1].revents)
		(void)dw_turn(consumer->d); /* dw_turn() fails only inside a callback */
	take_next(consumer);
	touch(consumer);
}

static int open_work_signals(void)
{
	sigset_t set;

	(void)sigemptyset(&set); /* cannot fail for these sets and signals */
	(void)sigaddset(&set, SIGTERM);
	(void)sigaddset(&set, SIGINT);
	(void)sigaddset(&set, SIGCHLD);
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static int work(struct consumer *consumer)
{
	int code;

	(void)dw_turn(consumer->d); /* the first turn arms the descriptor */
	take_next(consumer);
	if (!consumer->stop)
		(void)complain(EXIT_DONE, "working");
	while (!consumer->over && !(consumer->stop && consumer->jobs.count == 0))
		step(consumer);
	code = session_sync(consumer->d); /* waits for the last answers */
	return consumer->code != EXIT_DONE ? consumer->code : code;
}

int command_work(const struct options *options)
{
	struct consumer consumer = {0};
	enum log_form form;
	int code = run_exec_read(options, &consumer.way);

	if (code == EXIT_DONE && !options->value[OPT_EXEC])
		code = complain(EXIT_USAGE, "work: --exec CMD is required");
	if (code == EXIT_DONE)
		code = take_of_options(options, "work", &consumer.take);
	if (code == EXIT_DONE)
		code = options_log(options, &form);
	if (code != EXIT_DONE) {
		free(consumer.way.words);
		return code;
	}
	log_open(form);
	if (!options->value[OPT_WAIT])
		consumer.take.wait_us = WAIT_DEFAULT;
	consumer.signal_fd = open_work_signals();
	if (consumer.signal_fd < 0) {
		free(consumer.way.words);
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	}
	code = jobs_open(&consumer.jobs, work_over, &consumer);
	if (code == EXIT_DONE)
		code = session_look(
		    options, (dw_options){.role = DW_CLIENT, .on_event = take_event}, &consumer.d);
	if (code == EXIT_DONE)
		code = session_close(consumer.d, work(&consumer));
	jobs_close(&consumer.jobs);
	free(consumer.way.words);
	(void)close(consumer.signal_fd); /* nothing was written to it */
	return code;
}
