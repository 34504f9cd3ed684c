/*
 * recursive - locks that their holder may take again
 */
#include "base/base.h"

static void
make(struct recursive *r)
{
	static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutexattr_t attr;

	pthread_mutex_lock(&making);
	if (!__atomic_load_n(&r->is_made, __ATOMIC_RELAXED)) {
		pthread_mutexattr_init(&attr);
		pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
		pthread_mutex_init(&r->lock, &attr);
		pthread_mutexattr_destroy(&attr);
		__atomic_store_n(&r->is_made, true, __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&making);
}

void
recursive_lock(struct recursive *r)
{
	if (!__atomic_load_n(&r->is_made, __ATOMIC_ACQUIRE))
		make(r);
	pthread_mutex_lock(&r->lock);
}

void
recursive_unlock(struct recursive *r)
{
	pthread_mutex_unlock(&r->lock);
}
