/* durawheel for C++17: the functions of durawheel.h with chrono, std::function, std::string_view
 * and std::error_code. One header; link the same library.
 *
 *	durawheel::options options;
 *	options.store = "sqlite:orders.db";
 *	std::error_code error;
 *	auto timers = durawheel::handle::open(options, error);
 *	if (error) ...
 *	timers.on("order.timeout", [&](const durawheel::firing &order) {
 *		shop.cancel(order.id);
 *		return durawheel::verdict::done();
 *	});
 *	timers.after(30min, {"order.timeout", "order:42", "3 books"});
 *	timers.run();
 *
 * durawheel.h and the headers that it lists are the manual: what a call does, its errors, and which
 * threads may make it. A handle has every call that C has on a dw *, except dw_retry_in(), which
 * verdict::retry(delay) replaces. Call functions without a handle, like dw_parse_time() and
 * dw_journal_list(), as they are; get() returns the dw *. This header says what C++ adds:
 *
 * HANDLES can be moved and not copied. The destructor closes, and waits at most close_patience. A
 * handle that is destroyed inside one of its callbacks, or on another thread, cannot be closed: it
 * stays open, with its memory, until the process ends.
 *
 * CALLBACKS are kept by the handle: that of an answer until it was called, that of a tally until
 * its last call, a handler until close(). So what a handler captures must live until close(), even
 * if another handler has replaced it. If close() returns DW_ETIMEOUT, a worker may still be inside
 * a handler, so the handlers are never destroyed.
 *
 * EXCEPTIONS do not pass through the library. An exception that leaves a handler counts as
 * verdict::retry(), also on a worker. In a batch it counts so for all timers. Its text goes to
 * options.on_exception, or else to on_log as DW_LOG_ERROR. With -fno-exceptions there are none. No
 * function of this header throws, except std::bad_alloc before the call was made.
 *
 * TIMES are rounded up to microseconds, so that nothing is early, and a duration that is too long
 * is "never".
 *
 * ERRORS are std::error_code in durawheel::category(); compare them with enum dw_error, or with
 * std::errc if it has the same error. */
#ifndef DURAWHEEL_HPP
#define DURAWHEEL_HPP

#include <chrono>
#include <cstdio>
#include <cstring>
#include <exception>
#include <functional>
#include <iterator>
#include <memory>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "durawheel/durawheel.h"
#include "durawheel/ended.h"
#include "durawheel/facts.h"
#include "durawheel/journal.h"
#include "durawheel/members.h"
#include "durawheel/metrics.h"
#include "durawheel/select.h"
#include "durawheel/testing.h"
#include "durawheel/topic.h"
#include "durawheel/why.h"

/* ---- Errors ------------------------------------------------------------------------------ */

template <> struct std::is_error_code_enum<dw_error> : std::true_type {
};

namespace durawheel
{

class error_category final : public std::error_category
{
      public:
	const char *name() const noexcept override
	{
		return "durawheel";
	}

	std::string message(int status) const override
	{
		return dw_strerror(status);
	}

	std::error_condition default_error_condition(int status) const noexcept override
	{
		switch (status) {
		case DW_EINVAL:
			return std::errc::invalid_argument;
		case DW_ENOMEM:
			return std::errc::not_enough_memory;
		case DW_EEXIST:
			return std::errc::file_exists;
		case DW_ETIMEOUT:
			return std::errc::timed_out;
		case DW_EFULL:
			return std::errc::no_space_on_device;
		default:
			return {status, *this};
		}
	}
};

inline const std::error_category &category() noexcept
{
	static const error_category only;

	return only;
}

inline std::error_code to_error(int status) noexcept
{
	return {status, category()};
}

} // namespace durawheel

inline std::error_code make_error_code(dw_error status) noexcept
{
	return durawheel::to_error(status);
}

namespace durawheel
{

/* ---- Time -------------------------------------------------------------------------------- */

using duration = std::chrono::microseconds;
using time_point = std::chrono::time_point<std::chrono::system_clock, duration>;

constexpr time_point never{duration{DW_NEVER}};

/* round_up returns a duration of any unit in microseconds. */
template <class number, class period>
constexpr dw_usec round_up(const std::chrono::duration<number, period> &time)
{
	using real = std::chrono::duration<double, std::micro>;

	if (!(real(time).count() < 9.2e18)) /* also if it is not a number */
		return DW_NEVER;
	if (real(time).count() <= -9.2e18)
		return -DW_NEVER;
	return std::chrono::ceil<duration>(time).count();
}

/* A duration as an argument or a field, of any unit: 30min, 1500ms, std::chrono::hours(48). */
struct delay {
	constexpr delay() = default;

	template <class number, class period>
	constexpr delay(const std::chrono::duration<number, period> &time) : us(round_up(time))
	{
	}

	constexpr operator duration() const
	{
		return duration(us);
	}

	dw_usec us = 0;
};

/* A time of the system's clock as an argument or a field. */
struct moment {
	constexpr moment() = default;

	template <class unit>
	constexpr moment(const std::chrono::time_point<std::chrono::system_clock, unit> &time)
	    : us(round_up(time.time_since_epoch()))
	{
	}

	constexpr operator time_point() const
	{
		return time_point(duration(us));
	}

	dw_usec us = 0;
};

/* ---- Bytes and text ---------------------------------------------------------------------- */

/* Bytes that somebody else owns: a text, a std::string, a std::vector or std::array of plain
 * values. Those of a firing are valid until the callback returns, and no zero byte follows them. */
class bytes
{
	template <class range>
	using plain =
	    std::enable_if_t<!std::is_array_v<range> &&
			     std::is_trivially_copyable_v<std::remove_pointer_t<decltype(std::data(
				 std::declval<const range &>()))>>>;

      public:
	constexpr bytes() = default;

	constexpr bytes(const void *data, std::size_t size) : begin_(data), size_(size)
	{
	}

	bytes(const char *text) : begin_(text), size_(std::strlen(text))
	{
	}

