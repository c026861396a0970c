/*
 * The stand-in driver in several processes: one table, one memory, handles
 * that go from one to the other, and what is given back when a process ends,
 * however it does.
 *
 * Puppets are children that do one call after the other, as they are told.
 */
#define _GNU_SOURCE	/* memfd_create */
#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdint.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "backend/cuda_api.h"
#include "fake/libcuda_node.h"
#include "fault/standin.h"

static int passed, failed;
static const char *scene;

#ifdef KVP_HAVE_CUDA

#define ENTRIES 1000
#define CHUNKS 1024
#define MIB (UINT64_C(1) << 20)
#define HUNG 60	/* seconds */
#define POSIX CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR

enum word {
	INIT,		/* with GPU number a current */
	CREATE,		/* chunk a, exportable where b: GPU is the current */
	RELEASE, MAP, UNMAP, GRANT,	/* chunk a, on its own address */
	TAKE,		/* map chunk 0 a times more; how often it went */
	GIVE,		/* unmap a of them */
	FILL,		/* create until none is left; how many went */
	WRITE, READ,	/* word b of chunk a; it gets a + b */
	EXPORT,		/* chunk a as type b; the answer brings it */
	IMPORT,		/* the descriptor that comes along, as chunk a */
	LEFT,		/* free MiB */
	UUID, FILES, BREAK, DEVICES, END,
};

struct message {
	uint64_t word, a, b;
};

/* --- messages, with a descriptor or without --- */

static void send_message(int sock, struct message m, int fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} with = { .header = { .cmsg_level = SOL_SOCKET,
			       .cmsg_type = SCM_RIGHTS,
			       .cmsg_len = CMSG_LEN(sizeof(int)) } };
	struct iovec part = { &m, sizeof(m) };
	struct msghdr all = { .msg_iov = &part, .msg_iovlen = 1 };

	if (fd >= 0) {
		memcpy(CMSG_DATA(&with.header), &fd, sizeof(fd));
		all.msg_control = &with;
		all.msg_controllen = sizeof(with);
	}
	(void)!sendmsg(sock, &all, MSG_NOSIGNAL);
}

/* False where the other side has ended. */
static bool receive_message(int sock, struct message *m, int *fd)
{
	union {
		struct cmsghdr header;
		char room[CMSG_SPACE(sizeof(int))];
	} with;
	struct iovec part = { m, sizeof(*m) };
	struct msghdr all = { .msg_iov = &part, .msg_iovlen = 1,
			      .msg_control = &with,
			      .msg_controllen = sizeof(with) };

	*fd = -1;
	if (recvmsg(sock, &all, MSG_CMSG_CLOEXEC) != sizeof(*m))
		return false;
	if (all.msg_controllen)
		memcpy(fd, CMSG_DATA(&with.header), sizeof(*fd));
	return true;
}

/* --- in a puppet --- */

static struct cuda_api cuda;
static PFN_cuMemExportToShareableHandle_v10020 export_handle;
static PFN_cuMemImportFromShareableHandle_v10020 import_handle;
static CUmemGenericAllocationHandle chunks[CHUNKS];
static CUdeviceptr base, taken_base;
static uint64_t taken;
static int current;
static CUstream stream;

static CUresult init(int device)
{
	struct kvp_error err;
	CUcontext context;
	CUresult rc;

	if (cuda_api_load(&cuda, &err)) {
		puts(err.text);
		return CUDA_ERROR_NOT_FOUND;
	}
	*(void **)&export_handle = dlsym(standin.library,
					 "cuMemExportToShareableHandle");
	*(void **)&import_handle = dlsym(standin.library,
					 "cuMemImportFromShareableHandle");
	current = device;
	rc = cuda.Init(0);
	if (!rc)
		rc = cuda.DevicePrimaryCtxRetain(&context, device);
	if (!rc)
		rc = cuda.CtxPushCurrent(context);
	if (!rc)
		rc = cuda.StreamCreate(&stream, CU_STREAM_NON_BLOCKING);
	if (!rc)
		rc = cuda.MemAddressReserve(&base, CHUNKS * GRANULE, 0, 0, 0);
	if (!rc)
		rc = cuda.MemAddressReserve(&taken_base, CHUNKS * GRANULE, 0,
					    0, 0);
	return rc;
}

