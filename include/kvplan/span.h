/*
 * A range of page numbers, from `first` up to but not including `end`.  In
 * a valid plan first < end.
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