	template <class range, class = plain<range>>
	constexpr bytes(const range &values)
	    : begin_(std::data(values)), size_(std::size(values) * sizeof *std::data(values))
	{
	}

	constexpr const void *data() const
	{
		return begin_;
	}

	constexpr std::size_t size() const
	{
		return size_;
	}

	constexpr bool empty() const
	{
		return size_ == 0;
	}

	const unsigned char *begin() const
	{
		return static_cast<const unsigned char *>(begin_);
	}

	const unsigned char *end() const
	{
		return begin() + size_;
	}

	std::string_view text() const
	{
		return {static_cast<const char *>(begin_), size_};
	}

      private:
	const void *begin_ = nullptr;
	std::size_t size_ = 0;
};

namespace detail
{

/* A view as a C string for a call of C. If the view is too long, or has a zero byte inside, the C
 * string gets a byte too many, or a control character, so that the library refuses it. */
template <std::size_t most> class c_string
{
      public:
	explicit c_string(std::string_view view) : given_(view.data() != nullptr)
	{
		std::size_t size = view.size() <= most ? view.size() : most + 1;

		for (std::size_t i = 0; i < size; i++)
			chars_[i] = view[i] != '\0' ? view[i] : '\1';
		chars_[size] = '\0';
	}

	const char *get() const /* NULL if the view is std::string_view() */
	{
		return given_ ? chars_ : nullptr;
	}

	const char *text() const /* for what is required: an empty view is an empty text */
	{
		return chars_;
	}

      private:
	bool given_;
	char chars_[most + 2];
};

using id_string = c_string<DW_ID_MAX>;
using topic_string = c_string<DW_TOPIC_MAX>;
using token_string = c_string<DW_TOKEN_SIZE>;
/* Longer than the limit, so that dw_set_why() cuts, and does so between two characters. */
using why_string = c_string<DW_WHY_MAX + 4>;

/* text_of returns a string as a C string for a call. optional_text: NULL if it is empty. */
inline const char *text_of(const std::string &text)
{
	return text.find('\0') == std::string::npos ? text.c_str() : "\1";
}

inline const char *optional_text(const std::string &text)
{
	return text.empty() ? nullptr : text_of(text);
}

/* The strings of a range as an array of C strings for a call. */
template <class string> class c_strings
{
      public:
	template <class range> explicit c_strings(const range &views)
	{
		for (const auto &view : views)
			strings_.emplace_back(std::string_view(view));
		for (const string &each : strings_)
			pointers_.push_back(each.text());
	}

	const char *const *data() const
	{
		return pointers_.data();
	}

	std::size_t size() const
	{
		return pointers_.size();
	}

      private:
	std::vector<string> strings_;
	std::vector<const char *> pointers_;
};

} // namespace detail

/* ---- Rules ------------------------------------------------------------------------------- */

/* When a recurring timer comes: see durawheel/rule.h. Either every or cron. */
struct rule {
	delay every = {};
	std::string cron; /* "0 8 * * mon-fri" */
	std::string zone; /* "Europe/London"; "": UTC */
	moment start = {};
	moment end = {}; /* zero: there is no end */
	std::uint64_t count = 0;
	delay jitter = {};
	dw_missed missed = DW_MISSED_ONCE;
	delay missed_after = {};
	delay missed_age = {};
	std::vector<std::string> except = {}; /* local dates, "2026-12-25" */
};

namespace detail
{

/* A dw_rule made of a rule. It points into the rule, which must outlive it. */
class c_rule
{
      public:
	explicit c_rule(const rule &from)
	{
		for (const std::string &date : from.except)
			except_.push_back(text_of(date));
		raw_.size = sizeof raw_;
		raw_.every = from.every.us;
		raw_.cron = optional_text(from.cron);
		raw_.zone = optional_text(from.zone);
		raw_.start = from.start.us;
		raw_.end = from.end.us;
		raw_.count = from.count;
		raw_.jitter_us = from.jitter.us;
		raw_.missed = from.missed;
		raw_.missed_after_us = from.missed_after.us;
		raw_.missed_age_us = from.missed_age.us;
		raw_.except_count = except_.size();
	}

	const dw_rule *get()
	{
		raw_.except = except_.data();
		return &raw_;
	}

      private:
	dw_rule raw_ = {};
	std::vector<const char *> except_;
};

} // namespace detail

/* occurrences returns the first occurrences after a moment, at most count: see dw_rule_next(). */
inline std::vector<time_point> occurrences(const rule &rule, moment after, std::size_t count,
					   std::error_code &ret_error,
					   std::string *ret_message = nullptr)
{
	char message[DW_MESSAGE_SIZE];
	std::vector<dw_usec> times(count);
	std::vector<time_point> found;
	int got = dw_rule_next(detail::c_rule(rule).get(), after.us, times.data(), count, message);

	ret_error = to_error(got < 0 ? got : static_cast<int>(DW_OK));
	if (got < 0 && ret_message)
		*ret_message = message;
	for (int i = 0; i < got; i++)
		found.emplace_back(duration(times[static_cast<std::size_t>(i)]));
	return found;
}

/* ---- What callbacks get ------------------------------------------------------------------ */

/* What a handler answers for its timer. */
class verdict
{
      public:
	static verdict done()
	{
		return {DW_DONE, -1};
	}

	static verdict retry() /* after the default delay */
	{
		return {DW_RETRY, -1};
	}

	static verdict retry(delay in)
	{
		return {DW_RETRY, in.us};
	}

	static verdict dead()
	{
		return {DW_DEAD, -1};
	}

	static verdict hold() /* settle() gives the verdict later */
	{
		return {DW_HOLD, -1};
	}

	static verdict hold_unstarted() /* the work begins at start(); settle() ends it */
	{
		return {DW_HOLD_UNSTARTED, -1};
	}

	dw_verdict value;
	dw_usec retry_in;

      private:
	verdict(dw_verdict said, dw_usec in) : value(said), retry_in(in)
	{
	}
};

struct firing {
	explicit firing(const dw_firing &f)
	    : id(f.id), topic(f.topic), due(duration(f.due)), now(duration(f.now)),
	      attempt(f.attempt), data(f.data, f.data_size), token(*f.token),
	      occurrence(duration(f.occurrence)), missed(f.missed), last(f.last != 0)
	{
	}

