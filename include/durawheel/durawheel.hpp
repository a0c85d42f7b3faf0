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
 * durawheel.h is the manual: what a call does, its errors, and which threads may make it. What is
 * not here is reached by get(), which returns the dw *. This header says what C++ adds:
 *
 * HANDLES can be moved and not copied. The destructor closes, and waits at most close_patience. A
 * handle that is destroyed inside one of its callbacks, or on another thread, cannot be closed: it
 * stays open, with its memory, until the process ends.
 *
 * CALLBACKS are kept by the handle: one of an answer until it was called, a handler until close().
 * So what a handler captures must live until then, also if another one has replaced it. If close()
 * returns DW_ETIMEOUT, a worker may still be in one, and they are never destroyed.
 *
 * EXCEPTIONS do not pass through the library. One that leaves a handler counts as
 * verdict::retry(), on a worker, too; one that leaves a batch, as that for all its timers. What it
 * says goes to options.on_exception, or else to on_log as DW_LOG_ERROR. With -fno-exceptions there
 * are none. No function of this header throws, except std::bad_alloc before the call was made.
 *
 * TIMES are rounded up to microseconds, so that nothing is early, and a duration that is too long
 * is "never".
 *
 * ERRORS are std::error_code in durawheel::category(); compare them with enum dw_error, or with
 * std::errc where it has the same. */
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
#include "durawheel/testing.h"

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

/* round_up: a duration of any unit as microseconds. */
template <class number, class period>
constexpr dw_usec round_up(const std::chrono::duration<number, period> &time)
{
	using real = std::chrono::duration<double, std::micro>;

	if (real(time).count() >= 9.2e18)
		return DW_NEVER;
	if (real(time).count() <= -9.2e18)
		return -DW_NEVER;
	return std::chrono::ceil<duration>(time).count();
}

/* A duration as an argument, of any unit: 30min, 1500ms, std::chrono::hours(48). */
struct delay {
	template <class number, class period>
	constexpr delay(const std::chrono::duration<number, period> &time) : us(round_up(time))
	{
	}

	dw_usec us;
};

/* A time of the system's clock as an argument. */
struct moment {
	template <class unit>
	constexpr moment(const std::chrono::time_point<std::chrono::system_clock, unit> &time)
	    : us(round_up(time.time_since_epoch()))
	{
	}

	dw_usec us;
};

/* ---- Bytes and text ---------------------------------------------------------------------- */

/* Bytes of somebody else: a text, a std::string, a std::vector or std::array of plain values. */
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

/* A view as the C string of a call. One that is too long, or has a zero inside, is refused by the
 * library: it gets a byte too many, or a control character. */
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

	const char *get() const /* NULL: the view is std::string_view() */
	{
		return given_ ? chars_ : nullptr;
	}

      private:
	bool given_;
	char chars_[most + 2];
};

using id_string = c_string<DW_ID_MAX>;
using topic_string = c_string<DW_TOPIC_MAX>;

} // namespace detail

/* ---- What callbacks get ------------------------------------------------------------------ */

/* What a handler says of its timer. */
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

	static verdict hold() /* settle() answers */
	{
		return {DW_HOLD, -1};
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
	time_point occurrence; /* of a recurring timer; see dw_firing */
	std::uint32_t missed;
	bool last;
};

struct answer {
	explicit answer(const dw_result &r)
	    : error(to_error(r.status)), level(r.level), id(r.id), generation(r.generation),
	      earlier_may_start(r.earlier_may_start != 0)
	{
	}

	std::error_code error;
	dw_level level;
	std::string_view id;
	std::uint64_t generation;
	bool earlier_may_start;
};

/* Timers of get() and list(). */
struct page {
	std::error_code error;
	const dw_info *timers;
	std::size_t count;
	const dw_cursor *next;

	const dw_info *begin() const
	{
		return timers;
	}

	const dw_info *end() const
	{
		return timers + count;
	}
};

