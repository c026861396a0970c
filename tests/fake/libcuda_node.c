/*
 * The stand-in's node: what all its processes draw on, the table that runs
 * out and the memory of the GPUs, and the memory that they pass each other.
 *
 * As on a GPU, memory that was exported stays taken until the last process
 * with a handle or a mapping of it and the last exported descriptor are gone.
 * What the dead held is given back by the next one that needs it or looks.
 * A descriptor is the node's file opened anew, and its position says which
 * allocation it stands for.
 *
 * There is room for 64 processes and 65,536 such allocations; beyond, calls
 * answer out of memory and say why on stderr.
 */
#define _GNU_SOURCE	/* file locks that belong to an open file */
#include "fake/libcuda.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define SETTING "FAKE_CUDA_NODE"
#define MAGIC "kvplan node 1"
#define HEAD ((size_t)4096)

static struct node *node;	/* NULL: this process is alone */
static struct process alone;
static int file;
static struct stat identity;
static unsigned number;		/* of this process */
/* Handles and mappings of this process, each counted once per handle. */
static uint32_t holds[MAX_ALLOCATIONS];

/* --- who is alive --- */

static off_t place_of(const void *record)
{
	return (const char *)record - (const char *)node;
}

static struct flock first_byte(const void *record, short type)
{
	return (struct flock){ .l_type = type, .l_whence = SEEK_SET,
			       .l_start = place_of(record), .l_len = 1 };
}

/* Does another open file say so? */
static bool is_alive(const void *record)
{
	struct flock l = first_byte(record, F_WRLCK);

	if (fcntl(file, F_OFD_GETLK, &l))
		die(SETTING, strerror(errno));
	return l.l_type != F_UNLCK;
}

static void free_allocation(struct allocation *a)
{
	node->used[a->card] -= a->bytes;
	a->bytes = 0;
	if (--node->alive)
		return;
	/* What was written is forgotten with the last one. */
	node->next = node->top = 0;
	node->granules = 0;
	if (ftruncate(file, (off_t)NODE_BYTES))
		die(SETTING, strerror(errno));
}

/* Give back what nobody holds any more. */
static void sweep(void)
{
	uint64_t gone = 0;
	struct process *p;
	struct allocation *a;
	uint32_t i;

	if (!node)
		return;
	for (i = 0; i < MAX_PROCESSES; i++) {
		p = &node->processes[i];
		if (p->there && i != number && !is_alive(p))
			gone |= UINT64_C(1) << i;
	}
	/* From the top: the last free sets it to 0. */
	for (i = node->top; i--;) {
		a = &node->allocations[i];
		a->holders &= ~gone;
		if (a->bytes && !a->holders && !is_alive(a))
			free_allocation(a);
	}
	for (i = 0; i < MAX_PROCESSES; i++)
		if (gone >> i & 1)
			node->processes[i].there = 0;
}

/* The sums, after a process died while it changed something. */
static void recount(void)
{
	const struct allocation *a;
	uint32_t i;

	memset(node->used, 0, sizeof(node->used));
	node->alive = node->top = 0;
	for (i = 0; i < MAX_ALLOCATIONS; i++) {
		a = &node->allocations[i];
		if (!a->bytes)
			continue;
		node->used[a->card] += a->bytes;
		node->alive++;
		node->top = i + 1;
	}
}

static void lock(void)
{
	int rc = node ? pthread_mutex_lock(&node->lock) : 0;

	if (rc == EOWNERDEAD) {
		recount();
		rc = pthread_mutex_consistent(&node->lock);
	}
	if (rc)
		die(SETTING, strerror(rc));
}

static void unlock(void)
{
	if (node)
		pthread_mutex_unlock(&node->lock);
}

/* --- joining --- */

static void make_lock(void)
{
	pthread_mutexattr_t kind;

	pthread_mutexattr_init(&kind);
	pthread_mutexattr_setpshared(&kind, PTHREAD_PROCESS_SHARED);
	pthread_mutexattr_setrobust(&kind, PTHREAD_MUTEX_ROBUST);
	pthread_mutex_init(&node->lock, &kind);
	pthread_mutexattr_destroy(&kind);
}

/* Whoever comes first makes it, under a lock that goes with its maker. */
static void open_node(const char *path)
{
	file = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (file < 0 || flock(file, LOCK_EX) || fstat(file, &identity) ||
	    (!identity.st_size && ftruncate(file, (off_t)NODE_BYTES)))
		die(SETTING, path);
	node = mmap(NULL, sizeof(*node), PROT_READ | PROT_WRITE, MAP_SHARED,
		    file, 0);
	if (node == MAP_FAILED)
		die(SETTING, strerror(errno));
	if (!*node->magic) {
		make_lock();
		strcpy(node->magic, MAGIC);
	}
	if (strcmp(node->magic, MAGIC))
		die(SETTING " is another file", path);
	flock(file, LOCK_UN);
}

