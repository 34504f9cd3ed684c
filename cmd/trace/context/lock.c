/*
 * lock - keep the serving and the formatting thread apart
 */
#include <pthread.h>

#include "context/context.h"
#include "context/parts.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

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
