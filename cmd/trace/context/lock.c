/*
 * lock - keep the serving and the formatting thread apart
 */
#include "base/base.h"
#include "context/parts.h"

/* A public function may call another while it has the lock. */
static struct recursive lock;

void
context_lock(void)
{
	recursive_lock(&lock);
}

void
context_unlock(void)
{
	recursive_unlock(&lock);
}
