/*
 * lock - keep the serving and the formatting thread apart
 */
#include <pthread.h>

#include "base/base.h"
#include "context/parts.h"

static pthread_mutex_t lock;

/* A public function may call another while it has the lock. */
static void
make_lock(void)
{
	recursive_init(&lock);
}

void
context_lock(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;

	pthread_once(&once, make_lock);
	pthread_mutex_lock(&lock);
}

void
context_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
