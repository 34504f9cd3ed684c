/* tree.c - a small program with inlined calls, some of them from tree.h */
#include "tree.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct node {
	struct node *left, *right;
	int key;
};

static inline __attribute__((always_inline)) int
less(const struct node *n, int key)
{
	return n->key < key;
}

static inline __attribute__((always_inline)) struct node **
side(struct node *n, int key)
{
	if (less(n, key))
		return &n->right;
	return &n->left;
}

__attribute__((noinline)) static void
insert(struct node **n, int key)
{
	while (*n != NULL)
		n = side(*n, key);
	*n = calloc(1, sizeof **n);
	if (*n == NULL)
		abort();
	(*n)->key = key;
}

__attribute__((noinline)) static int
depth(const struct node *n)
{
	int l, r;

	if (n == NULL)
		return 0;
	l = depth(n->left);
	r = depth(n->right);
	return 1 + (l > r ? l : r);
}

int
main(int argc, char **argv)
{
	struct node *root = NULL;
	int i, n = argc > 1 ? atoi(argv[1]) : 1000;

	for (i = 0; i < n; i++)
		insert(&root, mix(i * 7919 % 4093));
	printf("%d\n", depth(root));
	return 0;
}
