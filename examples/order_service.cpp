// An order service on a libuv loop, with three threads: the loop, which fires the timers; a reader
// of orders; and a worker that sends mails.
//
//	order_service [STORE [PATIENCE]]     sqlite:orders.db, 30m
//
// A line of input is "order CUSTOMER" or "pay ORDER". The end of the input ends the service, and a
// later one goes on with the orders. test_order_service.cpp tests the orders without waiting.
#include <iostream>
#include <mutex>
#include <thread>
#include <uv.h>

#include "order_service.hpp"

static void say(const std::string &line)
{
	static std::mutex mutex;
	std::lock_guard<std::mutex> guard(mutex);

	std::cout << line << std::endl;
}

static void read_orders(order_service &orders, uv_loop_t *loop)
{
	std::string line;

	while (std::getline(std::cin, line))
		if (line.compare(0, 6, "order ") == 0)
			orders.order(line.substr(6));
		else if (line.compare(0, 4, "pay ") == 0)
			orders.pay(line.substr(4));
		else
			say("say: order CUSTOMER or pay ORDER");
	orders.timers().post([loop] { uv_stop(loop); });
}

static void turn(uv_poll_t *poll, int, int)
{
	static_cast<order_service *>(poll->data)->timers().turn();
}

static void serve(order_service &orders)
{
	uv_loop_t *loop = uv_default_loop();
	std::thread reader(read_orders, std::ref(orders), loop);
	uv_poll_t poll;

	uv_poll_init(loop, &poll, orders.timers().fd());
	poll.data = &orders;
	uv_poll_start(&poll, UV_READABLE, turn);
	uv_run(loop, UV_RUN_DEFAULT);
	uv_close(reinterpret_cast<uv_handle_t *>(&poll), nullptr);
	uv_run(loop, UV_RUN_DEFAULT);
	reader.join();
	uv_loop_close(loop);
}

int main(int argc, char **argv)
{
	durawheel::options options;
	dw_usec patience = DW_MINUTES(30);

	if (argc > 3 || (argc > 2 && dw_parse_duration(argv[2], &patience) != DW_OK))
		return std::cerr << "usage: order_service [STORE [PATIENCE]]\n", 2;
	options.store = argc > 1 ? argv[1] : "sqlite:orders.db";
	options.name = "orders"; // in Redis
	options.workers = 1;
	options.on_log = [](dw_log_level, std::string_view line) { std::cerr << line << '\n'; };
	order_service orders(options, durawheel::duration(patience), say);
	if (!orders.timers())
		return 1;
	serve(orders);
	return 0;
}
