/* durawheel top: shows the state of a namespace in a terminal, and refreshes it every second. It is
 * a client, so it runs beside any owner. If stdout is not a terminal, it prints one picture and
 * ends. */
#include "cli/commands.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include "cli/out/coming.h"
#include "cli/out/errors.h"
#include "cli/out/objects.h"
#include "cli/out/plot.h"
#include "cli/opening.h"
#include "cli/session.h"
#include "cli/out/terminal.h"
#include "cli/tool/top_picture.h"

enum { ANSWER_PATIENCE_MS = 5000 };

#define COMING_EVERY DW_SECONDS(10)

struct top {
	dw *d;
	struct terminal terminal;
	struct top_view view;
	dw_usec every;
	dw_usec ask_at;    /* the steady time of the next questions to the store */
	dw_usec coming_at; /* the steady time of the next question for due timers */
	unsigned asked;    /* the number of questions without an answer */
	bool is_new;       /* an answer has arrived since the last picture */
	bool at_once;      /* draw now, without the missing answers */
	bool draws;        /* only the picture may write to the terminal */
	bool over;
	int signal; /* the signal that ends the command; 0 if there is none */
};

/* ---- Asking -------------------------------------------------------------------------------- */

static void note_rates(struct top *top)
{
	static const char *const keys[RATES] = {"fired", "settled", "retried", "dead"};
	const json_t *report = json_object_get(top->view.store, "owner_report");
	uint64_t counts[RATES];

	if (!json_is_object(report)) {
		rates_clear(&top->view.rates);
		return;
	}
	for (int i = 0; i < RATES; i++)
		counts[i] = (uint64_t)json_integer_value(json_object_get(report, keys[i]));
	rates_note(&top->view.rates, session_steady(), counts);
}

static void top_status(dw *d, int status, const dw_store_status *store, void *user)
{
	struct top *top = user;

	(void)d;
	top->asked--;
	top->is_new = true;
	top->view.status = status;
	if (status != DW_OK)
		return;
	json_decref(top->view.store);
	top->view.store = object_of_status(store);
	note_rates(top);
	history_note(&top->view.history, session_now(), session_steady(),
		     json_object_get(top->view.store, "owner_report"));
}

static void top_topics(dw *d, int status, const dw_topic_info *topics, size_t count, void *user)
{
	struct top *top = user;

	(void)d;
	top->asked--;
	top->is_new = true;
	if (status != DW_OK)
		return;
	json_decref(top->view.topics);
	top->view.topics = json_array();
	for (size_t i = 0; i < count; i++) /* without memory a topic is missing in this picture */
		(void)json_array_append_new(top->view.topics, object_of_topic(&topics[i]));
}

/* top_coming stores the counts of timers that come due. If the store fails, the earlier counts
 * stay. */
static void top_coming(dw *d, int status, const dw_due_counts *counts, void *user)
{
	struct top *top = user;
	json_t *coming = status == DW_OK ? coming_object(counts) : NULL;

	(void)d;
	top->asked--;
	top->is_new = true;
	if (!coming)
		return;
	json_decref(top->view.coming);
	top->view.coming = coming;
}

static void ask(struct top *top)
{
	if (top->asked > 0 || session_steady() < top->ask_at)
		return;
	top->ask_at = session_steady() + top->every;
	top->asked += dw_get_status(top->d, top_status, top) == DW_OK;
	top->asked += dw_topic_list(top->d, NULL, top_topics, top) == DW_OK;
	if (session_steady() < top->coming_at)
		return;
	top->coming_at = session_steady() + COMING_EVERY;
	top->asked += coming_ask(top->d, session_now(), top_coming, top) == DW_OK;
}

/* ---- Drawing ------------------------------------------------------------------------------- */

/* draw shows a new picture. If out of memory, the old picture stays. */
static void draw(struct top *top)
{
	char *picture;

	terminal_size(&top->view.rows, &top->view.columns);
	top->view.now = session_now();
	picture = top_picture(&top->view);
	top->over = top->over || (picture && !terminal_draw(picture));
	free(picture);
	top->is_new = top->at_once = false;
}

/* must_draw returns true if a new picture should be drawn. It waits for the status of the store,
 * because topics without the status would be misleading. */
static bool must_draw(const struct top *top)
{
	const struct top_view *view = &top->view;

	return top->is_new && !top->over && (top->asked == 0 || top->at_once) &&
	       (view->store || view->status != DW_OK || view->away[0]);
}

static void take_keys(struct top *top)
{
	size_t page = top->view.rows > 10 ? top->view.rows - 10 : 1;
	enum key key;

	while (!top->over && (key = terminal_key()) != KEY_NONE) {
		size_t *first = &top->view.first;

		if (key == KEY_QUIT)
			top->over = true;
		else if (key == KEY_SORT)
			top->view.order = (top->view.order + 1) % TOP_ORDERS;
		else if (key == KEY_UP || key == KEY_PAGE_UP)
			*first -= key == KEY_UP ? (*first > 0) : *first < page ? *first : page;
		else if (key == KEY_DOWN || key == KEY_PAGE_DOWN)
			*first += key == KEY_DOWN ? 1 : page;
		top->is_new = top->at_once = true;
	}
}

/* suspend restores the terminal while the process is stopped. */
static void suspend(struct top *top)
{
	terminal_leave(&top->terminal);
	(void)raise(SIGSTOP); /* cannot fail */
	terminal_enter(&top->terminal);
	top->is_new = true;
}