static CUresult make_chunk(uint64_t i, bool exportable)
{
	CUmemAllocationProp prop = {
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, current },
	};

	if (exportable)
		prop.requestedHandleTypes = POSIX;
	return cuda.MemCreate(&chunks[i], GRANULE, &prop, 0);
}

static CUresult grant(CUdeviceptr at)
{
	CUmemAccessDesc to = {
		.location = { CU_MEM_LOCATION_TYPE_DEVICE, current },
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};

	return cuda.MemSetAccess(at, GRANULE, &to, 1);
}

/* Until the table is full; a mapping without a grant takes no entry. */
static uint64_t take(uint64_t want)
{
	uint64_t n;
	CUdeviceptr at;

	for (n = 0; n < want; n++) {
		at = taken_base + taken * GRANULE;
		if (cuda.MemMap(at, GRANULE, 0, chunks[0], 0))
			return UINT64_MAX;
		if (grant(at)) {
			cuda.MemUnmap(at, GRANULE);
			return n;
		}
		taken++;
	}
	return n;
}

static uint64_t fill(void)
{
	uint64_t n = 0;

	while (!make_chunk(0, true))
		n++;
	return n;
}

static uint32_t read_word(uint64_t i, uint64_t word)
{
	uint32_t value = 0;

	if (cuda.MemcpyDtoHAsync(&value, base + i * GRANULE + 4 * word, 4,
				 stream) ||
	    cuda.StreamSynchronize(stream))
		return 1;
	return value;
}

static CUresult write_word(uint64_t i, uint64_t word)
{
	CUresult rc = cuda.MemsetD32Async(base + i * GRANULE + 4 * word,
					  (uint32_t)(i + word), 1, stream);

	return rc ? rc : cuda.StreamSynchronize(stream);
}

/* Die with the lock, the sums and the first granule half written. */
static void break_node(void)
{
	static const struct record half = { .count = 3 };
	int fd = open(getenv("FAKE_CUDA_NODE"), O_RDWR | O_CLOEXEC);
	struct node *node = mmap(NULL, sizeof(*node), PROT_READ | PROT_WRITE,
				 MAP_SHARED, fd, 0);

	pthread_mutex_lock(&node->lock);
	node->used[0] += 64 * GRANULE;
	node->alive = 7;
	node->top = 0;
	(void)!pwrite(fd, &half, 32, NODE_BYTES);
	kill(getpid(), SIGKILL);
}

static uint64_t count_files(void)
{
	uint64_t n = 0;
	int i;

	for (i = 0; i < 1024; i++)
		n += fcntl(i, F_GETFD) != -1;
	return n;
}

/* The last byte tells a node's GPUs apart, those before it nodes. */
static uint64_t uuid_of(uint64_t device)
{
	CUuuid uuid = { 0 };
	uint64_t sum = 0;
	size_t i;

	cuda.DeviceGetUuid(&uuid, (CUdevice)device);
	for (i = 0; i < sizeof(uuid.bytes); i++)
		sum = sum * 31 + (unsigned char)uuid.bytes[i];
	return sum;
}

static uint64_t left(void)
{
	size_t available = 0, total;

	cuda.MemGetInfo(&available, &total);
	return available / MIB;
}

static uint64_t devices(void)
{
	int n = 0;

	cuda.DeviceGetCount(&n);
	return (uint64_t)n;
}

static uint64_t import_chunk(uint64_t i, int fd)
{
	CUresult rc = import_handle(&chunks[i], (void *)(intptr_t)fd, POSIX);

	close(fd);
	return rc;
}

