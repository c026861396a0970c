/*
 * The version, which the Makefile defines.
 */
#ifndef KVPLAN_BASE_VERSION_H
#define KVPLAN_BASE_VERSION_H

#ifndef KVP_VERSION
#define KVP_VERSION "unknown"
#endif

static inline const char *version_text(void)
{
	return KVP_VERSION;
}

#endif
