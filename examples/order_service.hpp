// Orders that are cancelled unless their customers pay in time. Halfway through, a customer gets a
// mail. The orders are durawheel's timers and nothing else: they survive a kill of the program.
#ifndef ORDER_SERVICE_HPP
#define ORDER_SERVICE_HPP

#include <durawheel/durawheel.hpp>

class order_service
{
      public:
	using say_function = std::function<void(const std::string &line)>; // any thread

	order_service(durawheel::options options, durawheel::duration patience, say_function say)
	    : patience_(patience), say_(std::move(say))
	{
		std::error_code error;
		std::string message;

		timers_ = durawheel::handle::open(std::move(options), error, &message);
		if (error)
			say_("no orders: " + message);
		// Both may run twice for one order, after a crash in between: they must do no harm.
		timers_.on("order.timeout", [this](const durawheel::firing &order) {
			say_(about(order) + "not paid in time, cancelled");
			return durawheel::verdict::done();
		});
		timers_.on_worker("order.mail", [this](const durawheel::firing &mail) {
			say_(about(mail) + "please pay"); // a mail server may be slow
			return durawheel::verdict::done();
		});
	}

	// order takes an order. Any thread.
	void order(const std::string &customer)
	{
		std::string id;
		auto error = timers_.after(
		    patience_, {"order.timeout", {}, customer},
		    [this](const durawheel::answer &order) {
			    say_(std::string(order.id) + ": " +
				 (order.error ? order.error.message() : "waits for the payment"));
		    },
		    &id);

		if (error)
			say_(customer + ": " + error.message());
		else
			timers_.after(patience_ / 2, {"order.mail", "mail:" + id, customer});
	}

	// pay pays an order, unless it is too late. Any thread.
	void pay(const std::string &id)
	{
		const std::string both[] = {id, "mail:" + id}; // the mail may have been sent

		timers_.cancel_many(both, [this](const durawheel::answers &cancelled) {
			auto order = cancelled[0];
			bool late = order.error == DW_ENOENT || order.error == DW_ELATE;

			say_(std::string(order.id) +
			     (!order.error ? ": paid"
			      : late       ? ": money back"
					   : ": ask again, " + order.error.message()));
		});
	}

	durawheel::handle &timers()
	{
		return timers_;
	}

      private:
	static std::string about(const durawheel::firing &order)
	{
		return std::string(order.id) + " (" + std::string(order.data.text()) + "): ";
	}

	durawheel::duration patience_;
	say_function say_;
	durawheel::handle timers_; // last: its handlers use the others
};

#endif