static uint64_t obey(struct message m, int fd, int *out)
{
	CUdeviceptr at = base + m.a * GRANULE;

	switch ((enum word)m.word) {
	case INIT:
		return init((int)m.a);
	case CREATE:
		return make_chunk(m.a, m.b);
	case RELEASE:
		return cuda.MemRelease(chunks[m.a]);
	case MAP:
		return cuda.MemMap(at, m.b ? m.b : GRANULE, 0, chunks[m.a], 0);
	case UNMAP:
		return cuda.MemUnmap(at, GRANULE);
	case GRANT:
		return grant(at);
	case TAKE:
		return take(m.a);
	case GIVE:
		taken -= m.a;
		return cuda.MemUnmap(taken_base + taken * GRANULE,
				     m.a * GRANULE);
	case FILL:
		return fill();
	case WRITE:
		return write_word(m.a, m.b);
	case READ:
		return read_word(m.a, m.b);
	case EXPORT:
		return export_handle(out, chunks[m.a],
				     (CUmemAllocationHandleType)m.b, 0);
	case IMPORT:
		return import_chunk(m.a, fd);
	case LEFT:
		return left();
	case UUID:
		return uuid_of(m.a);
	case FILES:
		return count_files();
	case BREAK:
		break_node();
		return 0;
	case DEVICES:
		return devices();
	case END:
		exit(0);
	}
	return UINT64_MAX;
}

static void dance(int sock)
{
	struct message m;
	int in, out;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	while (receive_message(sock, &m, &in)) {
		out = -1;
		m.a = obey(m, in, &out);
		m.b = out >= 0 ? (uint64_t)fcntl(out, F_GETFD) : 0;
		send_message(sock, m, out);
		if (out >= 0)
			close(out);
	}
	_exit(0);
}

/* --- the hands --- */

struct puppet {
	pid_t pid;
	int sock;
};

static void same(uint64_t seen, uint64_t expected, const char *format, ...)
{
	va_list args;

	passed += seen == expected;
	if (seen == expected)
		return;
	failed++;
	printf("FAIL shared_node, %s: ", scene);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf(" is %llu, not %llu\n", (unsigned long long)seen,
	       (unsigned long long)expected);
}

static struct puppet make_puppet(void)
{
	struct puppet p;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair))
		abort();
	fflush(stdout);
	p.pid = fork();
	if (p.pid < 0)
		abort();
	if (!p.pid) {
		close(pair[0]);
		dance(pair[1]);
	}
	close(pair[1]);
	p.sock = pair[0];
	return p;
}

/* UINT64_MAX where the puppet has ended. */
static uint64_t ask_with(struct puppet p, enum word word, uint64_t a,
			 uint64_t b, int in, int *out)
{
	struct message m = { word, a, b };
	int got;

	send_message(p.sock, m, in);
	if (!receive_message(p.sock, &m, &got))
		return UINT64_MAX;
	/* Close-on-exec in the puppet as well. */
	if (got >= 0)
		same(m.b, FD_CLOEXEC, "an exported descriptor's flag");
	if (out)
		*out = got;
	else if (got >= 0)
		close(got);
	return m.a;
}

static uint64_t ask(struct puppet p, enum word word, uint64_t a, uint64_t b)
{
	return ask_with(p, word, a, b, -1, NULL);
}

static void must(struct puppet p, enum word word, uint64_t a, uint64_t b)
{
	same(ask(p, word, a, b), 0, "word %d of %llu", (int)word,
	     (unsigned long long)a);
}

static struct puppet start(uint64_t device)
{
	struct puppet p = make_puppet();

	must(p, INIT, device, 0);
	return p;
}

static void kill_puppet(struct puppet p)
{
	siginfo_t how;

	kill(p.pid, SIGKILL);
	/* From then on it is a zombie. */
	waitid(P_PID, (id_t)p.pid, &how, WEXITED | WNOWAIT);
}

static void bury(struct puppet p)
{
	close(p.sock);
	waitpid(p.pid, NULL, 0);
}