	std::string_view id;
	std::string_view topic;
	time_point due;
	time_point now;
	std::uint32_t attempt;
	bytes data;
	const dw_token &token; /* copy it to settle */
	time_point occurrence; /* in a recurring timer; see dw_firing */
	std::uint32_t missed;
	bool last;
};

/* What happened outside any call. It is also a dw_event. */
struct event {
	explicit event(const dw_event &e)
	    : kind(e.kind), name(dw_event_name(e.kind)), error(to_error(e.status)),
	      id(e.id ? e.id : ""), topic(e.topic ? e.topic : ""), message(e.message),
	      count(e.count), why(e.why ? e.why : ""), raw(e)
	{
	}

	operator const dw_event &() const
	{
		return raw;
	}

	dw_event_kind kind;
	std::string_view name; /* the name of kind: "RECOVERED" and so on */
	std::error_code error;
	std::string_view id, topic; /* those of the timer, or "" */
	std::string_view message;   /* one line for people */
	std::uint64_t count;
	std::string_view why; /* DW_EVENT_DEAD: the text of set_why(), or "" */
	const dw_event &raw;
};

struct answer {
	explicit answer(const dw_result &r)
	    : error(to_error(r.status)), level(r.level), id(r.id), generation(r.generation),
	      earlier_may_start(r.earlier_may_start != 0), outcome(r.outcome), due(duration(r.due))
	{
	}

	std::error_code error;
	dw_level level;
	std::string_view id; /* in answers to ack() and touch(): the token */
	std::uint64_t generation;
	bool earlier_may_start;
	unsigned outcome; /* DW_PUT_MADE, DW_PUT_REPLACED, DW_PUT_KEPT, or 0; see dw_result */
	time_point due;
};

/* A message of a queue. */
struct message {
	explicit message(const dw_message &m)
	    : id(m.id), topic(m.topic), due(duration(m.due)), attempt(m.attempt),
	      data(m.data, m.data_size), token(m.token)
	{
	}

	std::string_view id;
	std::string_view topic;
	time_point due;
	std::uint32_t attempt;
	bytes data;
	std::string_view token; /* copy it to answer after the callback */
};

/* An array of C structures that shows each of them as a C++ structure. */
template <class shown, class raw> class view
{
      public:
	struct iterator {
		const raw *at;

		shown operator*() const
		{
			return shown(*at);
		}

		iterator &operator++()
		{
			++at;
			return *this;
		}

		bool operator==(const iterator &other) const
		{
			return at == other.at;
		}

		bool operator!=(const iterator &other) const
		{
			return at != other.at;
		}
	};

	view(const raw *first, std::size_t count) : first_(first), count_(count)
	{
	}

	shown operator[](std::size_t i) const
	{
		return shown(first_[i]);
	}

	std::size_t size() const
	{
		return count_;
	}

	iterator begin() const
	{
		return {first_};
	}

	iterator end() const
	{
		return {first_ + count_};
	}

      private:
	const raw *first_;
	std::size_t count_;
};

using answers = view<answer, dw_result>; /* in the order of the items of the call */

/* Due timers of one topic, for one call of a handler. */
class batch : public view<firing, dw_firing>
{
      public:
	explicit batch(dw_batch &b) : view(b.firings, b.count), raw_(b)
	{
	}

	std::string_view topic() const
	{
		return raw_.topic;
	}

	/* say sets the verdict of one timer. All are verdict::done() before. */
	void say(std::size_t i, verdict said)
	{
		raw_.verdicts[i] = said.value;
		raw_.retry_in[i] = said.retry_in;
	}

      private:
	dw_batch &raw_;
};

/* The messages of take(): none if error is set, or if none came in time. */
struct taken : view<message, dw_message> {
	taken(std::error_code said, const dw_message *first, std::size_t count)
	    : view(first, count), error(said)
	{
	}

	std::error_code error;
};

/* The C structures that a call has asked for. */
template <class item> struct listed {
	std::error_code error;
	const item *items;
	std::size_t count;
	const dw_cursor *next; /* in a page; see dw_cursor */

	const item *begin() const
	{
		return items;
	}

	const item *end() const
	{
		return items + count;
	}
};

using page = listed<dw_info>;
using dead_page = listed<dw_dead>;
using topics = listed<dw_topic_info>; /* here and in facts, next is nullptr */
using facts = listed<dw_fact>;

/* What count() or cancel_where() has done so far; see dw_tally. */
struct tally {
	explicit tally(const dw_tally &t)
	    : over(t.over != 0), error(to_error(t.status)), matched(t.matched), done(t.done),
	      late(t.late), gone(t.gone), failed(t.failed),
	      failed_id(t.failed_id ? t.failed_id : ""), failed_error(to_error(t.failed_status))
	{
	}

