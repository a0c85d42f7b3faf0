// Exceptions of a C++ program that leave a callback: each passes through the library, after which
// the handle turns and closes as before, nothing is told twice and no block of memory is lost.
#include "durawheel/durawheel.h"
#include "durawheel/select.h"
#include "durawheel/topic.h"

#include <poll.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <stdexcept>
#include <string>
#include <thread>

namespace
{

const dw_usec patience = DW_SECONDS(60);

// CHECK ends the program: a test of its own is a process of its own.
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

// A callback has been called, and throws.
struct thrown : std::runtime_error {
	explicit thrown(const std::string &what) : std::runtime_error(what)
	{
	}
};

// What callbacks have been called, by name, and the blocks that the library holds.
struct program {
	dw *d = nullptr;
	std::map<std::string, int> calls;
	int status = DW_OK; // of the last answer
	int exceptions = 0; // that came out of the library
	int blocks = 0;
	bool throwing_events = false;
	std::string verdicts; // of handlers that have ended
};

[[noreturn]] void count_and_throw(void *user, const std::string &name)
{
	static_cast<program *>(user)->calls[name]++;
	throw thrown(name);
}

void *count_blocks(void *user, void *block, size_t size)
{
	program *p = static_cast<program *>(user);

	p->blocks += !block && size > 0;
	p->blocks -= block && size == 0;
	if (size > 0)
		return std::realloc(block, size);
	std::free(block);
	return nullptr;
}

void on_event(dw *, const dw_event *event, void *user)
{
	program *p = static_cast<program *>(user);

	if (p->throwing_events)
		count_and_throw(p, "event " + std::to_string(event->kind));
}

void on_firing_done(dw *, const dw_firing_done *done, void *user)
{
	static_cast<program *>(user)->verdicts += dw_verdict_name(done->verdict);
}

void open_memory(program &p)
{
	dw_options options = {};

	options.size = sizeof options;
	options.store = "memory:";
	options.on_event = on_event;
	options.on_event_user = &p;
	options.on_firing_done = on_firing_done;
	options.on_firing_done_user = &p;
	options.timers_max = 8;
	options.resize = count_blocks;
	options.resize_user = &p;
	CHECK(dw_open(&p.d, &options, nullptr) == DW_OK);
}

bool is_readable(dw *d)
{
	pollfd fd = {dw_fd(d), POLLIN, 0};

	return poll(&fd, 1, 0) == 1;
}

// settle turns until all is told. After each exception a turn must follow, without being asked for.
void settle(program &p)
{
	for (;;) {
		try {
			CHECK(dw_sync(p.d, patience) != DW_ETIMEOUT);
			return;
		} catch (const thrown &) {
			p.exceptions++;
			CHECK(is_readable(p.d));
		}
	}
}

// close closes: a callback that throws leaves dw_close(), and the next one goes on.
void close(program &p, dw_usec most)
{
	for (;;) {
		try {
			CHECK(dw_close(p.d, most) == DW_OK);
			CHECK(p.blocks == 0);
			return;
		} catch (const thrown &) {
			p.exceptions++;
			CHECK(dw_turn(p.d) == DW_ECLOSED);
		}
	}
}

// ---- Handlers ----------------------------------------------------------------------------------

dw_verdict throw_once(dw *d, const dw_firing *firing, void *user)
{
	program *p = static_cast<program *>(user);

	CHECK(firing->attempt == static_cast<unsigned>(++p->calls["handler"]));
	if (firing->attempt == 1) {
		CHECK(dw_retry_in(d, DW_MILLISECONDS(1)) == DW_OK);
		throw thrown("handler");
	}
	dw_stop(d);
	return DW_DONE;
}

void run_until_stopped(program &p)
{
	for (;;) {
		try {
			CHECK(dw_run(p.d) == DW_OK);
			return;
		} catch (const thrown &) {
			p.exceptions++;
			CHECK(dw_retry_in(p.d, 0) == DW_EINVAL); // no handler runs any more
		}
	}
}

void handler_that_throws_has_said_retry()
{
	dw_stats stats = {};
	program p;

	open_memory(p);
	CHECK(dw_on(p.d, "t", throw_once, &p) == DW_OK);
	CHECK(dw_after(p.d, "t", "a", 0, nullptr, 0) == DW_OK);
	run_until_stopped(p);
	CHECK(dw_sync(p.d, patience) == DW_OK);
	stats.size = sizeof stats;
	CHECK(dw_get_stats(p.d, &stats) == DW_OK);
	CHECK(stats.fired == 2 && stats.retried == 1 && stats.settled == 1 && stats.timers == 0);
	CHECK(p.exceptions == 1 && p.calls["handler"] == 2 && p.verdicts == "RETRYDONE");
	close(p, patience);
}

void say_and_throw_once(dw *d, dw_batch *batch, void *user)
{
	program *p = static_cast<program *>(user);

	CHECK(batch->count == 2);
	if (++p->calls["batch"] > 1) {
		dw_stop(d);
		return;
	}
	batch->verdicts[0] = DW_DEAD;
	batch->verdicts[1] = DW_RETRY;
	batch->retry_in[1] = DW_HOURS(24);
	throw thrown("batch");
}

// Whatever it has said of its timers before.
void batch_handler_that_throws_has_said_retry_of_all()
{
	dw_batch_options two = {};
	dw_topic_settings soon = {};
	dw_stats stats = {};
	program p;

	open_memory(p);
	soon.size = sizeof soon;
	soon.backoff_first_us = DW_MILLISECONDS(1);
	CHECK(dw_topic_set(p.d, "t", &soon, nullptr, nullptr) == DW_OK);
	two.size = sizeof two;
	two.max = 2;
	two.wait_us = DW_SECONDS(10);
	CHECK(dw_on_batch(p.d, "t", &two, say_and_throw_once, &p) == DW_OK);
	CHECK(dw_after(p.d, "t", "a", 0, nullptr, 0) == DW_OK);
	CHECK(dw_after(p.d, "t", "b", 0, nullptr, 0) == DW_OK);
	run_until_stopped(p);
	CHECK(dw_sync(p.d, patience) == DW_OK);
	stats.size = sizeof stats;
	CHECK(dw_get_stats(p.d, &stats) == DW_OK);
	CHECK(stats.fired == 4 && stats.retried == 2 && stats.settled == 2 && stats.timers == 0);
	CHECK(p.exceptions == 1 && p.calls["batch"] == 2);
	CHECK(p.verdicts == "RETRYRETRYDONEDONE");
	close(p, patience);
}

dw_verdict throw_on_worker(dw *, const dw_firing *, void *user)
{
	count_and_throw(user, "worker");
}

// No thread of ours could pass it on.
void exception_on_a_worker_ends_the_program()
{
	pid_t child = fork();
	int status = 0;

	if (child == 0) {
		rlimit none = {0, 0};
		dw_options options = {};
		program p;

		(void)setrlimit(RLIMIT_CORE, &none);
		(void)std::signal(SIGABRT, SIG_DFL);
		(void)std::freopen("/dev/null", "w", stderr);
		options.size = sizeof options;
		options.store = "memory:";
		options.workers = 1;
		CHECK(dw_open(&p.d, &options, nullptr) == DW_OK);
		CHECK(dw_on_worker(p.d, "t", throw_on_worker, &p) == DW_OK);
		CHECK(dw_after(p.d, "t", "a", 0, nullptr, 0) == DW_OK);
		_exit(dw_run(p.d)); // never returns
	}
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	CHECK(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
}

// ---- Answers -----------------------------------------------------------------------------------

void done(dw *, const dw_result *result, void *user)
{
	static_cast<program *>(user)->status = result->status;
	count_and_throw(user, std::string("done ") + result->id);
}

int put(program &p, const char *id)
{
	dw_timer timer = {};

	timer.size = sizeof timer;
	timer.id = id;
	timer.topic = "t";
	timer.due = DW_NEVER;
	return dw_put(p.d, &timer, done, &p);
}

void each_answer_is_told_once()
{
	program p;

	open_memory(p);
	for (const char *id : {"a", "b", "c"})
		CHECK(put(p, id) == DW_OK);
	CHECK(dw_cancel(p.d, "none", done, &p) == DW_OK);
	settle(p);
	CHECK(p.exceptions == 4 && p.calls.size() == 4);
	CHECK(p.calls["done a"] == 1 && p.calls["done b"] == 1 && p.calls["done none"] == 1);
	close(p, patience);
}

void list(dw *, int status, const dw_info *timers, size_t count, const dw_cursor *, void *user)
{
	CHECK(status != DW_OK || (count == 1 && timers[0].id == std::string("a")));
	count_and_throw(user, "list " + std::to_string(status));
}

void dead_list(dw *, int, const dw_dead *, size_t, const dw_cursor *, void *user)
{
	count_and_throw(user, "dead");
}

void status(dw *, int, const dw_store_status *, void *user)
{
	count_and_throw(user, "status");
}

void check(dw *, int, const dw_check_report *, void *user)
{
	count_and_throw(user, "check");
}

void each_page_is_shown_once()
{
	program p;

	open_memory(p);
	CHECK(put(p, "a") == DW_OK);
	settle(p);
	CHECK(dw_list(p.d, nullptr, nullptr, 10, list, &p) == DW_OK);
	CHECK(dw_get(p.d, "a", list, &p) == DW_OK);
	CHECK(dw_get(p.d, "none", list, &p) == DW_OK);
	CHECK(dw_dead_list(p.d, nullptr, nullptr, 10, dead_list, &p) == DW_OK);
	CHECK(dw_get_status(p.d, status, &p) == DW_OK);
	CHECK(dw_check(p.d, check, &p) == DW_OK);
	settle(p);
	CHECK(p.exceptions == 7);
	CHECK(p.calls["list 0"] == 2 && p.calls["list " + std::to_string(DW_ENOENT)] == 1);
	CHECK(p.calls["dead"] == 1 && p.calls["status"] == 1 && p.calls["check"] == 1);
	close(p, patience);
}

// ---- Events and posts --------------------------------------------------------------------------

void each_event_is_told_once()
{
	program p;

	open_memory(p);
	settle(p); // DW_EVENT_RECOVERED
	p.throwing_events = true;
	CHECK(dw_cancel(p.d, "none", nullptr, nullptr) == DW_OK);
	CHECK(dw_move(p.d, "none", 0, nullptr, nullptr) == DW_OK);
	CHECK(dw_after(p.d, "nobody", "a", 0, nullptr, 0) == DW_OK);
	settle(p);
	CHECK(p.calls["event " + std::to_string(DW_EVENT_FAILED)] == 2);
	while (p.calls["event " + std::to_string(DW_EVENT_NO_HANDLER)] == 0) {
		CHECK(dw_cancel(p.d, "b", nullptr, nullptr) == DW_OK);
		settle(p);
	}
	CHECK(p.calls["event " + std::to_string(DW_EVENT_NO_HANDLER)] == 1);
	close(p, patience);
}

void posted(dw *, void *arg)
{
	count_and_throw(arg, "post");
}

void put_elsewhere(program &p, const char *id)
{
	std::thread([&] { CHECK(put(p, id) == DW_OK); }).join();
}

void each_call_of_another_thread_is_done_once()
{
	program p;

	open_memory(p);
	for (int i = 0; i < 3; i++)
		CHECK(dw_post(p.d, posted, &p) == DW_OK);
	for (const char *id : {"a", "b", "c", "d", "e", "f", "g", "h", "over"})
		put_elsewhere(p, id);
	settle(p);
	CHECK(p.calls["post"] == 3);
	CHECK(p.calls["done a"] == 1 && p.calls["done h"] == 1);
	CHECK(p.calls["done over"] == 1); // refused by the turn: options.timers_max
	CHECK(p.exceptions == 3 + 9);
	close(p, patience);
}

void close_goes_on_where_it_was_left()
{
	program p;

	open_memory(p);
	settle(p);
	for (const char *id : {"a", "b", "c"})
		CHECK(put(p, id) == DW_OK);
	put_elsewhere(p, "d");
	CHECK(dw_post(p.d, posted, &p) == DW_OK);
	CHECK(dw_check(p.d, check, &p) == DW_OK);
	close(p, 0);
	CHECK(p.exceptions == 6 && p.calls.size() == 6);
	for (const auto &call : p.calls)
		CHECK(call.second == 1);
}

const std::map<std::string, void (*)()> tests = {
    {"handler_that_throws_has_said_retry", handler_that_throws_has_said_retry},
    {"batch_handler_that_throws_has_said_retry_of_all",
     batch_handler_that_throws_has_said_retry_of_all},
    {"exception_on_a_worker_ends_the_program", exception_on_a_worker_ends_the_program},
    {"each_answer_is_told_once", each_answer_is_told_once},
    {"each_page_is_shown_once", each_page_is_shown_once},
    {"each_event_is_told_once", each_event_is_told_once},
    {"each_call_of_another_thread_is_done_once", each_call_of_another_thread_is_done_once},
    {"close_goes_on_where_it_was_left", close_goes_on_where_it_was_left},
};

} // namespace

int main(int, char **arguments)
{
	CHECK(arguments[1] && tests.count(arguments[1]) == 1);
	tests.at(arguments[1])();
	std::printf("%s: ok\n", arguments[1]);
	return 0;
}
