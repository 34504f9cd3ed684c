/*
 * ins-cxx - C++ exceptions: thrown through many frames, of virtual calls and
 * by function pointers, rethrown, from a thread, in destructors' company
 *
 * With an argument there is no thread, so that two runs do all in one order.
 */
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "victim.h"

namespace {

int alive;

struct counted {
	counted() { alive++; }
	~counted() { alive--; }
};

struct base {
	virtual ~base() {}
	virtual int go(int n) = 0;
};

struct thrower : base {
	int go(int n) override
	{
		counted c;

		if (n == 0)
			throw std::runtime_error("deep");
		return go(n - 1) + 1;
	}
};

struct catcher : base {
	thrower t;
	int go(int n) override
	{
		try {
			counted c;

			return t.go(n);
		} catch (const std::runtime_error &e) {
			if (n % 2)
				throw std::string(e.what());
			throw;
		}
	}
};

int
caught(base *b, int n)
{
	try {
		b->go(n);
	} catch (const std::string &s) {
		return s == "deep" ? 1 : -1;
	} catch (const std::exception &) {
		return 2;
	}
	return 0;
}

} // namespace

int
main(int argc, char **)
{
	catcher c;
	int in_thread = argc > 1;

	for (int i = 0; i < 300; i++) {
		SAME(caught(&c, i % 50), i % 2 ? 1 : 2);
		SAME(alive, 0);
	}
	if (argc == 1)
		std::thread([&] { in_thread = caught(&c, 33); }).join();
	SAME(in_thread, 1);
	try {
		std::vector<int> v(3);

		v.at(10) = 1;
		CHECK(!"no exception");
	} catch (const std::out_of_range &) {
	}
	return victim_ok();
}