	bool over;
	std::error_code error;
	std::uint64_t matched, done, late, gone, failed;
	std::string_view failed_id;
	std::error_code failed_error;
};

using handler = std::function<verdict(const firing &)>;
using batch_handler = std::function<void(batch &)>;
using done_function = std::function<void(const answer &)>;
using answers_function = std::function<void(const answers &)>;
using page_function = std::function<void(const page &)>;
using dead_function = std::function<void(const dead_page &)>;
using topics_function = std::function<void(const topics &)>;
using taken_function = std::function<void(const taken &)>;
using tally_function = std::function<void(const tally &)>; /* called until tally.over */
/* In these callbacks the pointer is nullptr if error is set. */
using ended_function = std::function<void(std::error_code error, const dw_ended *)>;
using due_function = std::function<void(std::error_code error, const dw_due_counts *)>;
using status_function = std::function<void(std::error_code error, const dw_store_status *)>;
using members_function = std::function<void(std::error_code error, const dw_member_list *)>;
using why_function = std::function<void(std::error_code error, const dw_why *)>;
using facts_function = std::function<void(const facts &)>;
using check_function = std::function<void(std::error_code error, const dw_check_report *)>;

/* ---- Options ----------------------------------------------------------------------------- */

/* The fields of dw_options. A field that is 0 or empty has its default. */
struct options {
	std::string store;
	std::string name;    /* Redis: the namespace */
	std::string journal; /* Redis: a file for outages, or "" */
	std::function<void(const event &)> on_event;
	std::function<void(dw_log_level, std::string_view)> on_log; /* any thread */
	std::function<void(const dw_firing_done &)> on_firing_done;
	/* An exception has left a callback: which one, and the exception's text. Any thread. */
	std::function<void(std::string_view callback, std::string_view what)> on_exception;
	delay close_patience = std::chrono::seconds(5); /* for close() and the destructor */
	dw_role role = DW_OWNER;
	unsigned workers = 0; /* threads for on_worker() */
	unsigned flags = 0;   /* DW_EXISTING, DW_TEST_CLOCK */
	unsigned shards = 0;  /* Redis: the number for a new namespace */
	delay lease = {};     /* Redis: how long an owner may be silent */
	dw_outage outage = DW_OUTAGE_HOLD;
	delay open_patience = {}; /* how long open() waits for the store */
	delay hold = {};          /* how long a verdict::hold() lasts */
	delay spin = {};
	std::size_t timers_max = 0, data_max_bytes = 0, posted_max_bytes = 0;
	struct ::ev_loop *ev_loop = nullptr;
	dw_usec (*clock)(void *user) = nullptr; /* any thread, as resize */
	void *clock_user = nullptr;
	void *(*resize)(void *user, void *block, std::size_t size) = nullptr;
	void *resize_user = nullptr;
};

/* A timer to put. If id is std::string_view(), an id is made. */
struct timer {
	std::string_view topic;
	std::string_view id = {};
	bytes data = {};
	delay late_after = {};
	bool only_new = false; /* DW_NEW */
	unsigned flags = 0;    /* DW_DUE_EARLIEST, DW_ONCE and so on */
	delay wait_max = {};
	delay keep = {}; /* how long its end is remembered */
	moment due = {}; /* for put() and put_many(); at() and after() set it */
	const durawheel::rule *rule = nullptr; /* a recurring timer, for put() and put_many() */
	moment occurrence = {}, rule_end = {}; /* a recurring timer that goes on; see dw_timer */
	std::uint32_t missed = 0;
};

/* Selects timers: those that match every field that is set. */
struct selection {
	std::string_view topic = {};
	std::string_view id_prefix = {};
	moment due_from = {}, due_to = {};
	unsigned states = 0;    /* as 1u << DW_PENDING; 0: any */
	bool recurring = false; /* only timers with a rule */
	bool partial = false;   /* for list(); see dw_select */
};

/* Selects dead letters: all, those of a topic, or the last one of an id. */
struct dead_selection {
	std::string_view topic = {};
	std::string_view id = {};
	bool partial = false;
};

/* Which messages to take. */
struct take_options {
	std::vector<std::string_view> topics = {}; /* the first with a message; empty: all */
	std::size_t max = 1;
	delay wait = {};
};

namespace detail
{

struct state;

/* A registered handler. It lives as long as it may be called. */
struct registered {
	state *owner;
	std::string topic;
	handler fire;
	batch_handler fire_batch;
};

struct state {
	dw *d = nullptr;
	options hooks;
	std::vector<std::unique_ptr<registered>> handlers;

	void told(const char *callback, const char *what) noexcept
	{
		char line[DW_MESSAGE_SIZE];

		(void)std::snprintf(line, sizeof line, "an exception has left %.100s: %.120s",
				    callback, what);
		if (hooks.on_exception)
			quietly([&] { hooks.on_exception(callback, what); });
		else if (hooks.on_log)
			quietly([&] { hooks.on_log(DW_LOG_ERROR, line); });
	}

	/* run calls function. If the function throws, run reports this and returns false. */
	template <class callable> bool run(const char *callback, callable &&function) noexcept
	{
#if defined(__cpp_exceptions)
		try {
			function();
		} catch (const std::exception &error) {
			told(callback, error.what());
			return false;
		} catch (...) {
			told(callback, "not a std::exception");
			return false;
		}
#else
		(void)callback;
		function();
#endif
		return true;
	}