/* The first free record, from now on alive. */
static struct process *take_record(void)
{
	struct process *p;
	struct flock l;
	uint32_t i;

	for (i = 0; i < MAX_PROCESSES; i++) {
		p = &node->processes[i];
		l = first_byte(p, F_WRLCK);
		if (p->there || fcntl(file, F_OFD_SETLK, &l))
			continue;
		number = i;
		*p = (struct process){ .there = 1 };
		return p;
	}
	return NULL;
}

/* This process holds nothing, so others find its record to be free. */
static void leave(void)
{
	if (!node)
		return;
	munmap(node, sizeof(*node));
	close(file);
	node = NULL;
}

CUresult node_join(void)
{
	const char *path = getenv(SETTING);
	struct process *p;

	leave();
	alone = (struct process){ 0 };
	cu.own = &alone;
	if (!path)
		return CUDA_SUCCESS;
	open_node(path);
	number = MAX_PROCESSES;
	lock();
	sweep();
	p = take_record();
	unlock();
	if (p) {
		cu.own = p;
		return CUDA_SUCCESS;
	}
	fprintf(stderr, "stand-in libcuda: " SETTING " has %d processes, and"
		" room for no more\n", MAX_PROCESSES);
	leave();
	return CUDA_ERROR_OUT_OF_MEMORY;
}

uint64_t node_identity(void)
{
	return node ? identity.st_ino : 0;
}

/* --- the table and the memory --- */

static uint64_t entries_held(void)
{
	uint64_t sum = 0;
	uint32_t i;

	if (!node)
		return cu.own->entries;
	for (i = 0; i < MAX_PROCESSES; i++)
		if (node->processes[i].there)
			sum += node->processes[i].entries;
	return sum;
}

static bool entries_fit(uint64_t n)
{
	return cu.entries_used + entries_held() + n <= cu.entries;
}

bool node_take_entries(uint64_t n)
{
	bool fits;

	lock();
	fits = entries_fit(n);
	if (!fits) {
		sweep();
		fits = entries_fit(n);
	}
	if (fits)
		cu.own->entries += n;
	unlock();
	return fits;
}

void node_give_entries(uint64_t n)
{
	lock();
	cu.own->entries -= n;
	unlock();
}

static uint64_t bytes_left(uint32_t card)
{
	uint64_t sum = node ? node->used[card] : cu.own->used[card];
	uint32_t i;

	for (i = 0; node && i < MAX_PROCESSES; i++)
		if (node->processes[i].there)
			sum += node->processes[i].used[card];
	return sum < cu.memory_bytes ? cu.memory_bytes - sum : 0;
}

static bool bytes_fit(uint32_t card, uint64_t bytes, uint64_t keep)
{
	uint64_t left = bytes_left(card);

	if (bytes > left || keep > left - bytes) {
		sweep();
		left = bytes_left(card);
	}
	return bytes <= left && keep <= left - bytes;
}

uint64_t node_left(uint32_t card)
{
	uint64_t left;

	lock();
	sweep();
	left = bytes_left(card);
	unlock();
	return left;
}

bool node_take(uint32_t card, uint64_t bytes, uint64_t keep)
{
	bool fits;

	lock();
	fits = bytes_fit(card, bytes, keep);
	if (fits)
		cu.own->used[card] += bytes;
	unlock();
	return fits;
}

void node_give(uint32_t card, uint64_t bytes)
{
	lock();
	cu.own->used[card] -= bytes;
	unlock();
}

/* --- memory that can be exported --- */

static struct allocation *free_record(void)
{
	struct allocation *a;
	uint32_t i;

	for (i = 0; i < MAX_ALLOCATIONS; i++) {
		a = &node->allocations[node->next++ % MAX_ALLOCATIONS];
		if (!a->bytes)
			return a;
	}
	return NULL;
}

static struct allocation *new_record(void)
{
	struct allocation *a = free_record();

	if (!a) {
		sweep();
		a = free_record();
	}
	if (!a)
		fprintf(stderr, "stand-in libcuda: " SETTING " has %d"
			" allocations, and room for no more\n",
			MAX_ALLOCATIONS);
	return a;
}

