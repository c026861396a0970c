/*
 * malloc and its kin as a program's own: they count, and fail when told to.
 * Not where a sanitizer has its own, or without glibc: MALLOC_IS_FIXED.
 */
#ifndef TESTS_FAULT_FAILING_MALLOC_H
#define TESTS_FAULT_FAILING_MALLOC_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

#include "fault/sanitized.h"

#if defined(SANITIZED) || !defined(__GLIBC__)
#define MALLOC_IS_FIXED 1
#else

static struct {
	uint64_t seen;		/* allocations since the last reset */
	uint64_t fail_at;	/* 0: none */
	bool for_ever;
	bool paused;		/* neither count nor fail */
	int64_t live;		/* blocks */
} memory;

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *block, size_t bytes);
void __libc_free(void *block);

static bool fails(void)
{
	if (memory.paused)
		return false;
	memory.seen++;
	if (!memory.fail_at || memory.seen < memory.fail_at ||
	    (memory.seen > memory.fail_at && !memory.for_ever))
		return false;
	errno = ENOMEM;
	return true;
}

static void *counted(void *block)
{
	memory.live += block != NULL;
	return block;
}

void *malloc(size_t bytes)
{
	return fails() ? NULL : counted(__libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes)
{
	return fails() ? NULL : counted(__libc_calloc(count, bytes));
}

void *realloc(void *block, size_t bytes)
{
	if (fails())
		return NULL;
	if (!block)
		return counted(__libc_malloc(bytes));
	if (!bytes)
		memory.live--;
	return __libc_realloc(block, bytes);
}

void free(void *block)
{
	memory.live -= block != NULL;
	__libc_free(block);
}

#endif

#endif
