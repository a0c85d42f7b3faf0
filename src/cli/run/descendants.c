#include "cli/run/descendants.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct process {
	pid_t pid;
	pid_t parent;
	pid_t group;
	bool descends; /* true if the process descends from this process */
};

struct processes {
	struct process *all; /* an array, sorted by pid */
	size_t count;
	size_t room;
};

/* read_process reads /proc/PID/stat. The program's name, in parentheses, may contain any character.
 * Returns false if the process has ended. */
static bool read_process(int proc, const char *pid, struct process *ret_process)
{
	char path[32], text[512];
	const char *name_end;
	ssize_t size;
	int fd;

	(void)snprintf(path, sizeof path, "%.16s/stat", pid);
	fd = openat(proc, path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	size = read(fd, text, sizeof text - 1);
	(void)close(fd); /* the file was only read */
	if (size <= 0)
		return false;
	text[size] = '\0';
	name_end = strrchr(text, ')');
	*ret_process = (struct process){.pid = (pid_t)strtol(pid, NULL, 10)};
	return name_end &&
	       sscanf(name_end, ") %*c %d %d", &ret_process->parent, &ret_process->group) == 2;
}

/* append adds a process to the array. Returns false if out of memory. */
static bool append(struct processes *processes, const struct process *process)
{
	if (processes->count == processes->room) {
		size_t room = processes->room > 0 ? 2 * processes->room : 256;
		struct process *all = realloc(processes->all, room * sizeof *all);

		if (!all)
			return false;
		processes->all = all;
		processes->room = room;
	}
	processes->all[processes->count++] = *process;
	return true;
}

static int compare_processes(const void *left, const void *right)
{
	const struct process *a = left, *b = right;

	return (a->pid > b->pid) - (a->pid < b->pid);
}

static void read_processes(struct processes *processes)
{
	DIR *proc = opendir("/proc");
	const struct dirent *entry;
	struct process process;

	if (!proc)
		return;
	while ((entry = readdir(proc)))
		if (*entry->d_name >= '1' && *entry->d_name <= '9' &&
		    read_process(dirfd(proc), entry->d_name, &process) &&
		    !append(processes, &process))
			break;
	(void)closedir(proc); /* the folder was only read */
	if (processes->count > 0)
		qsort(processes->all, processes->count, sizeof *processes->all, compare_processes);
}

/* mark marks the children of this process, then their children, until no more are found. */
static void mark(struct processes *processes)
{
	pid_t self = getpid();

	for (bool more = true; more;) {
		more = false;
		for (size_t i = 0; i < processes->count; i++) {
			struct process *process = &processes->all[i];
			struct process key = {.pid = process->parent};
			const struct process *parent;

			if (process->descends)
				continue;
			parent = bsearch(&key, processes->all, processes->count,
					 sizeof *processes->all, compare_processes);
			process->descends = process->parent == self || (parent && parent->descends);
			more = more || process->descends;
		}
	}
}

/* send ignores errors, because a process that has ended meanwhile needs no signal. */
static void send(pid_t pid, int signal)
{
	(void)kill(pid, signal);
	(void)kill(pid, SIGCONT);
}

void descendants_signal(pid_t group, int signal)
{
	struct processes processes = {0};

	read_processes(&processes);
	if (processes.count > 0)
		mark(&processes);
	send(-group, signal);
	for (size_t i = 0; i < processes.count; i++)
		if (processes.all[i].descends && processes.all[i].group != group)
			send(processes.all[i].pid, signal);
	free(processes.all);
}
