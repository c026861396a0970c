/*
 * kvplan: plans, proves and realizes the physical memory layout of LLM KV
 * caches.  This header includes every other one.
 *
 *   geometry.h     the input: pages, rows, planes, ranks, access
 *   plan_make.h    makes a plan from a geometry
 *   plan.h         the output: the chunk map and a summary of it
 *   verify.h       checks a plan, independently of the planner
 *   limits.h       what a node can do, as measured
 *   probe.h        measures the limits of a node's GPUs
 *   backend.h      the driver calls that realizing needs
 *   realize.h      maps a verified plan on a backend
 *   import.h       makes a geometry from a model's config.json
 *   size.h         computes pages and rows from free memory
 *   headroom.h     computes the cap of an allocation cache
 *   alloc_cache.h  an allocation cache that keeps to that cap
 *   addresses.h    the addresses of an earlier realization
 *   capacity.h     joins the capacities of several processes
 *   owners.h       which pages and rows are in use at run time
 *
 * Thread safety: the library has no state of its own.  It does not change
 * the state of the process: umask, working directory, locale, environment,
 * signals.  Calls on different objects may run at the same time; one object
 * must not be changed while another call uses it.
 *
 * Misuse: an argument whose value is not valid (an enum value that is not
 * declared, a rank or plane that does not exist) gives an error code, or 0
 * or "?" from a function that returns no code; each header says which.  A
 * NULL pointer where NULL is not allowed, and calls in the wrong order (such
 * as a call on an object that was freed), are assertion failures or
 * undefined behaviour.
 */
#ifndef KVPLAN_KVPLAN_H
#define KVPLAN_KVPLAN_H

#include <kvplan/addresses.h>
#include <kvplan/alloc_cache.h>
#include <kvplan/backend.h>
#include <kvplan/capacity.h>
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
#include <kvplan/share.h>
#include <kvplan/size.h>
#include <kvplan/span.h>
#include <kvplan/verify.h>

#endif