static void end(struct puppet p)
{
	ask(p, END, 0, 0);
	bury(p);
}

/* What the node's last process sees: itself and nothing else. */
static void check_nothing_left(void)
{
	const char *want = "\"node\":{\"processes\":1,\"entries\":0,"
			   "\"allocations\":0},\"errors\":[";
	char line[4096] = "";
	struct puppet p = make_puppet();
	FILE *f;

	unlink(standin.report);
	must(p, INIT, 0, 0);
	end(p);
	f = fopen(standin.report, "r");
	if (f) {
		(void)!fgets(line, sizeof(line), f);
		fclose(f);
	}
	same(strstr(line, want) != NULL, 1, "an empty node: %s", line);
}

/* Chunk i of one becomes the same chunk of the other. */
static uint64_t pass_chunk(struct puppet from, struct puppet to, uint64_t i)
{
	uint64_t rc;
	int fd = -1;

	same(ask_with(from, EXPORT, i, POSIX, -1, &fd), 0, "an export");
	rc = ask_with(to, IMPORT, i, 0, fd, NULL);
	close(fd);
	return rc;
}

static void make_granted(struct puppet p, uint64_t i)
{
	must(p, CREATE, i, 1);
	must(p, MAP, i, 0);
	must(p, GRANT, i, 0);
}

/* --- the scenes --- */

static void full_table(void)
{
	struct puppet a = start(0), b = start(1);

	must(a, CREATE, 0, 1);
	must(b, CREATE, 0, 0);
	same(ask(a, TAKE, 600, 0), 600, "the first one's entries");
	same(ask(b, TAKE, 600, 0), 400, "what is left of the table");
	same(ask(b, LEFT, 0, 0), 1022, "free memory with a full table");
	must(a, GIVE, 100, 0);
	same(ask(b, TAKE, 600, 0), 100, "what the first one gave back");
	kill_puppet(a);
	same(ask(b, TAKE, 600, 0), 500, "what a zombie held");
	bury(a);
	same(ask(b, TAKE, 1, 0), 0, "more than there is");
	end(b);
}

static void full_memory(void)
{
	struct puppet a = start(0), b = start(0), c = start(1);
	uint64_t i;

	for (i = 0; i < 300; i++)
		must(a, CREATE, i, i % 2);
	same(ask(b, LEFT, 0, 0), 424, "what the other left");
	same(ask(c, LEFT, 0, 0), 1024, "another GPU");
	for (i = 0; !ask(b, CREATE, i, i % 2); i++)
		continue;
	same(i, 211, "chunks, without the one the driver keeps");
	for (i = 0; i < 50; i++)
		must(a, RELEASE, i, 0);
	same(ask(b, LEFT, 0, 0), 102, "what is released");
	kill_puppet(a);
	for (i = 211; !ask(b, CREATE, i, i % 2); i++)
		continue;
	same(i, 511, "chunks, alone");
	same(ask(c, LEFT, 0, 0), 1024, "the other GPU still");
	bury(a);
	end(b);
	end(c);
}

static void dead_with_lock(void)
{
	struct puppet a = start(0), b = start(0), c = start(0);

	make_granted(a, 0);
	make_granted(b, 0);
	must(a, WRITE, 0, 1);
	same(ask(b, TAKE, 10, 0), 10, "entries");
	same(ask(b, BREAK, 0, 0), UINT64_MAX, "an answer of the dead");
	/* Its socket may close before the node's file does. */
	kill_puppet(b);
	same(ask(c, LEFT, 0, 0), 1022, "free memory afterwards");
	same(ask(a, READ, 0, 1), 0xdeadbeef, "what was half written");
	must(c, CREATE, 0, 1);
	same(ask(a, LEFT, 0, 0), 1020, "free memory with one more");
	same(ask(c, TAKE, 1000, 0), ENTRIES - 1, "entries afterwards");
	bury(b);
	end(a);
	end(c);
}

