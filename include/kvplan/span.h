/*
 * A half-open range of page numbers, [first, end).  first < end always.
 */
#ifndef KVPLAN_SPAN_H
#define KVPLAN_SPAN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct kvp_span {
	uint64_t first;
	uint64_t end;
};

#ifdef __cplusplus
}
#endif

#endif
