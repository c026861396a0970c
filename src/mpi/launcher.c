/*
 * The launcher: what it says in the environment, and ending with it.
 */
#include "mpi/launcher.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "cli/cli.h"

static const struct launcher {
	const char *size;	/* the variable with the number of processes */
	const char *rank;
	const char *name;
	const char *advice;
} launchers[] = {
	{ "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK", "Open MPI's mpirun",
	  "kvplan-mpi.openmpi" },
	{ "PMI_SIZE", "PMI_RANK", "MPICH's mpirun or srun --mpi=pmi2",
	  "kvplan-mpi.mpich" },
	{ "SLURM_NTASKS", "SLURM_PROCID", "Slurm",
	  "mpirun, or srun with the --mpi that this library needs, or for one "
	  "process unset SLURM_NTASKS" },
};
#define LAUNCHERS (sizeof(launchers) / sizeof(*launchers))

static unsigned long read_variable(const char *name)
{
	const char *value = getenv(name);

	return value ? strtoul(value, NULL, 10) : 0;
}

/* The signal comes when the parent ends, but not if it ended before. */
void launcher_die_with(void)
{
	pid_t parent = getppid();

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		raise(SIGKILL);
}

bool launcher_is_there(void)
{
	size_t i;

	for (i = 0; i < LAUNCHERS; i++)
		if (getenv(launchers[i].rank))
			return true;
	return false;
}

uint32_t launcher_rank(void)
{
	size_t i;

	for (i = 0; i < LAUNCHERS; i++)
		if (getenv(launchers[i].rank))
			return (uint32_t)read_variable(launchers[i].rank);
	return 0;
}

bool launcher_is_wrong(const char *library)
{
	const struct launcher *l;
	unsigned long size;

	for (l = launchers; l < launchers + LAUNCHERS; l++) {
		if (!getenv(l->size))
			continue;
		size = read_variable(l->size);
		if (size < 2)
			return false;
		out_usage_error("built with %s, started by %s: this process "
			"sees no other, but %s is %lu; use %s", library,
			l->name, l->size, size, l->advice);
		return true;
	}
	return false;
}

const char *launcher_node(void)
{
	return getenv("KVPLAN_NODE");
}