	/* quietly calls a hook of last resort, and ignores its exceptions. */
	template <class callable> static void quietly(callable &&function) noexcept
	{
#if defined(__cpp_exceptions)
		try {
			function();
		} catch (...) {
		}
#else
		function();
#endif
	}
};

inline void on_event(dw *, const dw_event *event, void *user)
{
	state *own = static_cast<state *>(user);

	own->run("on_event", [&] { own->hooks.on_event(durawheel::event(*event)); });
}

inline void on_firing_done(dw *, const dw_firing_done *finished, void *user)
{
	state *own = static_cast<state *>(user);

	own->run("on_firing_done", [&] { own->hooks.on_firing_done(*finished); });
}

inline void on_log(dw_log_level level, const char *line, void *user)
{
	state *own = static_cast<state *>(user);

	state::quietly([&] { own->hooks.on_log(level, line); });
}

inline dw_verdict on_firing(dw *d, const dw_firing *fired, void *user)
{
	registered *own = static_cast<registered *>(user);
	verdict said = verdict::retry();

	if (!own->owner->run(own->topic.c_str(), [&] { said = own->fire(firing(*fired)); }))
		return DW_RETRY;
	if (said.value == DW_RETRY && said.retry_in >= 0)
		(void)dw_retry_in(d, said.retry_in); /* never fails inside a handler */
	return said.value;
}

inline void on_batch(dw *, dw_batch *batch, void *user)
{
	registered *own = static_cast<registered *>(user);

	if (own->owner->run(own->topic.c_str(), [&] {
		    durawheel::batch fired(*batch);

		    own->fire_batch(fired);
	    }))
		return;
	for (std::size_t i = 0; i < batch->count; i++) {
		batch->verdicts[i] = DW_RETRY;
		batch->retry_in[i] = -1;
	}
}

/* c_options returns the options of a state as dw_options, which point into the state. */
inline dw_options c_options(state &own)
{
	const options &from = own.hooks;
	dw_options raw = {};

	raw.size = sizeof raw;
	raw.store = text_of(from.store);
	raw.name = text_of(from.name);
	raw.journal = optional_text(from.journal);
	raw.role = from.role;
	raw.workers = from.workers;
	raw.flags = from.flags;
	raw.shards = from.shards;
	raw.lease_us = from.lease.us;
	raw.outage = from.outage;
	raw.open_patience_us = from.open_patience.us;
	raw.hold_us = from.hold.us;
	raw.spin_us = from.spin.us;
	raw.timers_max = from.timers_max;
	raw.data_max_bytes = from.data_max_bytes;
	raw.posted_max_bytes = from.posted_max_bytes;
	raw.ev_loop = from.ev_loop;
	raw.clock = from.clock;
	raw.clock_user = from.clock_user;
	raw.resize = from.resize;
	raw.resize_user = from.resize_user;
	raw.on_event = from.on_event ? on_event : nullptr;
	raw.on_log = from.on_log ? on_log : nullptr;
	raw.on_firing_done = from.on_firing_done ? on_firing_done : nullptr;
	raw.on_event_user = raw.on_log_user = raw.on_firing_done_user = &own;
	return raw;
}

/* A callback that is called once. */
template <class function> struct once {
	state *owner;
	function call;

	/* take returns the callback to which user points. The result frees it after its call. */
	static std::unique_ptr<once> take(void *user)
	{
		return std::unique_ptr<once>(static_cast<once *>(user));
	}
};

inline void on_done(dw *, const dw_result *result, void *user)
{
	auto own = once<done_function>::take(user);

	own->owner->run("the callback of an answer", [&] { own->call(answer(*result)); });
}

inline void on_answers(dw *, const dw_result *results, std::size_t count, void *user)
{
	auto own = once<answers_function>::take(user);

	own->owner->run("the callback of answers", [&] { own->call(answers(results, count)); });
}

template <class item>
void on_page(dw *, int status, const item *items, std::size_t count, const dw_cursor *next,
	     void *user)
{
	auto own = once<std::function<void(const listed<item> &)>>::take(user);

	own->owner->run("the callback of a page", [&] {
		own->call(listed<item>{to_error(status), items, count, next});
	});
}

inline void on_topics(dw *d, int status, const dw_topic_info *infos, std::size_t count, void *user)
{
	on_page(d, status, infos, count, nullptr, user);
}

inline void on_facts(dw *d, int status, const dw_fact *found, std::size_t count, void *user)
{
	on_page(d, status, found, count, nullptr, user);
}

inline void on_taken(dw *, int status, const dw_message *messages, std::size_t count, void *user)
{
	auto own = once<taken_function>::take(user);

	own->owner->run("the callback of a take",
			[&] { own->call(taken(to_error(status), messages, count)); });
}

inline void on_tally(dw *, const dw_tally *told, void *user)
{
	auto own = static_cast<once<tally_function> *>(user);

	own->owner->run("the callback of a tally", [&] { own->call(tally(*told)); });
	if (told->over)
		delete own;
}

/* on_one passes one structure, or nullptr, to the callback of a call. */
template <class item> void on_one(dw *, int status, const item *found, void *user)
{
	auto own = once<std::function<void(std::error_code, const item *)>>::take(user);

	own->owner->run("the callback of an answer", [&] { own->call(to_error(status), found); });
}

inline void on_post(dw *, void *user)
{
	auto own = once<std::function<void()>>::take(user);

	own->owner->run("a posted function", [&] { own->call(); });
}

/* A dw_timer made of a timer. It points into the timer, which must outlive it. */
class c_timer
{
      public:
	explicit c_timer(const timer &from) : id_(from.id), topic_(from.topic)
	{
		if (from.rule)
			rule_ = std::make_unique<c_rule>(*from.rule);
		raw_.size = sizeof raw_;
		raw_.due = from.due.us;
		raw_.data = from.data.data();
		raw_.data_size = from.data.size();
		raw_.late_after_us = from.late_after.us;
		raw_.flags = from.flags | (from.only_new ? DW_NEW : 0);
		raw_.wait_max_us = from.wait_max.us;
		raw_.keep_us = from.keep.us;
		raw_.occurrence = from.occurrence.us;
		raw_.rule_end = from.rule_end.us;
		raw_.missed = from.missed;
	}

	dw_timer get() const
	{
		dw_timer raw = raw_;

		raw.id = id_.get();
		raw.topic = topic_.text();
		raw.rule = rule_ ? rule_->get() : nullptr;
		return raw;
	}

      private:
	id_string id_;
	topic_string topic_;
	std::unique_ptr<c_rule> rule_;
	dw_timer raw_ = {};
};

class c_timers
{
      public:
	template <class range> explicit c_timers(const range &timers)
	{
		for (const timer &each : timers)
			timers_.emplace_back(each);
		for (const c_timer &each : timers_)
			raw_.push_back(each.get());
	}

	const dw_timer *data() const
	{
		return raw_.data();
	}

	std::size_t size() const
	{
		return raw_.size();
	}

      private:
	std::vector<c_timer> timers_;
	std::vector<dw_timer> raw_;
};

class c_selection
{
      public:
	explicit c_selection(const selection &from) : topic_(from.topic), prefix_(from.id_prefix)
	{
		raw_.size = sizeof raw_;
		raw_.due_from = from.due_from.us;
		raw_.due_to = from.due_to.us;
		raw_.states = from.states;
		raw_.recurring = from.recurring;
		raw_.partial = from.partial;
	}

	const dw_select *get()
	{
		raw_.topic = topic_.get();
		raw_.id_prefix = prefix_.get();
		return &raw_;
	}

      private:
	topic_string topic_;
	id_string prefix_;
	dw_select raw_ = {};
};

} // namespace detail

/* ---- The handle -------------------------------------------------------------------------- */

class handle
{
      public:
	handle() = default; /* without a store: only open(), close(), get() and bool */
	handle(handle &&) = default;