static void owner_dies(void)
{
	struct puppet a = start(0), b = start(1), c = start(0);
	uint64_t files = ask(b, FILES, 0, 0);
	uint64_t i;

	for (i = 0; i < 3; i++)
		make_granted(a, i);
	must(a, WRITE, 1, 5);
	must(a, WRITE, 1, 524287);
	for (i = 10; i < 2000; i += 2)
		must(a, WRITE, 0, i);
	for (i = 0; i < 3; i++) {
		same(pass_chunk(a, b, i), 0, "an import");
		must(b, MAP, i, 0);
		same(ask(b, READ, i, 0), 1, "a read without a grant");
		must(b, GRANT, i, 0);
	}
	same(ask(b, FILES, 0, 0), files, "the importer's descriptors");
	same(ask(b, READ, 1, 5), 6, "a word of the owner");
	same(ask(b, READ, 1, 524287), 524288, "its last");
	same(ask(b, READ, 0, 1998), 1998, "one of a thousand words");
	same(ask(b, READ, 1, 6), 0xdeadbeef, "the word after it");
	must(b, WRITE, 2, 7);
	same(ask(a, READ, 2, 7), 9, "a word of the importer");
	must(c, CREATE, 0, 1);
	same(ask(c, TAKE, ENTRIES, 0), ENTRIES - 6, "entries beside both");
	kill_puppet(a);
	same(ask(c, TAKE, ENTRIES, 0), 3, "entries of the owner");
	same(ask(c, LEFT, 0, 0), 1024 - 8, "memory after its death");
	same(ask(b, READ, 1, 5), 6, "a word of the dead owner");
	must(b, RELEASE, 0, 0);
	must(b, RELEASE, 1, 0);
	must(b, UNMAP, 1, 0);
	must(b, UNMAP, 2, 0);
	same(ask(c, LEFT, 0, 0), 1024 - 6, "memory, one let go of");
	must(b, UNMAP, 0, 0);
	must(b, RELEASE, 2, 0);
	same(ask(c, LEFT, 0, 0), 1022, "memory, all let go of");
	bury(a);
	end(b);
	end(c);
}

static void descriptor_alone(void)
{
	struct puppet a = start(0), b = start(0);
	int fd = -1;

	make_granted(a, 0);
	must(a, WRITE, 0, 3);
	same(ask_with(a, EXPORT, 0, POSIX, -1, &fd), 0, "an export");
	must(a, UNMAP, 0, 0);
	must(a, RELEASE, 0, 0);
	same(ask(b, LEFT, 0, 0), 1022, "memory that a descriptor holds");
	kill_puppet(a);
	bury(a);
	same(ask(b, LEFT, 0, 0), 1022, "the same, the owner dead");
	same(ask_with(b, IMPORT, 0, 0, fd, NULL), 0, "an import of it");
	same(ask_with(b, IMPORT, 1, 0, fd, NULL), 0, "and once more");
	close(fd);
	must(b, MAP, 0, 0);
	must(b, MAP, 1, 0);
	must(b, GRANT, 0, 0);
	must(b, RELEASE, 1, 0);
	must(b, UNMAP, 1, 0);
	same(ask(b, READ, 0, 3), 3, "a word");
	same(ask(b, LEFT, 0, 0), 1022, "memory held by one of two handles");
	must(b, UNMAP, 0, 0);
	must(b, RELEASE, 0, 0);
	same(ask(b, LEFT, 0, 0), 1024, "all memory");
	end(b);
}

