// throw - exceptions through several functions, caught, rethrown, and not
// matched; virtual functions, templates, destructors
#include <algorithm>
#include <cstdio>
#include <map>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#define FN __attribute__((noinline))

struct Base {
	virtual int value(int) = 0;
	virtual ~Base() {}
};

struct Thrower : Base {
	int value(int x) override
	{
		if (x % 7 == 0)
			throw std::runtime_error("seven");
		return x;
	}
};

struct Doubler : Base {
	int value(int x) override { return x * 2; }
};

FN static int
inner(Base *b, int i)
{
	std::string s("to be destroyed on the way out, and not a short one");

	return b->value(i) + (int)s.size();
}

FN static int
middle(Base *b, int i)
{
	std::vector<int> v(10, i);

	return inner(b, i) + v[3];
}

FN static int
other(Base *b, int i)
{
	try {
		return middle(b, i);
	} catch (const std::logic_error &) {
		return -1;
	}
}

FN static int
again(Base *b, int i)
{
	try {
		return other(b, i);
	} catch (...) {
		if (i % 2)
			throw;
		return 1000;
	}
}

int
main()
{
	std::unique_ptr<Base> v[2] = { std::make_unique<Thrower>(),
	    std::make_unique<Doubler>() };
	std::map<std::string, int> count;
	std::vector<int> w;
	long sum = 0;

	for (int i = 0; i < 100; i++)
		try {
			sum += again(v[i & 1 ? 0 : i % 3 == 0].get(), i);
		} catch (std::exception &e) {
			sum += 7;
			count[e.what()]++;
		}
	for (int i = 0; i < 100; i++)
		w.push_back(i * 31 % 97);
	std::sort(w.begin(), w.end());
	std::printf("%ld %d %d\n", sum, count["seven"], w[50]);
}
