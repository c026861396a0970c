/*
 * The version, given by the build.
 */
#ifndef KVPLAN_BASE_VERSION_H
#define KVPLAN_BASE_VERSION_H

#ifndef KVP_VERSION
#define KVP_VERSION "unknown"
#endif

#endif
