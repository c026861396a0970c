/*
 * kvplan: plans, proves and realizes the physical memory layout of LLM KV
 * caches.  This header includes every other one.
 *
 *   geometry.h   the input: pages, rows, planes, ranks, access
 *   pack.h       geometry -> plan
 *   plan.h       the output: the chunk map and what it states
 *   verify.h     plan -> verdict, worked out apart from the planner
 *   limits.h     what a node can really do, which plans are judged by
 *   probe.h      GPUs -> limits
 *   realize.h    verified plan -> mappings, on a backend of backend.h
 *   import.h     a model's config.json -> geometry, still to be sized
 *   size.h       free memory -> pages and rows
 *   headroom.h   what is left -> the cap of what caches in it
 *   alloc_cache.h  a cache under that cap
 *   addresses.h  where an earlier realization lay, for the next one
 *   owners.h     who holds which page and row at run time
 *
 * Thread safety: the library has no state of its own and leaves that of the
 * process alone: umask, working directory, locale, environment, signals.
 * Calls on different objects may run at the same time; one object must not
 * be changed while it is used.
 *
 * Misuse: a value that is none, such as an enum's, a rank or a plane that is
 * not there, is answered with an error code, or with 0 or "?" by functions
 * that have no code; each header says so.  NULL where none is allowed and
 * calls in the wrong order, such as on an object that was freed, are
 * assertions or undefined.
 */
#ifndef KVPLAN_KVPLAN_H
#define KVPLAN_KVPLAN_H

#include <kvplan/addresses.h>
#include <kvplan/alloc_cache.h>
#include <kvplan/backend.h>
#include <kvplan/error.h>
#include <kvplan/geometry.h>
#include <kvplan/headroom.h>
#include <kvplan/import.h>
#include <kvplan/limits.h>
#include <kvplan/owners.h>
#include <kvplan/plan_make.h>
#include <kvplan/plan.h>
#include <kvplan/probe.h>
#include <kvplan/realize.h>
#include <kvplan/size.h>
#include <kvplan/span.h>
#include <kvplan/verify.h>

#endif