using handler = std::function<verdict(const firing &)>;
using batch_handler = std::function<void(dw_batch &)>;
using done_function = std::function<void(const answer &)>;
using page_function = std::function<void(const page &)>;

/* ---- Options ----------------------------------------------------------------------------- */

struct options {
	std::string store;
	std::string name;    /* Redis: the namespace */
	std::string journal; /* Redis: a file for outages, or "" */
	std::function<void(const dw_event &)> on_event;
	std::function<void(dw_log_level, std::string_view)> on_log; /* any thread */
	std::function<void(const dw_firing_done &)> on_firing_done;
	/* An exception has left a callback: of which one, and what it says. Any thread. */
	std::function<void(std::string_view callback, std::string_view what)> on_exception;
	duration close_patience = std::chrono::seconds(5);
	dw_options raw = {}; /* all other fields; size, and those above, are set by open() */
};

/* A timer to put; id std::string_view(): one is made. */
struct timer {
	std::string_view topic;
	std::string_view id = {};
	bytes data = {};
	duration late_after = duration(0);
	bool only_new = false; /* DW_NEW */
	unsigned flags = 0;    /* DW_DUE_EARLIEST, DW_ONCE and so on */
	duration wait_max = duration(0);
	duration keep = duration(0); /* how long its end is remembered */
};

namespace detail
{

struct state;

/* A handler, for as long as it may be called. */
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

	/* run calls function; false: it has thrown, which was told. */
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

	/* quietly: what a hook of last resort throws is lost. */
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

	own->run("on_event", [&] { own->hooks.on_event(*event); });
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

	if (own->owner->run(own->topic.c_str(), [&] { own->fire_batch(*batch); }))
		return;
	for (std::size_t i = 0; i < batch->count; i++) {
		batch->verdicts[i] = DW_RETRY;
		batch->retry_in[i] = -1;
	}
}

/* A callback that is called once. */
template <class function> struct once {
	state *owner;
	function call;

	/* take: the callback that `user` is, to be freed after its call. */
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

inline void on_page(dw *, int status, const dw_info *timers, std::size_t count,
		    const dw_cursor *next, void *user)
{
	auto own = once<page_function>::take(user);

	own->owner->run("the callback of a page", [&] {
		own->call(page{to_error(status), timers, count, next});
	});
}

inline void on_post(dw *, void *user)
{
	auto own = once<std::function<void()>>::take(user);

	own->owner->run("a posted function", [&] { own->call(); });
}

} // namespace detail

/* ---- The handle -------------------------------------------------------------------------- */

class handle
{
      public:
	handle() = default; /* of no store: only open(), close(), get() and bool */
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

	/* open: on failure the handle is empty, and *ret_message, if given, says why in words. */
	[[nodiscard]] static handle open(options given, std::error_code &ret_error,
					 std::string *ret_message = nullptr)
	{
		char message[DW_MESSAGE_SIZE];
		handle opened;
		auto own = std::make_unique<detail::state>();
		dw_options raw = given.raw;

		own->hooks = std::move(given);
		raw.size = sizeof raw;
		raw.store = own->hooks.store.c_str();
		if (!own->hooks.name.empty())
			raw.name = own->hooks.name.c_str();
		if (!own->hooks.journal.empty())
			raw.journal = own->hooks.journal.c_str();
		if (own->hooks.on_event) {
			raw.on_event = detail::on_event;
			raw.on_event_user = own.get();
		}
		if (own->hooks.on_log) {
			raw.on_log = detail::on_log;
			raw.on_log_user = own.get();
		}
		if (own->hooks.on_firing_done) {
			raw.on_firing_done = detail::on_firing_done;
			raw.on_firing_done_user = own.get();
		}
		ret_error = to_error(dw_open(&own->d, &raw, message));
		if (!ret_error)
			opened.state_ = std::move(own);
		else if (ret_message)
			*ret_message = message;
		return opened;
	}

