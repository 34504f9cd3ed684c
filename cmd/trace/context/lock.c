/*
 * lock - keep the serving and the formatting thread apart
 */
#include <pthread.h>

#include "context/context.h"
#include "context/parts.h"

static pthread_mutex_t lock;

void
context_lock_start(void)
{
	pthread_mutexattr_t attr;

	/* one public function may call another */
	pthread_mutexattr_init(&attr);
	pthread_mutexattr_settype(&attr, PTHREAD_MUTEX_RECURSIVE);
	pthread_mutex_init(&lock, &attr);
	pthread_mutexattr_destroy(&attr);
}

void
context_lock(void)
{
	pthread_mutex_lock(&lock);
}

void
context_unlock(void)
{
	pthread_mutex_unlock(&lock);
}
