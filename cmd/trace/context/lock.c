/*
 * lock - keep the serving and the formatting thread apart
 */
#include <pthread.h>

#include "context/context.h"
#include "context/parts.h"

/* A public function may call another while it has the lock. */
static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

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
