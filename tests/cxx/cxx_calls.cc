// durawheel.hpp: each call of the handle reaches its function of C, and brings back what that says.
#include "check.hpp"

#include <array>
#include <map>

namespace
{

using strings = std::vector<std::string>;

// ---- Many ---------------------------------------------------------------------------------------

void put_says_what_it_has_done()
{
	auto timers = open_test();
	auto due = timers.now() + 1h;
	std::string said;
	durawheel::timer timer{"t", "a"};
	auto tell = [&](const durawheel::answer &answer) {
		CHECK(!answer.error && answer.due == due + 1min);
		said += std::to_string(answer.outcome);
	};

	timer.flags = DW_DUE_LATEST;
	CHECK(!timers.at(due + 1min, timer, tell) && !timers.at(due, timer, tell));
	timer.data = "x";
	timer.due = due;
	CHECK(!timers.put(timer, tell) && !timers.sync(10s) && said == "132");
	timer.flags = DW_NEW | DW_ONCE;
	CHECK(timers.put(timer) == DW_EINVAL);
}

void many_are_put_and_cancelled()
{
	auto timers = open_test();
	auto due = timers.now() + 1h;
	std::vector<durawheel::timer> many(3, {"t", "a", "x"});
	durawheel::rule rule;
	strings said;
	auto tell = [&](const durawheel::answers &answers) {
		for (durawheel::answer answer : answers)
			said.push_back(std::string(answer.id) + " " + answer.error.message());
		CHECK(answers.size() == said.size() && answers[0].error == DW_OK);
	};

	rule.every = 90s;
	many[1].id = "b";
	many[1].rule = &rule;
	many[2].topic = {};
	for (auto &timer : many)
		timer.due = due;
	CHECK(!timers.put_many(many, tell) && !timers.sync(10s));
	CHECK(said == (strings{"a ok", "b ok", said[2]}) && said[2] != "a ok");
	said.clear();
	CHECK(!timers.get_timer("b", [&](const durawheel::page &page) {
		CHECK(page.count == 1 && page.items->rule == std::string("every 90s"));
	}));
	CHECK(!timers.cancel_many(strings{"b", "none"}, tell) && !timers.sync(10s));
	CHECK(said == (strings{"b ok", "none " + std::string(dw_strerror(DW_ENOENT))}));
	said.clear();
	CHECK(!timers.cancel_many(std::array<const char *, 1>{"a"}, tell) && !timers.sync(10s));
	CHECK(said == strings{"a ok"});
	CHECK(timers.cancel_many(strings{"a"}, {}) == DW_EINVAL);
	dw_stats stats;
	CHECK(!timers.stats(stats) && stats.timers == 0);
}

void selected_are_listed_counted_and_cancelled()
{
	auto timers = open_test();
	auto start = timers.now();
	std::vector<durawheel::timer> many;
	strings ids;
	std::string listed;
	std::uint64_t counted = 0, cancelled = 0;

	for (int i = 0; i < 30; i++)
		ids.push_back((i % 2 ? "odd:" : "even:") + std::to_string(i));
	for (const auto &id : ids) {
		many.push_back({"t", id});
		many.back().due = start + 1h + many.size() * 1s;
	}
	CHECK(!timers.put_many(many, [](auto &) {}) && !timers.sync(10s));
	durawheel::selection odd{"t", "odd:", start + 1h + 4s, start + 1h + 11s};
	CHECK(!timers.list(odd, nullptr, 100, [&](const durawheel::page &page) {
		for (const dw_info &info : page)
			listed += info.id + std::string(" ");
		CHECK(!page.error && page.next->ended);
	}));
	CHECK(!timers.count(odd, [&](const durawheel::tally &tally) {
		if (tally.over)
			counted += tally.matched;
	}));
	CHECK(!timers.sync(10s) && listed == "odd:3 odd:5 odd:7 odd:9 " && counted == 4);
	CHECK(!timers.count_due({start + 1h, start + 1h + 5s, start + 2h},
				[&](std::error_code error, const dw_due_counts *due) {
					CHECK(!error && due->count == 2);
					counted = due->counts[0] * 100 + due->counts[1];
				}));
	CHECK(!timers.sync(10s) && counted == 400 + many.size() - 4);
	CHECK(timers.count_due({start}, [](std::error_code, const dw_due_counts *) {}) ==
	      DW_EINVAL);
	CHECK(!timers.cancel_where(odd, [&](const durawheel::tally &tally) {
		if (tally.over && !tally.error && tally.failed == 0 && tally.failed_id.empty())
			cancelled += tally.done;
	}));
	CHECK(!timers.sync(10s) && cancelled == 4);
	CHECK(timers.cancel_where({}, [](const durawheel::tally &) {}) == DW_EINVAL);
	CHECK(timers.count({std::string(99, 'x')}, [](auto &) {}) == DW_EINVAL);
}

void tally_is_freed_after_its_last_call()
{
	auto timers = open_test();
	auto shared = std::make_shared<int>(0);

	CHECK(timers.cancel_where({}, [shared](const durawheel::tally &) {}) == DW_EINVAL);
	CHECK(shared.use_count() == 1);
	CHECK(!timers.count({}, [shared](const durawheel::tally &) { ++*shared; }));
	CHECK(shared.use_count() == 2 && !timers.sync(10s));
	CHECK(*shared > 0 && shared.use_count() == 1);
	CHECK(!timers.count({}, [shared](const durawheel::tally &) { ++*shared; }));
	CHECK(!timers.close(10s) && *shared > 1 && shared.use_count() == 1);
}

// ---- Rules --------------------------------------------------------------------------------------

void rule_says_when_it_comes()
{
	durawheel::rule rule;
	std::error_code error;
	std::string message;
	auto start = durawheel::time_point(durawheel::duration(DW_TEST_START)); // a Tuesday

	rule.cron = "0 8 * * mon-fri";
	rule.zone = "Europe/London";
	rule.except = {"2030-01-02"};
	auto times = durawheel::occurrences(rule, start, 2, error, &message);
	CHECK(!error && times.size() == 2 && times[0] == start + 8h && times[1] == start + 56h);
	rule.end = start + 9h;
	CHECK(durawheel::occurrences(rule, start, 9, error).size() == 1 && !error);
	rule.zone = std::string("UTC\0", 4);
	CHECK(durawheel::occurrences(rule, start, 9, error, &message).empty());
	CHECK(error == DW_EINVAL && message.find("zone") != std::string::npos);
	auto timers = open_test();
	CHECK(timers.repeat(rule, {"t", "a"}) == DW_EINVAL);
	rule.zone = "Europe/London";
	CHECK(!timers.repeat(rule, {"t", "a"}) && !timers.sync(10s));
}

void recurring_timer_goes_on_with_its_occurrence()
{
	auto timers = open_test();
	auto start = timers.now();
	durawheel::timer timer{"t", "a"};
	durawheel::rule rule;
	int seen = 0;

	rule.every = 1h;
	timer.rule = &rule;
	timer.due = timer.occurrence = start + 90min;
	timer.rule_end = start + 10h;
	timer.missed = 3;
	CHECK(!timers.put(timer) && !timers.get_timer("a", [&](const durawheel::page &page) {
		CHECK(page.count == 1 && page.items->missed == 3);
		CHECK(page.items->occurrence == timer.occurrence.us);
		CHECK(page.items->rule_end == timer.rule_end.us);
		seen++;
	}));
	CHECK(!timers.sync(10s) && seen == 1);
}

// ---- Handlers -----------------------------------------------------------------------------------

void batch_has_a_verdict_for_each()
{
	auto timers = open_test();
	std::map<std::string, int> starts;
	std::string why;
	dw_batch_options options = {};

	options.max = 3;
	options.wait_us = DW_SECONDS(1);
	CHECK(!timers.on_batch("t", options, [&](durawheel::batch &batch) {
		CHECK(batch.topic() == "t");
		for (std::size_t i = 0; i < batch.size(); i++) {
			std::string id(batch[i].id);

			starts[id]++;
			if (id == "again" && batch[i].attempt == 1)
				batch.say(i, durawheel::verdict::retry(5s));
			if (id == "dead") {
				CHECK(!timers.set_why(batch[i].token, "no such account"));
				batch.say(i, durawheel::verdict::dead());
			}
		}
	}));
	for (const char *id : {"done", "again", "dead"})
		CHECK(!timers.after(1min, {"t", id}));
	CHECK(!timers.test_advance(1min + 4s) && starts["again"] == 1);
	CHECK(!timers.test_advance(5s) && starts["again"] == 2);
	CHECK(starts["done"] == 1 && starts["dead"] == 1);
	CHECK(!timers.dead_list({"t", {}}, nullptr, 10, [&](const durawheel::dead_page &letters) {
		CHECK(!letters.error && letters.count == 1);
		for (const dw_dead &letter : letters)
			why = letter.why;
	}));
	CHECK(!timers.sync(10s) && why == "no such account");
}

void ends_and_reasons_are_told()
{
	auto timers = open_test();
	durawheel::timer timer{"t", "a"};
	std::string result, why;
	std::error_code absent;

	timer.keep = 24h;
	CHECK(!timers.on("t", [&](const durawheel::firing &f) {
		CHECK(!timers.set_why("the bank is closed") && !timers.set_result("paid"));
		return f.attempt == 1 ? durawheel::verdict::retry(1h) : durawheel::verdict::done();
	}));
	CHECK(timers.set_why("nobody runs") == DW_EINVAL && timers.set_result("x") == DW_EINVAL);
	CHECK(!timers.after(1s, timer) && !timers.test_advance(2s));
	CHECK(!timers.get_timer("a", [&](const durawheel::page &page) { why = page.items->why; }));
	CHECK(!timers.test_advance(1h) && why == "the bank is closed");
	CHECK(!timers.ended("a", [&](std::error_code error, const dw_ended *ended) {
		CHECK(!error && ended->end == DW_END_DONE);
		result = durawheel::bytes(ended->result, ended->result_size).text();
	}));
	CHECK(!timers.ended("b", [&](std::error_code error, const dw_ended *ended) {
		absent = ended ? std::error_code() : error;
	}));
	CHECK(!timers.sync(10s) && result == "paid" && absent == DW_ENOENT);
}

// ---- Queues -------------------------------------------------------------------------------------

// take_all takes the messages that are there, as "id=data".
strings take_all(durawheel::handle &timers, strings &ret_tokens)
{
	durawheel::take_options what;
	strings seen;

	what.topics = {"q"};
	what.max = 10;
	CHECK(!timers.take(what, [&](const durawheel::taken &taken) {
		CHECK(!taken.error);
		for (durawheel::message message : taken) {
			CHECK(message.topic == "q" && message.attempt >= 1);
			seen.push_back(std::string(message.id) + "=" +
				       std::string(message.data.text()));
			ret_tokens.push_back(std::string(message.token));
		}
	}));
	CHECK(!timers.test_advance(1s));
	return seen;
}

void queue_is_pushed_taken_and_answered()
{
	auto timers = open_test();
	dw_topic_settings settings = {};
	const std::string stale = dw_strerror(DW_ESTALE);
	strings tokens, said;
	std::string listed;

	settings.queue = 1;
	CHECK(!timers.topic_set("q", settings) && !timers.sync(10s));
	CHECK(!timers.push(std::vector<durawheel::timer>{{"q", "a", "1"}, {"q", "b", "2"}}));
	CHECK(!timers.after(1s, {"q", "c", "3"}) && !timers.test_advance(2s));
	CHECK(take_all(timers, tokens) == (strings{"a=1", "b=2", "c=3"}));
	CHECK(!timers.touch(tokens, [&](const durawheel::answers &answers) {
		CHECK(answers.size() == 3 && answers[0].id == tokens[0] && !answers[2].error);
	}));
	CHECK(!timers.ack(strings{tokens[0]}, durawheel::verdict::retry(0s)));
	CHECK(!timers.ack(strings{tokens[1]}, durawheel::verdict::retry()));
	auto tell = [&](const durawheel::answers &answers) {
		for (durawheel::answer answer : answers)
			said.push_back(answer.error.message());
	};
	CHECK(!timers.ack(strings{tokens[2]}, durawheel::verdict::done(), tell));
	CHECK(!timers.sync(10s) && !timers.ack(tokens, durawheel::verdict::done(), tell));
	CHECK(timers.ack(tokens, durawheel::verdict::hold()) == DW_EINVAL);
	CHECK(!timers.sync(10s));
	CHECK(said == (strings{"ok", stale, stale, stale}));
	tokens.clear();
	// The first comes back at once, the second after the delay of its topic.
	CHECK(!timers.test_advance(1ms) && take_all(timers, tokens) == strings{"a=1"});
	CHECK(!timers.test_advance(2s) && take_all(timers, tokens) == strings{"b=2"});
	CHECK(!timers.ack(tokens, durawheel::verdict::done()) && !timers.sync(10s));
	CHECK(!timers.topic_pause("q", DW_PAUSE_INTAKE));
	CHECK(!timers.topic_list({}, [&](const durawheel::topics &topics) {
		for (const dw_topic_info &topic : topics)
			listed += topic.name + std::to_string(topic.settings.paused);
	}));
	CHECK(!timers.sync(10s) && listed == "q2");
	dw_topic_settings from = {}, to = {};
	from.size = to.size = sizeof from;
	from.queue = to.queue = 1;
	from.paused = DW_PAUSE_INTAKE;
	CHECK(!timers.topic_change("q", from, to) && !timers.sync(10s));
	CHECK(!timers.topic_list("q", [&](const durawheel::topics &topics) {
		CHECK(topics.count == 1 && topics.items->settings.paused == 0);
	}));
	CHECK(!timers.sync(10s));
	CHECK(!timers.topic_drop("q") && !timers.sync(10s));
}

// ---- The store and the handle -------------------------------------------------------------------

void dead_letters_are_requeued_and_dropped()
{
	auto timers = open_test();
	std::error_code requeued, dropped, none;
	std::string found;

	CHECK(!timers.on("t", [](auto &) { return durawheel::verdict::dead(); }));
	CHECK(!timers.after(0s, {"t", "a"}) && !timers.after(0s, {"t", "b"}));
	CHECK(!timers.test_advance(1s));
	CHECK(!timers.dead_list({{}, "a"}, nullptr, 1, [&](const durawheel::dead_page &page) {
		CHECK(!page.error && page.next->ended);
		for (const dw_dead &letter : page)
			found += letter.id;
	}));
	CHECK(!timers.dead_list({{}, "c"}, nullptr, 1,
				[&](const durawheel::dead_page &page) { none = page.error; }));
	CHECK(!timers.dead_requeue("a", 0, durawheel::never, [&](const durawheel::answer &answer) {
		requeued = answer.error ? answer.error : DW_EEXIST;
	}));
	CHECK(!timers.dead_drop("a", 0,
				[&](const durawheel::answer &answer) { dropped = answer.error; }));
	CHECK(!timers.dead_drop({}, 0) && !timers.sync(10s));
	CHECK(requeued == DW_EEXIST && dropped == DW_ENOENT);
	CHECK(found == "a" && none == DW_ENOENT);
}

void handle_tells_how_it_is()
{
	auto timers = open_test();
	std::string text, words;
	std::uint64_t pending = 0, flaws = 1;
	dw_stats stats;

	CHECK(!timers.after(1h, {"t"}) && !timers.sync(10s));
	CHECK(!timers.health(&words) && words == "ok" && !timers.health());
	CHECK(!timers.stats(stats) && stats.timers == 1 && stats.is_owner);
	for (int i = 0; i < 60; i++) // more than fits at first
		CHECK(
		    !timers.after(1h, {"topic_with_a_name_that_takes_room_" + std::to_string(i)}));
	CHECK(!timers.sync(10s) && !timers.metrics(text));
	CHECK(text.find("room_59") != std::string::npos && text.back() == '\n');
	CHECK(!timers.status([&](std::error_code error, const dw_store_status *status) {
		pending = error ? 0 : status->pending;
	}));
	CHECK(!timers.check([&](std::error_code error, const dw_check_report *report) {
		flaws = error ? 1 : report->flaw_count;
	}));
	CHECK(!timers.sync(10s) && pending == 61 && flaws == 0);
	CHECK(!timers.purge() && !timers.sync(10s) && !timers.stats(stats) && stats.timers == 0);
}

void file_is_not_shared_and_owned_whole()
{
	auto timers = open_test();

	CHECK(timers.members([](auto, auto) {}) == DW_EINVAL);
	CHECK(timers.owns("a") && timers.owns("b") && !timers.owns(""));
}

void empty_handle_refuses_every_call()
{
	durawheel::handle none;
	std::vector<durawheel::timer> timers{{"t"}};
	std::string text = "kept";
	dw_stats stats;

	CHECK(none.put(timers[0]) == DW_EINVAL &&
	      none.put_many(timers, [](auto &) {}) == DW_EINVAL);
	CHECK(none.cancel_many(strings{"a"}, [](auto &) {}) == DW_EINVAL &&
	      none.push(timers) == DW_EINVAL);
	CHECK(none.set_why("x") == DW_EINVAL && none.set_why({}, "x") == DW_EINVAL);
	CHECK(none.set_result("x") == DW_EINVAL && none.set_result({}, "x") == DW_EINVAL);
	CHECK(none.list({}, nullptr, 1, [](auto &) {}) == DW_EINVAL);
	CHECK(none.count({}, [](auto &) {}) == DW_EINVAL);
	CHECK(none.cancel_where({"t"}, [](auto &) {}) == DW_EINVAL);
	CHECK(none.ended("a", [](auto, auto) {}) == DW_EINVAL);
	CHECK(none.status([](auto, auto) {}) == DW_EINVAL && none.stats(stats) == DW_EINVAL);
	CHECK(none.check([](auto, auto) {}) == DW_EINVAL);
	CHECK(none.members([](auto, auto) {}) == DW_EINVAL && !none.owns("a"));
	CHECK(none.health() == DW_EINVAL && none.metrics(text) == DW_EINVAL && text == "kept");
	CHECK(none.topic_set("t", {}) == DW_EINVAL && none.topic_pause("t", 0) == DW_EINVAL);
	CHECK(none.topic_drop("t") == DW_EINVAL && none.topic_list({}, [](auto &) {}) == DW_EINVAL);
	CHECK(none.take({}, [](auto &) {}) == DW_EINVAL && none.touch(strings{"a"}) == DW_EINVAL);
	CHECK(none.ack(strings{"a"}, durawheel::verdict::done()) == DW_EINVAL);
	CHECK(none.dead_list({}, nullptr, 1, [](auto &) {}) == DW_EINVAL);
	CHECK(none.dead_requeue("a", 0, durawheel::never) == DW_EINVAL);
	CHECK(none.dead_drop("a", 0) == DW_EINVAL && none.purge() == DW_EINVAL);
}

const std::map<std::string, void (*)()> tests = {
    {"put_says_what_it_has_done", put_says_what_it_has_done},
    {"many_are_put_and_cancelled", many_are_put_and_cancelled},
    {"selected_are_listed_counted_and_cancelled", selected_are_listed_counted_and_cancelled},
    {"tally_is_freed_after_its_last_call", tally_is_freed_after_its_last_call},
    {"rule_says_when_it_comes", rule_says_when_it_comes},
    {"recurring_timer_goes_on_with_its_occurrence", recurring_timer_goes_on_with_its_occurrence},
    {"batch_has_a_verdict_for_each", batch_has_a_verdict_for_each},
    {"ends_and_reasons_are_told", ends_and_reasons_are_told},
    {"queue_is_pushed_taken_and_answered", queue_is_pushed_taken_and_answered},
    {"dead_letters_are_requeued_and_dropped", dead_letters_are_requeued_and_dropped},
    {"handle_tells_how_it_is", handle_tells_how_it_is},
    {"file_is_not_shared_and_owned_whole", file_is_not_shared_and_owned_whole},
    {"empty_handle_refuses_every_call", empty_handle_refuses_every_call},
};

} // namespace

int main(int, char **arguments)
{
	CHECK(arguments[1] && tests.count(arguments[1]) == 1);
	tests.at(arguments[1])();
	std::printf("%s: ok\n", arguments[1]);
	return 0;
}