	handle &operator=(handle &&other) noexcept
	{
		if (this != &other) {
			end();
			state_ = std::move(other.state_);
		}
		return *this;
	}

	~handle()
	{
		end();
	}

	/* open opens a handle. On failure it is empty, and *ret_message, if not NULL, says why. */
	[[nodiscard]] static handle open(options given, std::error_code &ret_error,
					 std::string *ret_message = nullptr)
	{
		char message[DW_MESSAGE_SIZE];
		handle opened;
		auto own = std::make_unique<detail::state>();

		own->hooks = std::move(given);
		dw_options raw = detail::c_options(*own);
		ret_error = to_error(dw_open(&own->d, &raw, message));
		if (!ret_error)
			opened.state_ = std::move(own);
		else if (ret_message)
			*ret_message = message;
		return opened;
	}

	/* close closes the handle. After DW_EBUSY and DW_ETHREAD the handle is still open; else it
	 * is empty. Without a patience it waits for options.close_patience. */
	std::error_code close()
	{
		return close(state_ ? state_->hooks.close_patience : delay());
	}

	std::error_code close(delay patience)
	{
		int status = state_ ? dw_close(state_->d, patience.us) : static_cast<int>(DW_OK);

		if (status == DW_EBUSY || status == DW_ETHREAD)
			return to_error(status);
		if (status == DW_ETIMEOUT)
			(void)state_.release(); /* a worker may still use it */
		state_.reset();
		return to_error(status);
	}

	explicit operator bool() const
	{
		return state_ != nullptr;
	}

	dw *get() const
	{
		return state_ ? state_->d : nullptr;
	}

	time_point now() const
	{
		return time_point(duration(dw_now(get())));
	}

	std::string last_error() const
	{
		return dw_last_error(get());
	}

	/* ---- Handlers ---- */

	/* An empty function is DW_EINVAL, here and below; off() removes a handler. */
	std::error_code on(std::string_view topic, handler fire)
	{
		return keep(topic, {nullptr, {}, std::move(fire), {}},
			    [](auto... arguments) { return dw_on(arguments...); });
	}

	std::error_code on_worker(std::string_view topic, handler fire)
	{
		return keep(topic, {nullptr, {}, std::move(fire), {}},
			    [](auto... arguments) { return dw_on_worker(arguments...); });
	}

	std::error_code on_batch(std::string_view topic, dw_batch_options batch, batch_handler fire)
	{
		batch.size = sizeof batch;
		return keep(topic, {nullptr, {}, {}, std::move(fire)},
			    [&batch](dw *d, const char *name, dw_fire_fn, void *user) {
				    return dw_on_batch(d, name, &batch, detail::on_batch, user);
			    });
	}

	std::error_code off(std::string_view topic)
	{
		return to_error(dw_on(get(), detail::topic_string(topic).text(), nullptr, nullptr));
	}

	std::error_code pause()
	{
		return to_error(dw_pause(get()));
	}

	std::error_code resume()
	{
		return to_error(dw_resume(get()));
	}

	/* ---- Timers ---- */

	std::error_code after(delay in, const timer &timer, done_function fn = {},
			      std::string *ret_id = nullptr)
	{
		char id[DW_ID_SIZE];
		std::error_code error =
		    put_with(timer, std::move(fn), [&](auto &raw, auto... done) {
			    return dw_after_id(get(), &raw, in.us, id, done...);
		    });

		if (!error && ret_id)
			*ret_id = id;
		return error;
	}

	/* repeat puts a recurring timer. The rule is copied; late_after must be 0. */
	std::error_code repeat(const rule &rule, timer timer, done_function fn = {})
	{
		timer.rule = &rule;
		return put(timer, std::move(fn));
	}

	/* put puts a timer that is due at timer.due, or by timer.rule. */
	std::error_code put(const timer &timer, done_function fn = {})
	{
		return put_with(timer, std::move(fn), [&](auto &raw, auto... done) {
			return dw_put(get(), &raw, done...);
		});
	}

	/* put_many puts the timers of a std::vector<timer>, an array and so on. fn gets an answer
	 * for each. DW_EINVAL: there are no timers (also for push()), or fn is empty. */
	template <class range> std::error_code put_many(const range &timers, answers_function fn)
	{
		detail::c_timers raw(timers);

		return look(detail::on_answers, std::move(fn), dw_put_many, raw.data(), raw.size());
	}

	/* cancel_many cancels ids: strings of a vector, an array and so on. fn: see put_many. */
	template <class range> std::error_code cancel_many(const range &ids, answers_function fn)
	{
		detail::c_strings<detail::id_string> raw(ids);

		return look(detail::on_answers, std::move(fn), dw_cancel_many, raw.data(),
			    raw.size());
	}

	std::error_code at(moment due, const timer &timer, done_function fn = {})
	{
		return put_with(timer, std::move(fn), [&](auto &raw, auto... done) {
			raw.due = due.us;
			if (raw.rule) /* is refused as by after() */
				return dw_after_id(get(), &raw, 0, nullptr, done...);
			return dw_put(get(), &raw, done...);
		});
	}

	std::error_code cancel(std::string_view id, done_function fn = {})
	{
		return tell(std::move(fn), dw_cancel, detail::id_string(id).text());
	}

	std::error_code move(std::string_view id, moment due, done_function fn = {})
	{
		return tell(std::move(fn), dw_move, detail::id_string(id).text(), due.us);
	}

	std::error_code settle(const dw_token &token, verdict said, done_function fn = {})
	{
		return tell(std::move(fn), dw_settle, &token, said.value, said.retry_in);
	}

	std::error_code start(const dw_token &token)
	{
		return to_error(dw_start(get(), &token));
	}

	/* set_why, set_result: call them inside a handler without a token; with a token for a
	 * delivery of a batch, or for a held delivery. */
	std::error_code set_why(std::string_view text)
	{
		return to_error(dw_set_why(get(), nullptr, detail::why_string(text).text()));
	}

