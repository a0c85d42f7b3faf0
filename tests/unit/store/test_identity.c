/* Which process is dead: only one of which the kernel says so. A wrong "dead" takes the lease from
 * a living owner. */
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#include "store/identity.h"
#include "support/cmocka.h"

enum { TEXT_SIZE = 256, NOBODY = 65534, FOUND_DEAD = 1, NOT_HIDDEN = 2 };

/* text_of writes what identity_is_dead() reads: the part of identity_write() behind the '|'. */
static void text_of(const struct identity *self, char *ret_text)
{
	(void)snprintf(ret_text, TEXT_SIZE, "%s %" PRId64 " %" PRId64 " %" PRId64, self->boot,
		       self->pid_space, self->pid, self->start); /* it fits */
}

static bool is_dead(const struct identity *self)
{
	char text[TEXT_SIZE];

	text_of(self, text);
	return identity_is_dead(text);
}

/* ended: a process of this machine that has been waited for. */
static struct identity ended(void)
{
	struct identity self = identity_of_process();
	pid_t child = fork();

	if (child == 0)
		_exit(0);
	assert_int_equal(waitpid(child, NULL, 0), child);
	self.pid = child;
	return self;
}

static void process_that_lives_is_not_dead(void **state)
{
	struct identity self = identity_of_process();
	char line[TEXT_SIZE];

	(void)state;
	identity_write(line, sizeof line);
	assert_non_null(strchr(line, '|'));
	assert_false(identity_is_dead(strchr(line, '|') + 1));
	assert_true(identity_lives(self.pid, self.start, self.boot));
	assert_false(identity_lives(0, self.start, self.boot));
	assert_false(identity_lives(self.pid, self.start, "another boot"));
}

static void process_that_ended_is_dead(void **state)
{
	struct identity gone = ended();

	(void)state;
	assert_true(is_dead(&gone));
	assert_false(identity_lives(gone.pid, gone.start, gone.boot));
	gone.start = 0; /* its owner could not read it */
	assert_true(is_dead(&gone));
}

/* Nobody has waited for it: it is there, but it does nothing any more. */
static void process_that_is_not_waited_for_is_dead(void **state)
{
	struct identity self = identity_of_process();
	siginfo_t info;
	pid_t child = fork();

	(void)state;
	if (child == 0)
		_exit(0);
	assert_int_equal(waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT), 0);
	self.pid = child;
	self.start = 0;
	assert_true(is_dead(&self));
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void *wait_for_end(void *user)
{
	char byte;

	(void)!read(*(int *)user, &byte, 1);
	_exit(0);
}

/* The first thread has ended, and another one works. */
static void process_without_its_first_thread_lives(void **state)
{
	struct identity self = identity_of_process();
	char path[64], stat[512] = "";
	int ends[2];
	pid_t child;

	(void)state;
	assert_int_equal(pipe(ends), 0);
	child = fork();
	if (child == 0) {
		pthread_t thread;

		(void)close(ends[1]);
		(void)pthread_create(&thread, NULL, wait_for_end, &ends[0]);
		pthread_exit(NULL);
	}
	(void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)child);
	while (!strstr(stat, ") Z")) {
		int fd = open(path, O_RDONLY);
		ssize_t size = read(fd, stat, sizeof stat - 1);

		stat[size > 0 ? size : 0] = '\0';
		(void)close(fd);
	}
	self.pid = child;
	self.start = 0;
	assert_false(is_dead(&self));
	(void)close(ends[1]);
	assert_int_equal(waitpid(child, NULL, 0), child);
	(void)close(ends[0]);
}

/* The number is in use again: the start time tells, if both are known. */
static void process_with_a_used_number_is_dead(void **state)
{
	struct identity self = identity_of_process();

	(void)state;
	self.start++;
	assert_true(is_dead(&self));
	assert_false(identity_lives(self.pid, self.start, self.boot));
	self.start = 0;
	assert_false(is_dead(&self));
}

/* A number means nothing in another pid namespace, or after another boot. */
static void process_of_elsewhere_is_not_dead(void **state)
{
	struct identity gone = ended();

	(void)state;
	assert_true(is_dead(&gone));
	gone.pid_space++;
	assert_false(is_dead(&gone));
	gone.pid_space = 0;
	assert_false(is_dead(&gone));
	gone = ended();
	gone.boot[0] = gone.boot[0] == '0' ? '1' : '0';
	assert_false(is_dead(&gone));
	gone.boot[0] = '\0';
	assert_false(is_dead(&gone));
}

static void damaged_text_is_not_dead(void **state)
{
	struct identity gone = ended();
	char text[TEXT_SIZE];

	(void)state;
	assert_false(identity_is_dead(""));
	assert_false(identity_is_dead(gone.boot));
	text_of(&gone, text);
	*strrchr(text, ' ') = '\0';
	assert_false(identity_is_dead(text));
	gone.pid = -gone.pid;
	assert_false(is_dead(&gone));
	gone.pid = 0;
	assert_false(is_dead(&gone));
	gone.pid = (int64_t)1 << 40;
	assert_false(is_dead(&gone));
}

/* ---- A process whose /proc is hidden ------------------------------------------------------- */

static bool stat_is_hidden(pid_t pid)
{
	char path[64];
	int fd;

	(void)snprintf(path, sizeof path, "/proc/%ld/stat", (long)pid); /* it fits */
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd >= 0)
		(void)close(fd); /* nothing was written */
	return fd < 0;
}

/* hide_as_root: another user, who sees its own processes only. */
static bool hide_as_root(void)
{
	return unshare(CLONE_NEWNS) == 0 &&
	       mount("none", "/", "none", MS_REC | MS_PRIVATE, NULL) == 0 &&
	       mount("proc", "/proc", "proc", 0, "hidepid=2") == 0 && setgid(NOBODY) == 0 &&
	       setuid(NOBODY) == 0;
}

/* hide_as_user: the same user, who has put an empty folder over that process. */
static bool hide_as_user(pid_t pid)
{
	char path[64];

	(void)snprintf(path, sizeof path, "/proc/%ld", (long)pid); /* it fits */
	return unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	       mount("tmpfs", path, "tmpfs", 0, NULL) == 0;
}

static int look_at_hidden(pid_t pid, const char *text)
{
	bool hidden = getuid() == 0 ? hide_as_root() : hide_as_user(pid);

	if (!hidden || !stat_is_hidden(pid))
		return NOT_HIDDEN;
	return identity_is_dead(text) ? FOUND_DEAD : 0;
}

/* A standby in a namespace that hides the owner's /proc. */
static void process_that_is_hidden_is_not_dead(void **state)
{
	struct identity self = identity_of_process();
	char text[TEXT_SIZE];
	pid_t child;
	int status;

	(void)state;
	text_of(&self, text);
	child = fork();
	if (child == 0)
		_exit(look_at_hidden((pid_t)self.pid, text));
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	if (WEXITSTATUS(status) == NOT_HIDDEN)
		not_tested("no namespace to hide /proc in: run as root, or permit user namespaces");
	assert_int_equal(WEXITSTATUS(status), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(process_that_lives_is_not_dead),
	    cmocka_unit_test(process_that_ended_is_dead),
	    cmocka_unit_test(process_that_is_not_waited_for_is_dead),
	    cmocka_unit_test(process_without_its_first_thread_lives),
	    cmocka_unit_test(process_with_a_used_number_is_dead),
	    cmocka_unit_test(process_of_elsewhere_is_not_dead),
	    cmocka_unit_test(damaged_text_is_not_dead),
	    cmocka_unit_test(process_that_is_hidden_is_not_dead),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
