/*
 * The kernel's limits and errors, for the host backend.
 */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE		/* MAP_ANONYMOUS */
#endif

#include "backend/host.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/error.h"
#include "base/u64.h"

/* ENOMEM with fewer maps left than this is taken to mean: no map left. */
#define MAPS_NEAR 64

/* Maps of a device in addition to its mappings and reservations. */
#define DEVICE_MAPS 2

/* Descriptors that a process has open in addition to those of its devices. */
#define OTHER_DESCRIPTORS 16

/* Replacing the middle of a map takes two more maps until it is done. */
#define SPARE_MAPS 8

bool host_read_number(const char *path, const char *key, uint64_t *value)
{
	FILE *file = fopen(path, "re");
	char line[256];
	bool found = false;

	while (file && !found && fgets(line, sizeof(line), file))
		found = !strncmp(line, key, strlen(key)) &&
			sscanf(line + strlen(key), "%" SCNu64, value) == 1;
	if (file)
		fclose(file);
	return found;
}

uint64_t host_maps_limit(void)
{
	uint64_t limit;

	return host_read_number("/proc/sys/vm/max_map_count", "", &limit) ?
		       limit :
		       UINT64_MAX;
}

uint64_t host_maps_used(void)
{
	int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	char text[16384];
	uint64_t lines = 0;
	ssize_t got, i;

	if (fd < 0)
		return 0;
	while ((got = read(fd, text, sizeof(text))) > 0 ||
	       (got < 0 && errno == EINTR))
		for (i = 0; i < got; i++)
			lines += text[i] == '\n';
	close(fd);
	return lines;
}

/*
 * The kernel needs a map for every mapping and about one for the unmapped
 * rest of every reservation, and a memfd for every device.
 */
int host_process(struct kvp_backend *b, const struct kvp_demand *demand,
		 struct kvp_process *process, struct kvp_error *err)
{
	struct rlimit files;
	bool known = !getrlimit(RLIMIT_NOFILE, &files);

	(void)b;
	(void)err;
	process->maps.need = demand->mappings + demand->reservations +
			     DEVICE_MAPS * (uint64_t)demand->devices +
			     host_maps_used();
	process->maps.limit = host_maps_limit();
	process->descriptors.need =
		u64_add_capped((uint64_t)demand->devices + OTHER_DESCRIPTORS,
			       demand->descriptors);
	process->descriptors.limit = known ? files.rlim_cur : UINT64_MAX;
	return KVP_OK;
}

/* Every other page has another protection, so that no two maps are joined. */
void *host_spare_make(void)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	char *spare = mmap(NULL, SPARE_MAPS * page, PROT_NONE,
			   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	size_t i;

	if (spare == MAP_FAILED)
		return NULL;
	for (i = 1; i < SPARE_MAPS; i += 2)
		if (mprotect(spare + i * page, page, PROT_READ))
			break;
	return spare;
}

void host_spare_free(void *spare)
{
	if (spare)
		munmap(spare, SPARE_MAPS * (size_t)sysconf(_SC_PAGESIZE));
}

int host_refuse(struct kvp_error *err, const char *call, uint64_t address,
		uint64_t bytes, const char *why)
{
	return kvp_error_set(err, KVP_EDRIVER,
			     "%s: %llu bytes at 0x%llx: %s",
			     call, (ull)bytes, (ull)address, why);
}

int host_fail_call(struct kvp_error *err, const char *call, const char *sys,
		   uint64_t address, uint64_t bytes)
{
	int number = errno;
	uint64_t limit, used;
	struct kvp_error full;

	(void)kvp_error_set(&full, KVP_EDRIVER,
			    "%s: %s of %llu bytes at 0x%llx"
			    ": %s", call, sys, (ull)bytes, (ull)address,
			    system_text(number).text);
	if (number != ENOMEM)
		return kvp_error_set(err, KVP_EDRIVER, "%s", full.text);
	limit = host_maps_limit();
	used = host_maps_used();
	if (used < limit && limit - used > MAPS_NEAR)
		return kvp_error_set(err, KVP_EEXHAUSTED, "%s", full.text);
	return kvp_error_set(err, KVP_EEXHAUSTED,
			     "%s; the process has %llu memory maps and"
			     " vm.max_map_count is %llu: raise it with"
			     " sysctl", full.text, (ull)used, (ull)limit);
}
