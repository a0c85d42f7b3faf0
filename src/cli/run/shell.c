/* posix_spawn() is used because it does not copy the page tables of a process with a million
 * timers, and is safe beside the store's threads.
 *
 * The data is in a memory file instead of a pipe, because a pipe would have to be fed. A command
 * may read half of the data, or nothing, or close stdin at once, without blocking anyone. */
#include "cli/run/shell.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cli/run/supervisor.h"

enum { ANSWERS_FD = 3 };
enum { OWN_VARIABLES = 6, VARIABLE_SIZE = sizeof "DW_TOPIC=" + DW_ID_MAX };

/* All variables that we may set. They are removed first, because an outer durawheel may have set
 * them. */
static const char *const names[] = {
    "DW_ID=", "DW_TOPIC=", "DW_DUE=", "DW_ATTEMPT=", "DW_COUNT=", "DW_OCCURRENCE=", "DW_MISSED="};

struct environment {
	char own[OWN_VARIABLES][VARIABLE_SIZE];
	size_t own_count;
	char **variables; /* an array that ends with NULL; the caller frees it */
};

static bool is_own(const char *variable)
{
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
		if (strncmp(variable, names[i], strlen(names[i])) == 0)
			return true;
	return false;
}

static void add_text(struct environment *environment, const char *name, const char *text)
{
	char *variable = environment->own[environment->own_count++];

	(void)snprintf(variable, VARIABLE_SIZE, "%s%s", name, text);
}

static void add_number(struct environment *environment, const char *name, int64_t number)
{
	char *variable = environment->own[environment->own_count++];

	(void)snprintf(variable, VARIABLE_SIZE, "%s%" PRId64, name, number);
}

static void add_own(struct environment *environment, const struct shell_input *input)
{
	environment->own_count = 0;
	add_text(environment, "DW_TOPIC=", input->topic);
	if (input->firing) {
		add_text(environment, "DW_ID=", input->firing->id);
		add_number(environment, "DW_DUE=", input->firing->due);
		add_number(environment, "DW_ATTEMPT=", input->firing->attempt);
	}
	if (input->firing && input->firing->occurrence > 0) {
		add_number(environment, "DW_OCCURRENCE=", input->firing->occurrence);
		add_number(environment, "DW_MISSED=", input->firing->missed);
	}
	if (!input->firing) {
		add_number(environment, "DW_COUNT=", (int64_t)input->count);
	}
}

/* environment_make builds the variables of a command. Returns false if out of memory. */
static bool environment_make(struct environment *environment, const struct shell_input *input)
{
	size_t count = 0;
	size_t used = 0;

	add_own(environment, input);
	while (environ[count])
		count++;
	environment->variables = calloc(count + OWN_VARIABLES + 1, sizeof(char *));
	if (!environment->variables)
		return false;
	for (size_t i = 0; i < count; i++)
		if (!is_own(environ[i]))
			environment->variables[used++] = environ[i];
	for (size_t i = 0; i < environment->own_count; i++)
		environment->variables[used++] = environment->own[i];
	return true;
}

/* open_data returns a descriptor at the beginning of the data. Returns -1 if it fails; errno has
 * the error. */
static int open_data(const struct shell_input *input)
{
	int fd = memfd_create("durawheel-data", MFD_CLOEXEC);
	size_t written = 0;

	while (fd >= 0 && written < input->size) {
		ssize_t count =
		    write(fd, (const char *)input->bytes + written, input->size - written);

		if (count < 0 && errno == EINTR)
			continue;
		if (count <= 0) {
			(void)close(fd); /* errno must keep the error of the write */
			return -1;
		}
		written += (size_t)count;
	}
	if (fd >= 0)
		(void)lseek(fd, 0, SEEK_SET); /* a memory file can seek */
	return fd;
}

/* set_attributes gives the supervisor its own process group, which gets no signals from a terminal.
 * Signals that would end it, or that we handle, get their default action. Signals that we block
 * stay blocked, so that a SIGTERM cannot end the supervisor before it waits for signals. */
static int set_attributes(posix_spawnattr_t *attributes)
{
	static const int reset[] = {SIGPIPE, SIGXFSZ, SIGCHLD, SIGTERM, SIGINT, SIGQUIT};
	sigset_t defaults;
	int error;

	(void)sigemptyset(&defaults); /* cannot fail for these sets and signals */
	for (size_t i = 0; i < sizeof reset / sizeof reset[0]; i++)
		(void)sigaddset(&defaults, reset[i]);
	error = posix_spawnattr_setflags(attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
	if (error == 0)
		error = posix_spawnattr_setpgroup(attributes, 0);
	if (error == 0)
		error = posix_spawnattr_setsigdefault(attributes, &defaults);
	return error;
}

/* spawn_with starts this program again, as the supervisor of the command in `arguments`. Returns 0
 * or an errno. */
static int spawn_with(char *const *arguments, const int streams[4], char *const *variables,
		      pid_t *ret_pid)
{
	posix_spawn_file_actions_t actions;
	posix_spawnattr_t attributes;
	int error = posix_spawn_file_actions_init(&actions);

	if (error != 0)
		return error;
	error = posix_spawnattr_init(&attributes);
	if (error == 0) {
		error = set_attributes(&attributes);
		for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO && error == 0; fd++)
			error = posix_spawn_file_actions_adddup2(&actions, streams[fd], fd);
		if (error == 0 && streams[2] > 0)
			error = posix_spawn_file_actions_adddup2(&actions, streams[2], ANSWERS_FD);
		if (error == 0)
			error =
			    posix_spawn_file_actions_adddup2(&actions, streams[3], SUPERVISOR_NOTE);
		if (error == 0)
			error = posix_spawn(ret_pid, SHELL_SELF, &actions, &attributes, arguments,
					    variables);
		(void)posix_spawnattr_destroy(&attributes); /* cannot fail */
	}
	(void)posix_spawn_file_actions_destroy(&actions); /* cannot fail */
	return error;
}

/* spawn puts the supervisor's own arguments before the words of the command. Returns 0 or an
 * errno. */
static int spawn(char *const *words, const int streams[4], char *const *variables, pid_t *ret_pid)
{
	char name[] = SUPERVISOR_NAME;
	char parent[16];
	char **arguments;
	size_t count = 0;
	int error;

	while (words[count])
		count++;
	arguments = calloc(count + 3, sizeof *arguments);
	if (!arguments)
		return ENOMEM;
	(void)snprintf(parent, sizeof parent, "%d", (int)getpid());
	arguments[0] = name;
	arguments[1] = parent;
	memcpy(arguments + 2, words, count * sizeof *arguments);
	error = spawn_with(arguments, streams, variables, ret_pid);
	free(arguments);
	return error;
}

int shell_start(char *const *words, int output, const struct shell_input *input, pid_t *ret_pid)
{
	struct environment environment;
	int streams[4] = {open_data(input), output, input->answers, input->note};
	int error = ENOMEM;

	if (streams[0] < 0)
		return errno;
	if (environment_make(&environment, input)) {
		error = spawn(words, streams, environment.variables, ret_pid);
		free(environment.variables);
	}
	(void)close(streams[0]); /* the command has its own copy */
	return error;
}