static void refusals(void)
{
	struct puppet a = start(0), b = start(0);
	int pair[2], i;
	int wrong[] = { open("/dev/null", O_RDWR | O_CLOEXEC),
			memfd_create("a", MFD_CLOEXEC),
			open(getenv("FAKE_CUDA_NODE"), O_RDWR | O_CLOEXEC),
			pipe(pair) ? -1 : pair[0] };

	must(a, CREATE, 0, 1);
	must(a, CREATE, 1, 0);
	same(ask(a, EXPORT, 1, POSIX), CUDA_ERROR_INVALID_VALUE,
	     "exporting what was not made for it");
	same(ask(a, EXPORT, 0, CU_MEM_HANDLE_TYPE_WIN32),
	     CUDA_ERROR_INVALID_VALUE, "exporting another type");
	same(pass_chunk(a, b, 0), 0, "an import");
	same(ask(b, EXPORT, 0, POSIX), CUDA_ERROR_INVALID_VALUE,
	     "exporting an import");
	same(ask(b, MAP, 0, 2 * GRANULE), CUDA_ERROR_NOT_SUPPORTED,
	     "mapping twice the length");
	same(ask(b, IMPORT, 1, 0), CUDA_ERROR_UNKNOWN, "no descriptor");
	for (i = 0; i < 4; i++) {
		same(ask_with(b, IMPORT, 1, 0, wrong[i], NULL),
		     CUDA_ERROR_UNKNOWN, "wrong descriptor %d", i);
		close(wrong[i]);
	}
	close(pair[1]);
	end(a);
	end(b);
}

/* Eight wait for whoever makes the file, then come at once. */
static void all_at_once(void)
{
	struct message m = { INIT, 0, 0 };
	struct puppet p[8];
	uint64_t sum = 0;
	int i, fd, file;

	unlink(getenv("FAKE_CUDA_NODE"));
	for (i = 0; i < 8; i++)
		p[i] = make_puppet();
	/* Not before: a fork shares the lock. */
	file = open(getenv("FAKE_CUDA_NODE"), O_RDWR | O_CREAT | O_CLOEXEC,
		    0600);
	flock(file, LOCK_EX);
	for (i = 0; i < 8; i++)
		send_message(p[i].sock, m, -1);
	usleep(50000);
	for (i = 0; i < 8; i++)
		same(recv(p[i].sock, &m, sizeof(m), MSG_DONTWAIT) < 0, 1,
		     "waiting");
	close(file);
	for (i = 0; i < 8; i++)
		same(receive_message(p[i].sock, &m, &fd) && !m.a, 1, "init");
	for (i = 0; i < 8; i++)
		must(p[i], CREATE, 0, 1);
	m = (struct message){ TAKE, 200, 0 };
	for (i = 0; i < 8; i++)
		send_message(p[i].sock, m, -1);
	for (i = 0; i < 8; i++)
		sum += receive_message(p[i].sock, &m, &fd) ? m.a : 0;
	same(sum, ENTRIES, "entries of eight");
	same(ask(p[0], LEFT, 0, 0), 1024 - 16, "memory of eight");
	for (i = 0; i < 8; i++)
		end(p[i]);
}

/* What a puppet cannot do, it says on stderr. */
static void ask_too_much(enum word word, uint64_t answer, const char *says)
{
	struct puppet p;
	char text[256] = "";
	int usual = dup(2), pair[2];

	if (usual < 0 || pipe(pair) || dup2(pair[1], 2) < 0)
		abort();
	p = make_puppet();
	if (word != INIT)
		must(p, INIT, 0, 0);
	same(ask(p, word, 0, 0), answer, "what %s", says);
	end(p);
	dup2(usual, 2);
	close(usual);
	close(pair[1]);
	(void)!read(pair[0], text, sizeof(text) - 1);
	close(pair[0]);
	same(strstr(text, says) != NULL, 1, "saying '%s': %s", says, text);
}

static void too_many(void)
{
	struct puppet p[MAX_PROCESSES], late;
	int i;

	setenv("FAKE_CUDA_MEMORY", "1000000000000", 1);
	late = start(0);
	ask_too_much(FILL, MAX_ALLOCATIONS, "has 65536 allocations");
	must(late, CREATE, 0, 1);
	end(late);
	setenv("FAKE_CUDA_MEMORY", "1073741824", 1);
	for (i = 0; i < MAX_PROCESSES; i++)
		p[i] = start(0);
	ask_too_much(INIT, CUDA_ERROR_OUT_OF_MEMORY, "has 64 processes");
	kill_puppet(p[7]);
	late = start(0);
	end(late);
	for (i = 0; i < MAX_PROCESSES; i++)
		end(p[i]);
}