	std::error_code set_why(const dw_token &token, std::string_view text)
	{
		return to_error(dw_set_why(get(), &token, detail::why_string(text).text()));
	}

	std::error_code set_result(bytes data)
	{
		return to_error(dw_set_result(get(), nullptr, data.data(), data.size()));
	}

	std::error_code set_result(const dw_token &token, bytes data)
	{
		return to_error(dw_set_result(get(), &token, data.data(), data.size()));
	}

	std::error_code post(std::function<void()> fn)
	{
		return look(detail::on_post, std::move(fn), dw_post);
	}

	/* ---- Looking ---- */

	std::error_code get_timer(std::string_view id, page_function fn)
	{
		return look(detail::on_page<dw_info>, std::move(fn), dw_get,
			    detail::id_string(id).text());
	}

	/* list, count: an empty selection means all timers. */
	std::error_code list(const selection &which, const dw_cursor *after, std::size_t limit,
			     page_function fn)
	{
		return look(detail::on_page<dw_info>, std::move(fn), dw_list,
			    detail::c_selection(which).get(), after, limit);
	}

	std::error_code count(const selection &which, tally_function fn)
	{
		return look(detail::on_tally, std::move(fn), dw_count,
			    detail::c_selection(which).get());
	}

	/* count_due counts the timers that are due from each bound to the next one. */
	std::error_code count_due(const std::vector<moment> &bounds, due_function fn)
	{
		std::vector<dw_usec> times;

		for (const moment &bound : bounds)
			times.push_back(bound.us);
		return look(detail::on_one<dw_due_counts>, std::move(fn), dw_count_due,
			    times.data(), times.size());
	}

	std::error_code cancel_where(const selection &which, tally_function fn)
	{
		return look(detail::on_tally, std::move(fn), dw_cancel_where,
			    detail::c_selection(which).get());
	}

	/* ended asks for the last end of an id. */
	std::error_code ended(std::string_view id, ended_function fn)
	{
		return look(detail::on_one<dw_ended>, std::move(fn), dw_ended_get,
			    detail::id_string(id).text());
	}

	/* why_waiting asks what a timer waits for: see durawheel/why.h. */
	std::error_code why_waiting(std::string_view id, why_function fn)
	{
		return look(detail::on_one<dw_why>, std::move(fn), dw_why_waiting,
			    detail::id_string(id).text());
	}

	std::error_code status(status_function fn)
	{
		return look(detail::on_one<dw_store_status>, std::move(fn), dw_get_status);
	}

	/* members asks which processes share the namespace (options.role = DW_PEER). */
	std::error_code members(members_function fn)
	{
		return look(detail::on_one<dw_member_list>, std::move(fn), dw_members);
	}

	/* facts asks what the servers of a store in Redis say of themselves. */
	std::error_code facts(facts_function fn)
	{
		return look(detail::on_facts, std::move(fn), dw_facts);
	}

	/* node describes a server of the store. Numbers begin at 0. Error: there are no more. */
	std::error_code node(std::size_t number, dw_node &ret_node) const
	{
		ret_node.size = sizeof ret_node;
		return to_error(dw_get_node(get(), number, &ret_node));
	}

	/* owns returns true if this handle owns the shard of the id now. Its own thread only. */
	bool owns(std::string_view id) const
	{
		return dw_owns(get(), detail::id_string(id).text()) == 1;
	}

	/* leave gives all shards of a peer to the others, as soon as their deliveries have ended,
	 * and starts no more timers. Its own thread only. */
	std::error_code leave()
	{
		return to_error(dw_leave(get()));
	}

	std::error_code stats(dw_stats &ret_stats) const
	{
		ret_stats.size = sizeof ret_stats;
		return to_error(dw_get_stats(get(), &ret_stats));
	}

	/* health says in *ret_message, if given, why the handle does not do its work, or "ok". Any
	 * thread. */
	std::error_code health(std::string *ret_message = nullptr) const
	{
		char message[DW_MESSAGE_SIZE] = "";
		int status = dw_health(get(), message);

		if (ret_message)
			*ret_message = message;
		return to_error(status);
	}

	/* metrics returns the numbers in Prometheus' text format. */
	std::error_code metrics(std::string &ret_text)
	{
		std::string text(std::size_t(16) * 1024, '\0');
		std::size_t size = 0;
		int status = dw_metrics(get(), text.data(), text.size(), &size);

		if (status == DW_OK && size >= text.size()) {
			text.resize(size + 1); /* in the same turn it is the same text */
			status = dw_metrics(get(), text.data(), text.size(), &size);
		}
		if (status == DW_OK) {
			text.resize(std::strlen(text.c_str()));
			ret_text = std::move(text);
		}
		return to_error(status);
	}

	/* ---- Topics and their queues ---- */

	std::error_code topic_set(std::string_view topic, dw_topic_settings settings,
				  done_function fn = {})
	{
		settings.size = sizeof settings;
		return tell(std::move(fn), dw_topic_set, detail::topic_string(topic).text(),
			    &settings);
	}

	/* topic_change: `from` has the settings as topic_list() returned them. */
	std::error_code topic_change(std::string_view topic, const dw_topic_settings &from,
				     const dw_topic_settings &to, done_function fn = {})
	{
		return tell(std::move(fn), dw_topic_change, detail::topic_string(topic).text(),
			    &from, &to);
	}

	std::error_code topic_pause(std::string_view topic, unsigned paused, done_function fn = {})
	{
		return tell(std::move(fn), dw_topic_pause, detail::topic_string(topic).text(),
			    paused);
	}

	std::error_code topic_drop(std::string_view topic, done_function fn = {})
	{
		return tell(std::move(fn), dw_topic_drop, detail::topic_string(topic).text());
	}

	/* topic_list: if topic is std::string_view(), it lists all topics. */
	std::error_code topic_list(std::string_view topic, topics_function fn)
	{
		return look(detail::on_topics, std::move(fn), dw_topic_list,
			    detail::topic_string(topic).get());
	}

