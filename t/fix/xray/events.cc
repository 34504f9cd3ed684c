// Custom and typed events, in a file of their own: clang 14 cannot make their
// sleds from optimised code, and wants an aligned stack.
#include <string.h>

#define TRACED [[clang::xray_always_instrument]] __attribute__((noinline))

void events(int), typed(int);

TRACED void events(int n)
{
	char text[40];

	for (int i = 0; i < n; i++) {
		memset(text, 'a' + i % 26, sizeof text);
		text[0] = (char)i;
		text[1] = '\\';
		__xray_customevent(text, 1 + i % 39);
	}
}

TRACED void typed(int n)
{
	char text[40];

	for (int i = 0; i < n; i++) {
		memset(text, 'A' + i % 26, sizeof text);
		__xray_typedevent(40 + i, text, 1 + i % 39);
	}
}
