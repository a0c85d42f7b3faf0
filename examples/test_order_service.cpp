// The orders of order_service.hpp, tested on a clock that the test moves.
#include <iostream>
#include <string>
#include <vector>

#include "order_service.hpp"

using namespace std::chrono_literals;

static int failed;

struct test {
	test()
	{
		durawheel::options options;

		options.store = "memory:";
		options.flags = DW_TEST_CLOCK;
		options.workers = 1;
		orders = std::make_unique<order_service>(
		    options, 30min, [this](const std::string &line) { said.push_back(line); });
	}

	// pass lets time pass, and compares what was said on the way.
	void pass(durawheel::delay time, const std::vector<std::string> &expected)
	{
		orders->timers().test_advance(time);
		for (const std::string &line : said)
			std::cout << orders->timers().now().time_since_epoch() / 1min << ' ' << line
				  << '\n';
		if (said != expected)
			failed = 1, std::cout << "that was not expected\n";
		said.clear();
	}

	// order returns the id of a new order.
	std::string order()
	{
		orders->order("Ada");
		orders->timers().test_advance(0s);
		std::string id = said.empty() ? "" : said[0].substr(0, said[0].find(':'));
		pass(0s, {id + ": waits for the payment"});
		return id;
	}

	std::vector<std::string> said;
	std::unique_ptr<order_service> orders;
};

int main()
{
	test unpaid;
	std::string id = unpaid.order();
	unpaid.pass(15min - 1us, {});
	unpaid.pass(1us, {"mail:" + id + " (Ada): please pay"});
	unpaid.pass(15min - 1us, {});
	unpaid.pass(1us, {id + " (Ada): not paid in time, cancelled"});
	unpaid.orders->pay(id);
	unpaid.pass(1h, {id + ": money back"});

	test paid;
	id = paid.order();
	paid.pass(10min, {});
	paid.orders->pay(id);
	paid.pass(24h, {id + ": paid"});

	std::cout << (failed ? "FAILED" : "ok") << '\n';
	return failed;
}