static void one_gpu_each(void)
{
	struct puppet all = start(1), one, other;

	setenv("CUDA_VISIBLE_DEVICES", "1", 1);
	one = start(0);
	setenv("CUDA_VISIBLE_DEVICES", "0,7,1", 1);
	other = start(0);
	unsetenv("CUDA_VISIBLE_DEVICES");
	same(ask(all, DEVICES, 0, 0), 2, "GPUs without a setting");
	same(ask(one, DEVICES, 0, 0), 1, "GPUs that one sees");
	same(ask(other, DEVICES, 0, 0), 1, "GPUs before one that is not");
	same(ask(one, UUID, 0, 0), ask(all, UUID, 1, 0), "its UUID");
	same(ask(other, UUID, 0, 0), ask(all, UUID, 0, 0), "GPU 0's UUID");
	same(ask(all, UUID, 0, 0) != ask(all, UUID, 1, 0), 1, "two UUIDs");
	make_granted(one, 0);
	must(one, WRITE, 0, 9);
	same(ask(all, LEFT, 0, 0), 1022, "memory of GPU 1");
	same(ask(other, LEFT, 0, 0), 1024, "memory of GPU 0");
	same(pass_chunk(one, other, 0), 0, "an import from an unseen GPU");
	end(one);
	must(other, MAP, 0, 0);
	must(other, GRANT, 0, 0);
	same(ask(other, READ, 0, 9), 9, "a word on an unseen GPU");
	same(ask(all, LEFT, 0, 0), 1022, "memory of GPU 1 still");
	end(other);
	same(ask(all, LEFT, 0, 0), 1024, "memory of GPU 1 again");
	end(all);
}

static const struct {
	const char *name;
	void (*play)(void);
} scenes[] = {
	{ "a full table", full_table },
	{ "a full GPU", full_memory },
	{ "dead with the lock", dead_with_lock },
	{ "a dead owner", owner_dies },
	{ "a descriptor alone", descriptor_alone },
	{ "refusals", refusals },
	{ "all at once", all_at_once },
	{ "too many", too_many },
	{ "one GPU each", one_gpu_each },
};

static void play_all(const char *dir)
{
	char path[128];
	size_t i;

	snprintf(path, sizeof(path), "%s/node", dir);
	setenv("FAKE_CUDA_NODE", path, 1);
	setenv("FAKE_CUDA_ENTRIES", "1000", 1);
	setenv("FAKE_CUDA_ENTRIES_USED", "0", 1);
	setenv("FAKE_CUDA_MEMORY", "1073741824", 1);
	unsetenv("CUDA_VISIBLE_DEVICES");
	for (i = 0; i < sizeof(scenes) / sizeof(*scenes); i++) {
		scene = scenes[i].name;
		alarm(HUNG);
		scenes[i].play();
		check_nothing_left();
	}
	unlink(path);
}

#else

static void play_all(const char *dir)
{
	(void)dir;
}

#endif

int main(void)
{
	char dir[] = "/tmp/kvplan-node-XXXXXX";

	setvbuf(stdout, NULL, _IOLBF, 0);
	if (!mkdtemp(dir)) {
		puts("FAIL shared_node: no directory");
		puts("0 passed, 1 failed, 0 skipped");
		return 1;
	}
	if (!standin_load(dir)) {
		puts("SKIP shared_node: no build/fake/libcuda.so.1");
		rmdir(dir);
		puts("0 passed, 0 failed, 1 skipped");
		return 0;
	}
	play_all(dir);
	standin_release();
	rmdir(dir);
	printf("%d passed, %d failed, 0 skipped\n", passed, failed);
	return failed != 0;
}