	/* push makes messages of one queue topic: topic, id and data of each timer count. */
	template <class range> std::error_code push(const range &messages, done_function fn = {})
	{
		detail::c_timers raw(messages);

		return tell(std::move(fn), dw_push, raw.data(), raw.size());
	}

	std::error_code take(const take_options &what, taken_function fn)
	{
		detail::c_strings<detail::topic_string> names(what.topics);
		dw_take_options raw = {};

		raw.size = sizeof raw;
		raw.topics = names.size() > 0 ? names.data() : nullptr;
		raw.topic_count = names.size();
		raw.max = what.max;
		raw.wait_us = what.wait.us;
		return look(detail::on_taken, std::move(fn), dw_take, &raw);
	}

	/* ack answers messages by their tokens: strings of a vector, an array and so on. */
	template <class range>
	std::error_code ack(const range &tokens, verdict said, answers_function fn = {})
	{
		detail::c_strings<detail::token_string> strings(tokens);
		dw_answer raw = {};

		raw.size = sizeof raw;
		raw.tokens = strings.data();
		raw.count = strings.size();
		raw.verdict = said.value;
		/* In dw_answer 0 means the default delay; in a verdict it means no delay. */
		raw.retry_in = said.retry_in < 0 ? 0 : said.retry_in > 0 ? said.retry_in : 1;
		return look(detail::on_answers, std::move(fn), dw_ack, &raw);
	}

	template <class range> std::error_code touch(const range &tokens, answers_function fn = {})
	{
		detail::c_strings<detail::token_string> strings(tokens);

		return look(detail::on_answers, std::move(fn), dw_touch, strings.data(),
			    strings.size());
	}

	/* ---- Dead letters, and the store as a whole ---- */

	/* dead_list: an empty selection means all dead letters. */
	std::error_code dead_list(const dead_selection &which, const dw_cursor *after,
				  std::size_t limit, dead_function fn)
	{
		detail::topic_string topic(which.topic);
		detail::id_string id(which.id);
		dw_dead_select raw = {sizeof raw, topic.get(), id.get(), which.partial};

		return look(detail::on_page<dw_dead>, std::move(fn), dw_dead_list, &raw, after,
			    limit);
	}

	/* dead_requeue, dead_drop: generation 0, and an id that is std::string_view(), mean the
	 * same as 0 and NULL in dw_dead_requeue() and dw_dead_drop(). */
	std::error_code dead_requeue(std::string_view id, std::uint64_t generation, moment due,
				     done_function fn = {})
	{
		return tell(std::move(fn), dw_dead_requeue, detail::id_string(id).text(),
			    generation, due.us);
	}

	std::error_code dead_drop(std::string_view id, std::uint64_t generation,
				  done_function fn = {})
	{
		return tell(std::move(fn), dw_dead_drop, detail::id_string(id).get(), generation);
	}

	std::error_code purge(done_function fn = {})
	{
		return tell(std::move(fn), dw_purge);
	}

	std::error_code check(check_function fn)
	{
		return look(detail::on_one<dw_check_report>, std::move(fn), dw_check);
	}

	/* ---- Driving ---- */

	std::error_code run()
	{
		return to_error(dw_run(get()));
	}

	void stop()
	{
		dw_stop(get());
	}

	int fd() const
	{
		return dw_fd(get());
	}

	std::error_code turn()
	{
		return to_error(dw_turn(get()));
	}

	std::error_code sync(delay patience)
	{
		return to_error(dw_sync(get(), patience.us));
	}

	/* test_advance lets this time pass: see testing.h. DW_EINVAL: below 0, or too long. */
	std::error_code test_advance(delay time)
	{
		dw_usec now = dw_now(get());
		bool comes = time.us >= 0 && time.us < DW_NEVER - now;

		return to_error(dw_test_advance(get(), comes ? now + time.us : DW_NEVER));
	}

      private:
	/* end closes the handle. A handle that cannot be closed keeps its memory. */
	void end() noexcept
	{
		if (state_ && close() && state_)
			(void)state_.release();
	}

	/* keep registers a handler, and keeps it if that succeeds. */
	template <class callable>
	std::error_code keep(std::string_view topic, detail::registered fire, callable call)
	{
		if (!state_ || (!fire.fire && !fire.fire_batch))
			return DW_EINVAL;
		fire.owner = state_.get();
		fire.topic = topic;
		state_->handlers.push_back(std::make_unique<detail::registered>(std::move(fire)));
		int status = call(state_->d, detail::topic_string(topic).text(), detail::on_firing,
				  static_cast<void *>(state_->handlers.back().get()));
		if (status != DW_OK)
			state_->handlers.pop_back();
		return to_error(status);
	}

	/* ask makes a call whose callback is called once, unless it is empty or the call fails. */
	template <class c_function, class function, class callable>
	std::error_code ask(c_function *on_answer, function fn, callable call)
	{
		std::unique_ptr<detail::once<function>> kept;

		if (fn && state_)
			kept.reset(new detail::once<function>{state_.get(), std::move(fn)});
		int status = call(kept ? on_answer : nullptr, static_cast<void *>(kept.get()));
		if (status == DW_OK)
			(void)kept.release(); /* the callback frees it, or has freed it */
		return to_error(status);
	}

	/* look makes a call of C with these arguments, and fn gets the answer. tell does the same
	 * for a call that changes something. */
	template <class c_function, class function, class c_call, class... arguments>
	std::error_code look(c_function *on_answer, function fn, c_call call,
			     const arguments &...given)
	{
		return ask(on_answer, std::move(fn),
			   [&](auto... rest) { return call(get(), given..., rest...); });
	}

	template <class c_call, class... arguments>
	std::error_code tell(done_function fn, c_call call, const arguments &...given)
	{
		return look(detail::on_done, std::move(fn), call, given...);
	}

	template <class callable>
	std::error_code put_with(const timer &timer, done_function fn, callable call)
	{
		detail::c_timer kept(timer);
		dw_timer raw = kept.get();

		return ask(detail::on_done, std::move(fn),
			   [&](auto... done) { return call(raw, done...); });
	}

	std::unique_ptr<detail::state> state_;
};

} // namespace durawheel

#endif
