#include "support/redis_server.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "support/free_port.h"

#define WORDS_MAX 64
#define CONFIG "redis.conf"
#define START_SECONDS 60
#define STARTS_MAX 5

static const char *program(void)
{
	const char *given = getenv("DW_REDIS_SERVER");

	return given && *given ? given : "redis-server";
}

static void fail(const struct redis_server *server, const char *what)
{
	char command[TEMP_SIZE + 32];

	(void)fprintf(stderr, "redis_server: %s: %s\n", what, strerror(errno));
	(void)snprintf(command, sizeof command, "tail -n 20 '%s/log' >&2", server->folder);
	if (system(command) != 0)
		(void)fprintf(stderr, "redis_server: and it has no log\n");
	abort();
}

/* exec_server runs in the child, and becomes the server. */
static void exec_server(const struct redis_server *server)
{
	char port[16];
	const char *const given[] = {
	    "--dir",       server->folder, "--unixsocket", server->path, "--port",    port,
	    "--bind",      "127.0.0.1",    "--save",       "",           "--logfile", "log",
	    "--daemonize", "no",           "--loglevel",   "notice",
	};
	const char *words[WORDS_MAX] = {program()};
	char file[TEMP_SIZE];
	size_t count = 1;

	(void)snprintf(port, sizeof port, "%u", server->port);
	if (server->config)
		words[count++] = temp_file(file, server->folder, CONFIG);
	memcpy(words + count, given, sizeof given);
	count += sizeof given / sizeof *given;
	if (server->tls) {
		words[6] = "0";
		words[count++] = "--tls-port";
		words[count++] = port;
	}
	for (const char *const *option = server->options; option && *option; option++) {
		if (count == WORDS_MAX - 1)
			_exit(126);
		words[count++] = *option;
	}
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL); /* the server dies with the test */
	execvp(words[0], (char *const *)(uintptr_t)words);
	/* Debian's package redis-tools has the server under another name, and starts no service. */
	if (strcmp(words[0], "redis-server") == 0)
		execvp("redis-check-rdb", (char *const *)(uintptr_t)words);
	_exit(127);
}

/* answers returns true if the server answers commands. An answer that demands a login counts,
 * too. */
static bool answers(const struct redis_server *server)
{
	struct sockaddr_un address = {.sun_family = AF_UNIX};
	struct timeval patience = {.tv_sec = 1};
	char reply[64] = "";
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	bool good;

	if (fd < 0 || strlen(server->path) >= sizeof address.sun_path)
		fail(server, "no socket");
	memcpy(address.sun_path, server->path, strlen(server->path));
	(void)setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience); /* asks again */
	good = connect(fd, (struct sockaddr *)&address, sizeof address) == 0 &&
	       send(fd, "PING\r\n", 6, MSG_NOSIGNAL) == 6 &&
	       recv(fd, reply, sizeof reply - 1, 0) > 0;
	(void)close(fd); /* the socket is not needed any more */
	return good && (strncmp(reply, "+PONG", 5) == 0 || strncmp(reply, "-NOAUTH", 7) == 0 ||
			strncmp(reply, "-NOPERM", 7) == 0);
}

static void end_by(struct redis_server *server, int number)
{
	int status;

	if (server->pid == 0)
		return;
	if (kill(server->pid, number) != 0 || kill(server->pid, SIGCONT) != 0)
		fail(server, "kill");
	while (waitpid(server->pid, &status, 0) != server->pid)
		if (errno != EINTR)
			fail(server, "waitpid");
	server->pid = 0;
}

/* try_start starts the server. It returns false if the server ends before it answers, or does not
 * answer: the fork of an emulated processor sometimes waits for ever. */
static bool try_start(struct redis_server *server)
{
	const struct timespec moment = {.tv_nsec = 5 * 1000 * 1000};
	time_t end = time(NULL) + START_SECONDS;
	int status;

	server->pid = fork();
	if (server->pid == 0)
		exec_server(server);
	if (server->pid < 0)
		fail(server, "fork");
	while (!answers(server)) {
		if (waitpid(server->pid, &status, WNOHANG) == server->pid) {
			server->pid = 0;
			return false;
		}
		if (time(NULL) > end) {
			end_by(server, SIGKILL);
			return false;
		}
		(void)nanosleep(&moment, NULL); /* the loop waits as long as it takes */
	}
	return true;
}

static void write_config(const struct redis_server *server)
{
	char path[TEMP_SIZE];
	FILE *file = fopen(temp_file(path, server->folder, CONFIG), "w");

	if (!file || fputs(server->config, file) < 0 || fclose(file) != 0)
		fail(server, CONFIG);
}

static void start_anew(struct redis_server *server, bool tcp)
{
	temp_make(server->folder);
	if (server->config)
		write_config(server);
	temp_file(server->path, server->folder, "socket");
	for (int i = 0; i < STARTS_MAX; i++) {
		server->port = tcp ? free_port() : 0;
		if (try_start(server))
			return;
	}
	fail(server, "it does not start");
}

void redis_server_start(struct redis_server *server, bool tcp, const char *const *options)
{
	*server = (struct redis_server){.options = options};
	start_anew(server, tcp);
}

void redis_server_start_tls(struct redis_server *server, const char *const *options)
{
	*server = (struct redis_server){.options = options, .tls = true};
	start_anew(server, true);
}

void redis_server_start_file(struct redis_server *server, const char *config,
			     const char *const *options)
{
	*server = (struct redis_server){.options = options, .config = config};
	start_anew(server, true);
}

void redis_server_restart(struct redis_server *server)
{
	for (int i = 0; i < STARTS_MAX && server->pid == 0; i++)
		if (try_start(server))
			return;
	fail(server, "it does not start again");
}

void redis_server_stop(struct redis_server *server)
{
	end_by(server, SIGTERM);
}

void redis_server_kill(struct redis_server *server)
{
	end_by(server, SIGKILL);
}

void redis_server_pause(struct redis_server *server)
{
	int status;

	if (kill(server->pid, SIGSTOP) != 0 ||
	    waitpid(server->pid, &status, WUNTRACED) != server->pid || !WIFSTOPPED(status))
		fail(server, "SIGSTOP");
}

void redis_server_resume(struct redis_server *server)
{
	if (kill(server->pid, SIGCONT) != 0)
		fail(server, "SIGCONT");
}

static int remove_one(const char *path, const struct stat *stat, int type, struct FTW *place)
{
	(void)stat;
	(void)type;
	(void)place;
	return remove(path);
}

void redis_server_end(struct redis_server *server)
{
	redis_server_kill(server);
	if (nftw(server->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS) != 0)
		perror(server->folder);
}