bool node_create(uint32_t card, uint64_t bytes, uint32_t *slot)
{
	struct allocation *a = NULL;
	uint32_t i;

	lock();
	if (bytes_fit(card, bytes, cu.keep_bytes))
		a = new_record();
	if (a) {
		i = (uint32_t)(a - node->allocations);
		*a = (struct allocation){
			.bytes = bytes, .holders = UINT64_C(1) << number,
			.first = node->granules, .card = card,
		};
		node->granules += bytes / GRANULE;
		node->used[card] += bytes;
		node->alive++;
		if (node->top <= i)
			node->top = i + 1;
		holds[i] = 1;
		*slot = i + 1;
	}
	unlock();
	return a != NULL;
}

void node_drop(uint32_t slot)
{
	struct allocation *a = &node->allocations[slot - 1];

	lock();
	if (!--holds[slot - 1]) {
		a->holders &= ~(UINT64_C(1) << number);
		if (!a->holders && !is_alive(a))
			free_allocation(a);
	}
	unlock();
}

CUresult node_export(uint32_t slot, int *fd)
{
	const struct allocation *a = &node->allocations[slot - 1];
	struct flock l = first_byte(a, F_RDLCK);
	char path[32];
	int opened;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", file);
	opened = open(path, O_RDONLY | O_CLOEXEC);
	/* Assumed: the driver's answer was not measured. */
	if (opened < 0)
		return CUDA_ERROR_OPERATING_SYSTEM;
	if (fcntl(opened, F_OFD_SETLK, &l) ||
	    lseek(opened, place_of(a), SEEK_SET) < 0)
		die(SETTING, strerror(errno));
	*fd = opened;
	return CUDA_SUCCESS;
}

const struct allocation *node_import(int fd, uint32_t *slot)
{
	off_t at = (off_t)offsetof(struct node, allocations);
	struct allocation *a = NULL;
	struct stat s;
	uint64_t i;

	if (fstat(fd, &s) || s.st_dev != identity.st_dev ||
	    s.st_ino != identity.st_ino)
		return NULL;
	i = (uint64_t)(lseek(fd, 0, SEEK_CUR) - at) / sizeof(*a);
	lock();
	/* An exported descriptor keeps its allocation. */
	if (i < MAX_ALLOCATIONS && node->allocations[i].bytes) {
		a = &node->allocations[i];
		a->holders |= UINT64_C(1) << number;
		holds[i]++;
		*slot = (uint32_t)i + 1;
	}
	unlock();
	return a;
}

/* --- what it holds --- */

static struct record record;
static struct granule opened;

static off_t record_at(uint32_t slot, uint64_t i)
{
	return (off_t)(NODE_BYTES +
		       (node->allocations[slot - 1].first + i) * GRANULE);
}

/* What a process left that died while it wrote is as good as junk. */
static bool makes_sense(void)
{
	uint64_t i;

	if (record.count > MAX_RUNS)
		return false;
	for (i = 1; i < record.count; i++)
		if (record.runs[i - 1].end >= record.runs[i].end)
			return false;
	return !record.count || record.runs[i - 1].end == GRANULE;
}

struct granule *granule_open(uint32_t slot, uint64_t i)
{
	off_t at = record_at(slot, i);
	size_t bytes;

	lock();
	record.count = 0;	/* beyond the file's end */
	if (pread(file, &record, HEAD, at) < 0)
		die(SETTING, strerror(errno));
	bytes = sizeof(record.count) + record.count * sizeof(struct run);
	if (bytes > HEAD && record.count <= MAX_RUNS &&
	    pread(file, (char *)&record + HEAD, bytes - HEAD,
		  at + (off_t)HEAD) < 0)
		die(SETTING, strerror(errno));
	if (!makes_sense())
		record.count = 0;
	/* A write adds three at most. */
	if (record.count + 3 > MAX_RUNS)
		die(SETTING, "too many patterns in 2 MiB");
	opened = (struct granule){ record.runs, (uint32_t)record.count,
				   (uint32_t)MAX_RUNS };
	return &opened;
}

void granule_close(uint32_t slot, uint64_t i, bool changed)
{
	size_t bytes = sizeof(record.count) +
		       opened.count * sizeof(struct run);

	record.count = opened.count;
	if (changed && pwrite(file, &record, bytes, record_at(slot, i)) !=
		       (ssize_t)bytes)
		die(SETTING, "the file cannot grow");
	unlock();
}

void node_report(FILE *out)
{
	unsigned processes = 0;
	uint32_t i;

	if (!node)
		return;
	lock();
	sweep();
	for (i = 0; i < MAX_PROCESSES; i++)
		processes += node->processes[i].there != 0;
	fprintf(out, "\"node\":{\"processes\":%u,\"entries\":%" PRIu64
		",\"allocations\":%" PRIu32 "},", processes, entries_held(),
		node->alive);
	unlock();
}
