// durawheel.hpp: that it says what durawheel.h says, keeps what a callback needs for as long as it
// is needed and no longer, and lets no exception through the library. tests/headers compiles this
// file with other compilers and without exceptions, too.
#include "check.hpp"

#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <stdexcept>
#include <thread>

namespace
{

void rule_fires_at_each_occurrence()
{
	auto timers = open_test();
	auto start = timers.now();
	durawheel::rule rule;
	int count = 0;

	rule.every = 1h;
	rule.count = 3;
	CHECK(!timers.on("t", [&](const durawheel::firing &beat) {
		count++;
		CHECK(beat.occurrence == start + count * 1h && beat.missed == 0);
		CHECK(beat.last == (count == 3));
		return durawheel::verdict::done();
	}));
	CHECK(!timers.repeat(rule, {"t", "beat"}));
	CHECK(!timers.test_advance(9h) && count == 3);
}

void order_of_30_minutes_fires_at_its_moment()
{
	auto timers = open_test();
	auto start = timers.now();
	std::vector<std::string> seen;
	std::string id;
	bool answered = false;

	CHECK(!timers.on("order.timeout", [&](const durawheel::firing &order) {
		CHECK(order.now == start + 30min && order.due == order.now);
		CHECK(order.topic == "order.timeout" && order.attempt == 1);
		CHECK(order.token.id == order.id);
		seen.push_back(std::string(order.id) + ": " + std::string(order.data.text()));
		return durawheel::verdict::done();
	}));
	CHECK(!timers.after(
	    30min, {"order.timeout", "order:42", "3 books"},
	    [&](const durawheel::answer &answer) {
		    answered = !answer.error && answer.level == DW_ACCEPTED && answer.id == id;
	    },
	    &id));
	CHECK(id == "order:42");
	CHECK(!timers.test_advance(30min - 1us) && answered && seen.empty());
	CHECK(!timers.test_advance(1us));
	CHECK(seen == std::vector<std::string>{"order:42: 3 books"});
}

void time_passes_forward_and_not_without_end()
{
	auto timers = open_test();
	auto start = timers.now();

	CHECK(timers.test_advance(std::chrono::hours::max()) == DW_EINVAL);
	CHECK(timers.last_error().find("never comes") != std::string::npos);
	CHECK(timers.test_advance(durawheel::duration(DW_NEVER - 1)) == DW_EINVAL);
	CHECK(timers.test_advance(-5s) == DW_EINVAL && timers.now() == start);
	CHECK(!timers.test_advance(1s) && timers.now() == start + 1s);
}

void verdicts_are_those_of_the_handler()
{
	durawheel::options options;
	std::vector<durawheel::time_point> starts;
	std::string said;
	dw_token token = {};

	options.on_firing_done = [&](const dw_firing_done &done) {
		said += dw_verdict_name(done.verdict);
	};
	auto timers = open_test(options);

	CHECK(!timers.on("t", [&](const durawheel::firing &f) {
		starts.push_back(f.now);
		token = f.token;
		return starts.size() == 1 ? durawheel::verdict::retry(7s)
					  : durawheel::verdict::hold();
	}));
	CHECK(!timers.at(timers.now() + 1h, {"t", "a"}));
	CHECK(!timers.test_advance(1h + 40s));
	CHECK(starts.size() == 3 && starts[1] == starts[0] + 7s && starts[2] == starts[1] + 30s);
	CHECK(!timers.settle(token, durawheel::verdict::done()));
	std::size_t count = starts.size();
	CHECK(!timers.test_advance(1h) && starts.size() == count);
	CHECK(timers.settle(token, durawheel::verdict::done()) == DW_ESTALE);
	CHECK(said == "RETRYHOLDHOLD");
	CHECK(!timers.on("later", [&](const durawheel::firing &f) {
		token = f.token;
		return durawheel::verdict::hold_unstarted();
	}));
	CHECK(!timers.after(0s, {"later"}) && !timers.test_advance(1s));
	CHECK(!timers.start(token) && timers.start(token) == DW_ESTALE);
	CHECK(!timers.settle(token, durawheel::verdict::done()));
	said = "";
	CHECK(!timers.on("dead", [](auto &) { return durawheel::verdict::dead(); }));
	CHECK(!timers.after(0s, {"dead"}) && !timers.test_advance(1h));
	CHECK(said == "DEAD");
}

void timers_are_moved_listed_and_cancelled()
{
	auto timers = open_test();
	auto due = timers.now() + 1h;
	std::size_t listed = 0;
	std::error_code missing, late;

	CHECK(!timers.at(durawheel::never, {"t", "a"}) && !timers.at(durawheel::never, {"t", "b"}));
	CHECK(!timers.sync(10s) && !timers.move("a", due) && !timers.sync(10s));
	CHECK(!timers.list({}, nullptr, 10, [&](const durawheel::page &page) {
		CHECK(!page.error);
		for (const dw_info &info : page)
			listed +=
			    info.due == (info.id[0] == 'a' ? durawheel::moment(due).us : DW_NEVER);
	}));
	CHECK(!timers.cancel("a") && !timers.cancel("none", [&](const durawheel::answer &answer) {
		missing = answer.error;
	}));
	CHECK(!timers.sync(10s) &&
	      !timers.get_timer("a", [&](const durawheel::page &page) { late = page.error; }));
	CHECK(!timers.sync(10s));
	CHECK(listed == 2 && missing == DW_ENOENT && late == DW_ENOENT);
	dw_stats stats;
	CHECK(!timers.stats(stats) && stats.timers == 1);
}

static_assert(!std::is_copy_constructible_v<durawheel::handle>);
static_assert(!std::is_copy_assignable_v<durawheel::handle>);
static_assert(std::is_nothrow_move_constructible_v<durawheel::handle>);
static_assert(std::is_nothrow_move_assignable_v<durawheel::handle>);

void handle_that_moves_keeps_its_handlers()
{
	auto first = open_test();
	int starts = 0;

	CHECK(!first.on("t", [&](const durawheel::firing &) {
		starts++;
		return durawheel::verdict::done();
	}));
	auto second = std::move(first);
	CHECK(!first && second && first.after(0s, {"t"}) == DW_EINVAL && !first.get());
	CHECK(first.on("t", {}) == DW_EINVAL && !first.close(0s) && first.fd() == DW_EINVAL);
	CHECK(!second.after(0s, {"t"}) && !second.test_advance(0s) && starts == 1);
	second = open_test(); // closes the first one
	CHECK(!second.after(0s, {"t"}) && !second.test_advance(0s) && starts == 1);
}

// ---- Arguments ----------------------------------------------------------------------------------

void times_are_rounded_up_and_saturate()
{
	using durawheel::delay;
	using std::chrono::system_clock;

	CHECK(delay(1ns).us == 1 && delay(1us).us == 1 && delay(1001ns).us == 2);
	CHECK(delay(-1500ns).us == -1 && delay(30min).us == DW_MINUTES(30));
	CHECK(delay(std::chrono::duration<double>(1.5)).us == 1500000);
	CHECK(delay(std::chrono::hours::max()).us == DW_NEVER);
	CHECK(delay(std::chrono::hours::min()).us == -DW_NEVER);
	CHECK(durawheel::moment(durawheel::never).us == DW_NEVER);
	CHECK(durawheel::moment(system_clock::from_time_t(1)).us == 1000000);
	CHECK(delay(std::chrono::duration<double>(std::numeric_limits<double>::quiet_NaN())).us ==
	      DW_NEVER);
	auto now = system_clock::now();
	auto timers = durawheel::handle();
	CHECK(timers.now() - now < 1h && now - timers.now() < 1h);
}

// Fields take what arguments take, and round it in the same way.
void fields_take_times_of_any_unit()
{
	using namespace std::chrono;
	using nanos = time_point<system_clock, nanoseconds>;
	durawheel::timer timer;
	durawheel::selection selection;
	durawheel::rule rule;
	durawheel::take_options take;
	durawheel::options options;

	timer.due = system_clock::now() + 5min;
	CHECK(durawheel::time_point(timer.due) > system_clock::now());
	timer.due = nanos(1ns);
	timer.late_after = 1001ns;
	timer.wait_max = duration<double>(1.5);
	timer.keep = hours::max();
	CHECK(timer.due.us == 1 && timer.late_after.us == 2 && timer.wait_max.us == 1500000);
	CHECK(timer.keep.us == DW_NEVER && durawheel::duration(timer.late_after) == 2us);
	selection.due_from = nanos(1001ns);
	selection.due_to = system_clock::now();
	rule.start = nanos(-1500ns);
	rule.end = system_clock::from_time_t(1);
	CHECK(selection.due_from.us == 2 && rule.start.us == -1 && rule.end.us == 1000000);
	rule.every = duration<double, std::milli>(0.0001);
	rule.jitter = rule.missed_after = rule.missed_age = 1ns;
	take.wait = options.close_patience = 1h;
	CHECK(rule.every.us == 1 && rule.jitter.us == 1 && take.wait.us == DW_HOURS(1));
}

void bytes_are_of_many_kinds()
{
	using durawheel::bytes;
	const std::vector<int> numbers = {1, 2, 3};
	const std::array<unsigned char, 2> two = {7, 8};

	CHECK(bytes("text").size() == 4 && bytes("text").text() == "text");
	CHECK(bytes(std::string("a\0b", 3)).size() == 3);
	CHECK(bytes(std::string_view("view")).size() == 4 && bytes().empty());
	CHECK(bytes(numbers).size() == 3 * sizeof(int) && bytes(numbers).data() == numbers.data());
	CHECK(bytes(two).size() == 2 && *bytes(two).begin() == 7 && bytes(two).end()[-1] == 8);
}

void wrong_names_are_refused()
{
	auto timers = open_test();
	const std::string zero("a\0b", 3);

	CHECK(timers.cancel(zero) == DW_EINVAL);
	CHECK(timers.last_error().find("control characters") != std::string::npos);
	CHECK(timers.after(0s, {"t", std::string(DW_ID_MAX + 1, 'x')}) == DW_EINVAL);
	CHECK(timers.last_error().find("too long") != std::string::npos);
	CHECK(timers.after(0s, {std::string(DW_TOPIC_MAX + 1, 'x')}) == DW_EINVAL);
	CHECK(timers.after(0s, {"t", ""}) == DW_EINVAL);
	CHECK(timers.after(0s, {}) == DW_EINVAL);
	CHECK(timers.on(zero, {}) == DW_EINVAL);
	CHECK(!timers.after(1h, {"t", std::string(DW_ID_MAX, 'x'), {}, 0s, true}));
}

// is_empty: the last call was refused because a name is empty, and not because it is NULL.
bool is_empty(durawheel::handle &timers, std::error_code error)
{
	const std::string words = timers.last_error();

	return error == DW_EINVAL && words.find("empty") != std::string::npos &&
	       words.find("NULL") == std::string::npos;
}

void empty_name_is_told_as_empty()
{
	auto timers = open_test();
	const auto fire = [](auto &) { return durawheel::verdict::done(); };
	const dw_topic_settings settings = {};

	CHECK(is_empty(timers, timers.after(1h, {std::string_view(), "a"})));
	CHECK(is_empty(timers, timers.after(1h, {"", "a"})));
	CHECK(is_empty(timers, timers.after(1h, {"t", ""})));
	CHECK(is_empty(timers, timers.on({}, fire)) && is_empty(timers, timers.on("", fire)));
	CHECK(is_empty(timers, timers.cancel({})) && is_empty(timers, timers.move({}, {})));
	CHECK(is_empty(timers, timers.topic_set({}, settings)));
	CHECK(is_empty(timers, timers.why_waiting({}, [](auto, auto) {})));
	CHECK(is_empty(timers, timers.ended({}, [](auto, auto) {})));
	CHECK(!timers.after(1h, {"t"})); // here an id is made
}

void event_has_its_types()
{
	durawheel::options options;
	std::string said;
	dw_event_kind raw = DW_EVENT_RECOVERED;
	auto once = [&](const durawheel::event &event) {
		const dw_event &same = event;

		if (event.kind == DW_EVENT_DEAD)
			said = std::string(event.name) + " " + std::string(event.id) + " " +
			       std::string(event.topic) + " " + std::string(event.why);
		if (event.kind == DW_EVENT_DEAD)
			CHECK(!event.message.empty() && event.count == same.count);
		raw = same.kind;
	};

	options.on_event = once;
	auto timers = open_test(options);
	CHECK(!timers.on("t", [&](auto &) {
		CHECK(!timers.set_why("no money"));
		return durawheel::verdict::dead();
	}));
	CHECK(!timers.after(0s, {"t", "a"}) && !timers.test_advance(1s));
	CHECK(said == "DEAD a t no money" && raw == DW_EVENT_DEAD);
	options.on_event = [](const dw_event &) {}; // a function for C's structure fits, too
}

void close_without_a_patience_takes_that_of_the_options()
{
	static std::atomic<bool> is_begun{false}; // the worker outlives the test
	durawheel::options options;
	std::error_code error;

	options.store = "memory:";
	options.workers = 1;
	options.close_patience = 10ms;
	auto timers = durawheel::handle::open(options, error);
	CHECK(!error && !timers.on_worker("t", [](auto &) {
		is_begun = true;
		while (is_begun) // until the program ends: then a leak check finds what it uses
			std::this_thread::sleep_for(1ms);
		return durawheel::verdict::done();
	}));
	CHECK(!timers.after(0s, {"t", "a"}));
	while (!is_begun)
		CHECK(!timers.turn());
	CHECK(timers.close() == DW_ETIMEOUT && !timers);
	CHECK(!timers.close()); // of no store
	CHECK(!open_test().close());
}

void options_are_those_of_c()
{
	durawheel::options options;
	std::error_code error;
	std::string message;

	options.store = "";
	CHECK(!durawheel::handle::open(options, error, &message) && error == DW_EINVAL);
	CHECK(message.find("NULL") == std::string::npos);
	options.store = "memory:";
	options.workers = 257;
	CHECK(!durawheel::handle::open(options, error, &message) && error == DW_EINVAL);
	CHECK(message.find("workers") != std::string::npos);
	options.workers = 0;
	options.spin = 1h;
	CHECK(!durawheel::handle::open(options, error, &message) && error == DW_EINVAL);
	CHECK(message.find("spin") != std::string::npos);
	options.spin = 0s;
	options.store = "redis://127.0.0.1:1";
	CHECK(!durawheel::handle::open(options, error, &message) && error == DW_EINVAL);
	CHECK(message.find("options.name is empty") != std::string::npos ||
	      message.find("built without Redis") != std::string::npos);
}

void timer_says_what_it_waits_for()
{
	auto timers = open_test();
	dw_waits waits = DW_WAITS_NOT;

	CHECK(!timers.after(1h, {"t", "a"}) && !timers.test_advance(0s));
	CHECK(!timers.why_waiting("a", [&](std::error_code error, const dw_why *why) {
		CHECK(!error && why->is_exact && std::string_view(why->topic) == "t");
		waits = why->waits;
	}));
	CHECK(waits == DW_WAITS_NOT && !timers.test_advance(0s) && waits == DW_WAITS_DUE);
	CHECK(!timers.why_waiting("b", [&](std::error_code error, const dw_why *why) {
		CHECK(error == DW_ENOENT && !why);
		waits = DW_WAITS_NOT;
	}));
	CHECK(!timers.test_advance(1s) && waits == DW_WAITS_NOT);
}

void empty_handlers_are_refused()
{
	auto timers = open_test();
	int starts = 0;

	CHECK(!timers.on("t", [&](auto &) {
		starts++;
		return durawheel::verdict::done();
	}));
	CHECK(timers.on("t", {}) == DW_EINVAL && timers.on_worker("t", {}) == DW_EINVAL);
	CHECK(timers.on_batch("t", {}, {}) == DW_EINVAL);
	CHECK(!timers.after(0s, {"t"}) && !timers.test_advance(1s) && starts == 1);
}

void rule_has_no_moment()
{
	auto timers = open_test();
	durawheel::rule rule;
	durawheel::timer timer{"t", "a"};

	rule.every = 1h;
	timer.rule = &rule;
	CHECK(timers.at(timers.now() + 1s, timer) == DW_EINVAL);
	CHECK(timers.last_error() == "a rule has no delay: use dw_put");
	CHECK(!timers.put(timer));
	CHECK(timers.put_many(std::vector<durawheel::timer>(), [](auto &) {}) == DW_EINVAL);
	CHECK(timers.cancel_many(std::vector<std::string>(), [](auto &) {}) == DW_EINVAL);
	CHECK(timers.push(std::vector<durawheel::timer>()) == DW_EINVAL);
}

void errors_are_error_codes()
{
	std::error_code error = DW_EEXIST;
	std::string message;
	durawheel::options options;

	CHECK(error == DW_EEXIST && error != DW_ENOENT && error == std::errc::file_exists);
	CHECK(error.message() == dw_strerror(DW_EEXIST));
	CHECK(error.category().name() == std::string("durawheel"));
	CHECK(!std::error_code(DW_OK) && std::error_code(DW_ETIMEOUT) == std::errc::timed_out);
	options.store = "nonsense";
	auto timers = durawheel::handle::open(options, error, &message);
	CHECK(!timers && error == DW_EINVAL && error == std::errc::invalid_argument);
	CHECK(message.find("no known kind") != std::string::npos);
}

// ---- How long callbacks live --------------------------------------------------------------------

void callback_of_an_answer_is_freed_after_it()
{
	auto timers = open_test();
	auto shared = std::make_shared<int>(0);

	CHECK(timers.cancel("", [shared](const durawheel::answer &) {}) == DW_EINVAL);
	CHECK(shared.use_count() == 1);
	CHECK(!timers.cancel("a", [shared](const durawheel::answer &) { ++*shared; }));
	CHECK(!timers.post([shared] { ++*shared; }));
	CHECK(shared.use_count() == 3);
	CHECK(!timers.test_advance(0s) && *shared == 2 && shared.use_count() == 1);
}

void handler_lives_until_close()
{
	auto timers = open_test();
	auto shared = std::make_shared<int>(0);

	CHECK(!timers.on(
	    "*", [shared](const durawheel::firing &) { return durawheel::verdict::done(); }));
	CHECK(timers.on_worker("t", [shared](const durawheel::firing &) {
		return durawheel::verdict::done();
	}) == DW_EINVAL);
	CHECK(shared.use_count() == 2);
	CHECK(!timers.on("t", [&, shared](const durawheel::firing &) {
		CHECK(!timers.off("t")); // it goes on while it is replaced
		CHECK(timers.close(0s) == DW_EBUSY && timers);
		++*shared;
		return durawheel::verdict::done();
	}));
	CHECK(!timers.after(0s, {"t"}) && !timers.test_advance(1s) && *shared == 1);
	CHECK(!timers.close(1s) && !timers && shared.use_count() == 1);
}

void calls_of_another_thread_are_done()
{
	auto timers = open_test();
	bool answered = false;
	std::string id;
	std::error_code error = DW_EINVAL;

	std::thread([&] {
		error = timers.after(
		    1min, {"t"}, [&](const durawheel::answer &a) { answered = a.id == id; }, &id);
	}).join();
	CHECK(!error && id.size() == 32 && !timers.test_advance(0s) && answered);
	std::thread([&] { error = timers.close(0s); }).join();
	CHECK(error == DW_ETHREAD && timers);
}

// ---- Exceptions ---------------------------------------------------------------------------------

#if defined(__cpp_exceptions)

void exception_in_a_handler_is_a_retry()
{
	durawheel::options options;
	std::vector<std::string> told;
	int starts = 0;

	options.on_exception = [&](std::string_view callback, std::string_view what) {
		told.push_back(std::string(callback) + ": " + std::string(what));
		throw 1; // of no use here
	};
	auto timers = open_test(options);
	CHECK(!timers.on("t", [&](const durawheel::firing &) -> durawheel::verdict {
		if (++starts == 1)
			throw std::runtime_error("no bank");
		if (starts == 2)
			throw 42;
		return durawheel::verdict::done();
	}));
	CHECK(!timers.after(0s, {"t"}, [](const durawheel::answer &) { throw 1; }));
	CHECK(!timers.post([] { throw std::logic_error("posted"); }));
	CHECK(!timers.test_advance(1min) && starts == 3);
	CHECK(told == (std::vector<std::string>{"a posted function: posted",
						"the callback of an answer: not a std::exception",
						"t: no bank", "t: not a std::exception"}) ||
	      told == (std::vector<std::string>{"the callback of an answer: not a std::exception",
						"a posted function: posted", "t: no bank",
						"t: not a std::exception"}));
}

void exception_in_a_batch_is_a_retry_of_all()
{
	durawheel::options options;
	std::string line;
	std::size_t settled = 0;

	options.on_log = [&](dw_log_level level, std::string_view said) {
		CHECK(level == DW_LOG_ERROR);
		line = said;
		throw 1;
	};
	auto timers = open_test(options);
	CHECK(!timers.on_batch("t", {}, [&](durawheel::batch &batch) {
		if (batch[0].attempt == 1) {
			batch.say(0, durawheel::verdict::dead());
			batch.say(batch.size() - 1, durawheel::verdict::retry(24h));
			throw std::runtime_error("no bank");
		}
		settled += batch.size();
	}));
	CHECK(!timers.after(0s, {"t"}) && !timers.after(0s, {"t"}));
	CHECK(!timers.test_advance(1min) && settled == 2);
	CHECK(line == "an exception has left t: no bank");
}

// On a worker it would end the program, without the header.
void exception_on_a_worker_is_a_retry()
{
	durawheel::options options;
	std::error_code error;
	std::atomic<int> starts = 0, told = 0;

	options.store = "memory:";
	options.workers = 2;
	options.on_exception = [&](std::string_view, std::string_view) { told++; };
	auto timers = durawheel::handle::open(options, error);
	CHECK(!error);
	CHECK(!timers.on_worker("t", [&](const durawheel::firing &) -> durawheel::verdict {
		if (++starts == 1)
			throw std::runtime_error("no bank");
		timers.stop();
		return durawheel::verdict::done();
	}));
	CHECK(!timers.after(0s, {"t"}) && !timers.run() && starts == 2 && told == 1);
}

#endif

const std::map<std::string, void (*)()> tests = {
    {"rule_fires_at_each_occurrence", rule_fires_at_each_occurrence},
    {"order_of_30_minutes_fires_at_its_moment", order_of_30_minutes_fires_at_its_moment},
    {"time_passes_forward_and_not_without_end", time_passes_forward_and_not_without_end},
    {"verdicts_are_those_of_the_handler", verdicts_are_those_of_the_handler},
    {"timers_are_moved_listed_and_cancelled", timers_are_moved_listed_and_cancelled},
    {"handle_that_moves_keeps_its_handlers", handle_that_moves_keeps_its_handlers},
    {"times_are_rounded_up_and_saturate", times_are_rounded_up_and_saturate},
    {"fields_take_times_of_any_unit", fields_take_times_of_any_unit},
    {"bytes_are_of_many_kinds", bytes_are_of_many_kinds},
    {"wrong_names_are_refused", wrong_names_are_refused},
    {"empty_name_is_told_as_empty", empty_name_is_told_as_empty},
    {"event_has_its_types", event_has_its_types},
    {"close_without_a_patience_takes_that_of_the_options",
     close_without_a_patience_takes_that_of_the_options},
    {"options_are_those_of_c", options_are_those_of_c},
    {"timer_says_what_it_waits_for", timer_says_what_it_waits_for},
    {"empty_handlers_are_refused", empty_handlers_are_refused},
    {"rule_has_no_moment", rule_has_no_moment},
    {"errors_are_error_codes", errors_are_error_codes},
    {"callback_of_an_answer_is_freed_after_it", callback_of_an_answer_is_freed_after_it},
    {"handler_lives_until_close", handler_lives_until_close},
    {"calls_of_another_thread_are_done", calls_of_another_thread_are_done},
#if defined(__cpp_exceptions)
    {"exception_in_a_handler_is_a_retry", exception_in_a_handler_is_a_retry},
    {"exception_in_a_batch_is_a_retry_of_all", exception_in_a_batch_is_a_retry_of_all},
    {"exception_on_a_worker_is_a_retry", exception_on_a_worker_is_a_retry},
#endif
};

} // namespace

int main(int, char **arguments)
{
	CHECK(arguments[1] && tests.count(arguments[1]) == 1);
	tests.at(arguments[1])();
	std::printf("%s: ok\n", arguments[1]);
	return 0;
}