	/* close: after DW_EBUSY and DW_ETHREAD the handle is still open; else it is empty. */
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
		return to_error(dw_on(get(), detail::topic_string(topic).get(), nullptr, nullptr));
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
	std::error_code repeat(const dw_rule &rule, const timer &timer, done_function fn = {})
	{
		return put_with(timer, std::move(fn), [&](auto &raw, auto... done) {
			raw.rule = &rule;
			return dw_put(get(), &raw, done...);
		});
	}

	std::error_code at(moment due, const timer &timer, done_function fn = {})
	{
		return put_with(timer, std::move(fn), [&](auto &raw, auto... done) {
			raw.due = due.us;
			return dw_put(get(), &raw, done...);
		});
	}

	std::error_code cancel(std::string_view id, done_function fn = {})
	{
		return ask(detail::on_done, std::move(fn), [&](auto... done) {
			return dw_cancel(get(), detail::id_string(id).get(), done...);
		});
	}

	std::error_code move(std::string_view id, moment due, done_function fn = {})
	{
		return ask(detail::on_done, std::move(fn), [&](auto... done) {
			return dw_move(get(), detail::id_string(id).get(), due.us, done...);
		});
	}

	std::error_code settle(const dw_token &token, verdict said, done_function fn = {})
	{
		return ask(detail::on_done, std::move(fn), [&](auto... done) {
			return dw_settle(get(), &token, said.value, said.retry_in, done...);
		});
	}

	std::error_code post(std::function<void()> fn)
	{
		return ask(detail::on_post, std::move(fn),
			   [&](auto... call) { return dw_post(get(), call...); });
	}

	/* ---- Looking ---- */

	std::error_code get_timer(std::string_view id, page_function fn)
	{
		return ask(detail::on_page, std::move(fn), [&](auto... call) {
			return dw_get(get(), detail::id_string(id).get(), call...);
		});
	}

	/* list: topic std::string_view(): all. */
	std::error_code list(std::string_view topic, const dw_cursor *after, std::size_t limit,
			     page_function fn)
	{
		return ask(detail::on_page, std::move(fn), [&](auto... call) {
			return dw_list(get(), detail::topic_string(topic).get(), after, limit,
				       call...);
		});
	}

	std::error_code stats(dw_stats &ret_stats) const
	{
		ret_stats.size = sizeof ret_stats;
		return to_error(dw_get_stats(get(), &ret_stats));
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

	/* test_advance lets so much time pass, on a handle with DW_TEST_CLOCK: see testing.h. */
	std::error_code test_advance(delay time)
	{
		return to_error(dw_test_advance(get(), (moment(now() + duration(time.us))).us));
	}

      private:
	/* end: a handle that cannot be closed keeps its memory. */
	void end() noexcept
	{
		if (state_ && close(state_->hooks.close_patience) && state_)
			(void)state_.release();
	}

	/* keep registers a handler, and keeps it if that succeeds. */
	template <class callable>
	std::error_code keep(std::string_view topic, detail::registered fire, callable call)
	{
		if (!state_)
			return DW_EINVAL;
		fire.owner = state_.get();
		fire.topic = topic;
		state_->handlers.push_back(std::make_unique<detail::registered>(std::move(fire)));
		int status = call(state_->d, detail::topic_string(topic).get(), detail::on_firing,
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
			(void)kept.release(); /* the callback frees it, or has */
		return to_error(status);
	}

	template <class callable>
	std::error_code put_with(const timer &timer, done_function fn, callable call)
	{
		detail::id_string id(timer.id);
		detail::topic_string topic(timer.topic);
		dw_timer raw = {};

		raw.size = sizeof raw;
		raw.id = id.get();
		raw.topic = topic.get();
		raw.data = timer.data.data();
		raw.data_size = timer.data.size();
		raw.late_after_us = timer.late_after.count();
		raw.flags = timer.flags | (timer.only_new ? DW_NEW : 0);
		raw.wait_max_us = timer.wait_max.count();
		raw.keep_us = timer.keep.count();
		return ask(detail::on_done, std::move(fn),
			   [&](auto... done) { return call(raw, done...); });
	}

	std::unique_ptr<detail::state> state_;
};

} // namespace durawheel

#endif