static void take_signals(struct top *top, int fd)
{
	struct signalfd_siginfo info;

	while (read(fd, &info, sizeof info) == (ssize_t)sizeof info) {
		if (info.ssi_signo == SIGTSTP)
			suspend(top);
		else if (info.ssi_signo == SIGWINCH)
			top->is_new = true;
		else
			top->signal = (int)info.ssi_signo;
	}
	top->over = top->over || top->signal != 0;
}

static int wait_ms(const struct top *top)
{
	dw_usec left = top->ask_at - session_steady();

	if (top->asked > 0)
		return ANSWER_PATIENCE_MS;
	return left < 0 ? 0 : (int)(left / 1000 + 1);
}

static int live(struct top *top, int signal_fd)
{
	while (!top->over) {
		struct pollfd fds[] = {{.fd = STDIN_FILENO, .events = POLLIN},
				       {.fd = signal_fd, .events = POLLIN},
				       {.fd = dw_fd(top->d), .events = POLLIN}};

		ask(top);
		if (poll(fds, 3, wait_ms(top)) < 0 && errno != EINTR)
			return complain(EXIT_FAILED, "cannot wait: %s", strerror(errno));
		if (fds[1].revents)
			take_signals(top, signal_fd);
		if (fds[2].revents)
			(void)dw_turn(top->d); /* dw_turn() fails only inside a callback */
		if (fds[0].revents & POLLIN)
			take_keys(top);
		else if (fds[0].revents)
			top->over = true;
		if (must_draw(top))
			draw(top);
	}
	return EXIT_DONE;
}

/* once prints one picture. Returns an exit code. */
static int once(struct top *top)
{
	char *picture;
	int code;

	ask(top);
	code = session_sync(top->d);
	if (code != EXIT_DONE)
		return code;
	if (top->view.status != DW_OK)
		return complain(exit_of(top->view.status), "%s", dw_strerror(top->view.status));
	top->view.now = session_now();
	picture = top_picture(&top->view);
	if (!picture)
		return complain(EXIT_FAILED, "out of memory");
	(void)fputs(picture, stdout); /* session_close() reports a failed write */
	free(picture);
	return EXIT_DONE;
}

/* ---- The command --------------------------------------------------------------------------- */

static const int signals[] = {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGTSTP, SIGWINCH};
enum { ENDINGS = 4 }; /* The first ENDINGS signals end the command. */

static int open_signals(void)
{
	sigset_t set;

	if (sigemptyset(&set) != 0)
		return -1;
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		if (sigaddset(&set, signals[i]) != 0)
			return -1;
	if (sigprocmask(SIG_BLOCK, &set, NULL) != 0)
		return -1;
	return signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
}

static void top_event(dw *d, const dw_event *event, void *user)
{
	struct top *top = user;

	(void)d;
	if (event->kind == DW_EVENT_STORE_FAILED)
		(void)snprintf(top->view.away, sizeof top->view.away, "%s",
			       event->message); /* the text always fits */
	else if (event->kind == DW_EVENT_STORE_BACK)
		top->view.away[0] = '\0';
	else
		return;
	top->is_new = top->at_once = true;
}

/* top_log prints nothing while the picture is on the terminal, because a line would destroy the
 * picture. */
static void top_log(dw_log_level level, const char *line, void *user)
{
	const struct top *top = user;

	if (!top->draws)
		session_log_line(level, line, NULL);
}

static int show(struct top *top, int signal_fd)
{
	int code;

	if (!top->terminal.has_keys)
		return once(top);
	terminal_enter(&top->terminal);
	top->draws = true;
	code = live(top, signal_fd);
	top->draws = false;
	terminal_leave(&top->terminal);
	return code;
}

static void end_opening(int signal, void *user)
{
	struct top *top = user;

	terminal_leave(&top->terminal);
	_exit(signal == 0 ? EXIT_DONE : 128 + signal);
}

static int open_store(struct top *top, const struct options *options)
{
	struct opening opening = {.end = end_opening, .user = top};
	int code;

	if (!options->value[OPT_ONCE] && terminal_is_there())
		terminal_take_keys(&top->terminal);
	if (top->terminal.has_keys)
		opening.name = top->view.name;
	opening_begin(&opening, signals, ENDINGS);
	code = session_look(options,
			    (dw_options){.role = DW_CLIENT,
					 .on_event = top_event,
					 .on_event_user = top,
					 .on_log = top_log,
					 .on_log_user = top},
			    &top->d);
	opening_end(&opening, code == EXIT_DONE);
	if (code != EXIT_DONE)
		terminal_leave(&top->terminal);
	return code;
}

int command_top(const struct options *options)
{
	struct top top = {.every = DW_SECONDS(1), .view = {.name = session_name(options)}};
	int code = EXIT_DONE;
	int signal_fd;

	if (options->value[OPT_EVERY])
		code = options_duration(options, OPT_EVERY, &top.every);
	if (code == EXIT_DONE && (top.every < DW_MILLISECONDS(100) || top.every > DW_HOURS(1)))
		code = complain(EXIT_USAGE, "--every \"%.300s\": write 100ms to 1h",
				options->value[OPT_EVERY]);
	if (code != EXIT_DONE)
		return code;
	top.view.has_blocks = plot_has_blocks();
	top.view.has_colour = terminal_has_colour();
	signal_fd = open_signals();
	if (signal_fd < 0)
		return complain(EXIT_FAILED, "no signalfd: %s", strerror(errno));
	code = open_store(&top, options);
	if (code == EXIT_DONE)
		code = session_close(top.d, show(&top, signal_fd));
	json_decref(top.view.store);
	json_decref(top.view.topics);
	json_decref(top.view.coming);
	(void)close(signal_fd); /* nothing was written to it */
	return top.signal ? 128 + top.signal : code;
}
