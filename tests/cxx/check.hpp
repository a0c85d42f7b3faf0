// What the tests of durawheel.hpp share.
#ifndef CHECK_HPP
#define CHECK_HPP

#include "durawheel/durawheel.hpp"

#include <cstdio>
#include <cstdlib>

using namespace std::chrono_literals;

// CHECK ends the program: a test of its own is a process of its own.
#define CHECK(condition)                                                                           \
	do {                                                                                       \
		if (!(condition)) {                                                                \
			std::fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);       \
			std::exit(1);                                                              \
		}                                                                                  \
	} while (0)

// open_test: a store in memory, with a clock that the test moves.
inline durawheel::handle open_test(durawheel::options options = {})
{
	std::error_code error;

	options.store = "memory:";
	options.flags = DW_TEST_CLOCK;
	auto timers = durawheel::handle::open(options, error);
	CHECK(!error && timers);
	return timers;
}

#endif
