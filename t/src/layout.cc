/*
 * layout - data of all sorts, each touched by one function alone
 *
 *	layout
 *
 * What touch_X() refers to, besides its own frame, is X: the test knows from
 * the code what each miss has to be on. make_X() allocates it.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <map>
#include <vector>

#define FN extern "C" __attribute__((noinline))
#define COUNT 3000

struct rec {
	long key;
	char room[80];
	struct {
		int low, high;
	} range[2];
};
/*
 * Larger than lines, so that neither what free() and the tree's ++ refer to nor
 * where malloc() begins makes a hit of what is missed here.
 */
struct node {
	node *next;
	long value[13];
};
struct leaf {
	long room[8], value;
};

long table[COUNT];
static rec recs[COUNT];
static __thread long own[COUNT];
static node *list, *reused, *hash_table[256];
static std::vector<long> *vec;
static std::map<long, leaf> *tree;
static char *grown, *parts[COUNT], *zeros;
static volatile long sum;
static char arena[1 << 20];
static size_t used;

FN void
touch_table(void)
{
	for (int i = 0; i < COUNT; i += 8)
		table[i]++;
}

FN void
touch_recs(void)
{
	for (int i = 0; i < COUNT; i++)
		recs[i].range[1].high++;
}

FN void
touch_local(void)
{
	static char here[100000];

	for (size_t i = 0; i < sizeof here; i += 64)
		here[i]++;
}

FN void
touch_own(void)
{
	for (int i = 0; i < COUNT; i += 8)
		own[i]++;
}

FN node *
make_node(node *next)
{
	node *n = (node *)malloc(sizeof *n);

	memset(n, 0, sizeof *n);
	n->next = next;
	return n;
}

FN void
make_list(void)
{
	for (int i = 0; i < COUNT; i++)
		list = make_node(list);
}

FN long
touch_list(node *n)
{
	long s = 0;

	for (; n != NULL; n = n->next)
		s += n->value[4];
	return s;
}

FN void
make_reused(void)
{
	for (int i = 0; i < COUNT; i++)
		reused = make_node(reused);
}

FN void
drop_list(node *n)
{
	node *next;

	for (; n != NULL; n = next) {
		next = n->next;
		free(n);
	}
}

FN void
make_hash(void)
{
	for (int i = 0; i < COUNT; i++)
		hash_table[i * 7 % 256] = make_node(hash_table[i * 7 % 256]);
}

FN long
touch_hash(void)
{
	long s = 0;

	for (int i = 0; i < 256; i++)
		s += touch_list(hash_table[i]);
	return s;
}

FN void
make_vector(void)
{
	vec = new std::vector<long>;
	for (int i = 0; i < COUNT; i++)
		vec->push_back(i);
}

FN long
touch_vector(const long *v)
{
	long s = 0;

	for (int i = 0; i < COUNT; i += 8)
		s += v[i];
	return s;
}

FN void
make_tree(void)
{
	tree = new std::map<long, leaf>;
	for (long i = 0; i < COUNT; i++)
		(*tree)[i * 7919 % 3001].value = i;
}

FN long
touch_tree(std::map<long, leaf>::iterator i)
{
	long s = 0;

	for (int n = 0; n < 200; n++, ++i)
		s += i->second.value;
	return s;
}

FN void
make_grown(void)
{
	for (size_t n = 1000; n < 200000; n *= 2)
		grown = (char *)realloc(grown, n);
}

FN void
touch_grown(char *p)
{
	for (int i = 0; i < 128000; i += 64)
		p[i]++;
}

FN char *
arena_take(size_t n)
{
	char *p = arena + used;

	used += n;
	return p;
}

FN void
make_parts(void)
{
	for (int i = 0; i < COUNT; i++)
		parts[i] = arena_take(100);
}

FN void
touch_parts(char *p)
{
	for (int i = 0; i < COUNT; i++)
		p[i * 100]++;
}

FN void
make_zeros(void)
{
	zeros = (char *)calloc(1000, 100);
}

FN void
touch_stack(void)
{
	volatile char here[60000];

	for (size_t i = 0; i < sizeof here; i += 64)
		here[i] = 1;
}

FN void
touch_caller(char *p)
{
	for (int i = 0; i < 60000; i += 64)
		p[i]++;
}

FN void
caller(void)
{
	char here[60000];

	memset(here, 0, 60);
	touch_caller(here);
	sum = here[0];
}

FN void *
worker(void *arg)
{
	node *mine = NULL;

	for (int i = 0; i < COUNT; i++)
		mine = make_node(mine);
	sum = sum + touch_list(mine);
	touch_own();
	drop_list(mine);
	return arg;
}

FN void
threads(void)
{
	pthread_t t[3];

	for (int i = 0; i < 3; i++)
		pthread_create(&t[i], NULL, worker, NULL);
	for (int i = 0; i < 3; i++)
		pthread_join(t[i], NULL);
}

int
main(void)
{
	free(malloc(1));	/* from here on the thread pointer is known */
	for (int i = 0; i < 2; i++) {
		touch_table();
		touch_recs();
		touch_local();
		touch_own();
	}
	make_list();
	sum = touch_list(list);
	drop_list(list);
	make_reused();
	sum = sum + touch_list(reused);
	make_hash();
	sum = sum + touch_hash();
	make_vector();
	sum = sum + touch_vector(vec->data());
	make_tree();
	sum = sum + touch_tree(tree->begin());
	make_grown();
	touch_grown(grown);
	make_parts();
	touch_parts(parts[0]);
	make_zeros();
	touch_stack();
	caller();
	threads();
	return 0;
}
