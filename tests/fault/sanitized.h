/*
 * SANITIZED is defined if a sanitizer is built in that makes everything slow.
 */
#ifndef TESTS_FAULT_SANITIZED_H
#define TESTS_FAULT_SANITIZED_H

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(memory_sanitizer) || \
	__has_feature(thread_sanitizer)
#define SANITIZED 1
#endif
#endif
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED 1
#endif

#endif
