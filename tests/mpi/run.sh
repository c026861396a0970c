#!/bin/sh
# kvplan-mpi with each MPI that is there: four processes on host memory.  Run
# from the top directory; B is the build directory.
B=${B:-build}
. tests/shell.sh

if [ "${SAN:-}" ]; then
	echo 'SKIP mpi: what an MPI leaks is not ours'
	skipped=1
	close
fi
bin=$(cd "$B" && pwd)
plan=$tmp/plan.json
geometry='{ "format": "kvplan/geometry/1", "name": "four", "pages": 8,
	"page_tokens": 64, "execution_rows": 1, "snapshot_rows": 2,
	"row_bytes": "6 MiB", "ranks": 4, "dcp_group_size": 2, "planes": [
		{ "name": "A", "bytes_per_page": "2 MiB" },
		{ "name": "B", "bytes_per_page": "2 MiB" } ] }'
# make NAME FILTER [OPTION]: the plan of the geometry as jq changes it
make_plan()
{
	printf '%s\n' "$geometry" | jq "$2" |
		"$B/kvplan" plan -q ${3:+"$3"} -o "$tmp/$1.json" -
}
make_plan plan .
make_plan other . --merge=none
make_plan nodes '.ranks_per_node = 2'
make_plan slow '.pages = 128 | .dcp_group_size = 4'
# What one process publishes.  A process has one device, number 0.
same_file='del(.. | objects | .address?, .headroom?, .device?)'
"$B/kvplan" realize --check --publish="$tmp/one" "$plan" >/dev/null 2>&1
jq -S "$same_file" "$tmp/one" >"$tmp/expected.one"

# A process is what HOOK makes of it; $r is its rank.
cat >"$tmp/process" <<'END'
r=${OMPI_COMM_WORLD_RANK:-$PMI_RANK}
echo $$ >"$PIDS.$r"
eval "$HOOK"
exec "$@"
END
PIDS=$tmp/pid HOOK=
# Open MPI refuses root and more processes than processors, and leaves files
# if it is killed, as UCX does in MPICH.
OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_btl_vader_backing_directory=$tmp UCX_POSIX_DIR=$tmp
TMPDIR=$tmp
export PIDS HOOK OMPI_ALLOW_RUN_AS_ROOT OMPI_ALLOW_RUN_AS_ROOT_CONFIRM \
	OMPI_MCA_rmaps_base_oversubscribe OMPI_MCA_btl_vader_backing_directory \
	UCX_POSIX_DIR TMPDIR

# start ARGUMENT...: begin a job of $ranks processes
start()
{
	rm -f "$PIDS".* "$tmp/file"
	: >"$tmp/out" >"$tmp/err"	# before the job's shell does
	"mpirun.$launch" -n "$ranks" sh "$tmp/process" "$bin/kvplan-mpi.$mpi" \
		"$@" >"$tmp/out" 2>"$tmp/err" &
	launcher=$!
}

# alive PID...: those that are no zombies
alive()
{
	for pid; do
		case $(sed 's/.*) //' "/proc/$pid/stat" 2>/dev/null) in
		''|Z*) ;;
		*) echo "$pid" ;;
		esac
	done
}

# within TENTHS COMMAND...: wait until it prints nothing
within()
{
	tenths=$1
	shift
	while [ "$("$@")" ]; do
		tenths=$((tenths - 1))
		[ "$tenths" -ge 0 ] || return 1
		sleep 0.1
	done
}

# ended WHAT STATUS...: the job ends by itself, with one of these, and leaves
# no process
ended()
{
	about="$mpi, $1"
	shift
	within 100 alive "$launcher" && pass || {
		fail "$about: the job does not end"
		kill -9 "$launcher"
	}
	wait "$launcher" 2>/dev/null
	status=$?
	case " $* " in
	*" $status "*) pass ;;
	*) fail "$about: exit $status: $(cat "$tmp/out" "$tmp/err")" ;;
	esac
	# shellcheck disable=SC2046
	within 20 alive $(cat "$PIDS".*) && pass || {
		fail "$about: left are" $(alive $(cat "$PIDS".*))
		kill -9 $(cat "$PIDS".*)
	}
}

# job WHAT STATUS ARGUMENT...: run one to its end
job()
{
	about=$1 expected=$2
	shift 2
	start "$@"
	ended "$about" "$expected"
	about="$mpi, $about"
}

# no_file: the job has written none
no_file()
{
	[ -e "$tmp/file" ] && fail "$about: there is a file" || pass
}

# cause TEXT...: it is printed once, by one process, and there is no file
cause()
{
	same "$about: messages" 1 "$(grep -c '^kvplan-mpi' "$tmp/err")"
	says "$about" "$@"
	no_file
}

# names: the names of this job's sockets
names()
{
	# shellcheck disable=SC2046
	ls -l $(cat "$PIDS".* 2>/dev/null | sed 's,.*,/proc/&/fd,') \
		2>/dev/null |
		sed -n 's/.*socket:\[\([0-9]*\)\]$/\1/p' |
		awk 'NR == FNR { own[$1]; next }
			$7 in own && /@kvplan-/ { print $7 }' - /proc/net/unix
}

# left_names: those of $named that are there still; the kernel frees them a
# moment after the processes
left_names()
{
	awk -v named="$named" 'BEGIN { n = split(named, list)
			for (i = 1; i <= n; i++) own[list[i]] }
		$7 in own' /proc/net/unix
}

# midway ARGUMENT...: a job whose rank 3 is stopped while it shares
midway()
{
	tries=3
	while [ "$tries" -gt 0 ]; do
		start --check=full "$@" "$tmp/slow.json"
		named=
		while [ "$(echo "$named" | wc -w)" -lt 4 ] &&
			[ "$(alive "$launcher")" ]; do
			named=$(names)
		done
		kill -STOP "$(cat "$PIDS.3")" 2>/dev/null && return
		wait "$launcher"
		tries=$((tries - 1))
	done
	fail "$mpi: was not stopped midway"
}

# hold ARGUMENT...: a job that holds
hold()
{
	start --hold "$@" "$plan"
	tries=100
	until grep -q holding "$tmp/err" || [ "$tries" -eq 0 ]; do
		sleep 0.1
		tries=$((tries - 1))
	done
	says "$mpi, --hold" REALIZED 'holding; SIGINT or SIGTERM'
}

realizes()
{
	job '4 ranks' 0 --check --publish="$tmp/file" "$plan"
	says "$about" 'REALIZED 4 ranks in a process each, on 1 node' \
		'6 chunks each, 68 table entries on a node' 'checked quick' \
		'CAPACITY 1,024 tokens' "PUBLISHED $tmp/file"
	jq -S "$same_file" "$tmp/file" | diff "$tmp/expected.one" - &&
		pass || fail "$about: another file than one process writes"
	HOOK='export KVPLAN_NODE=n$((r / 2))'
	job '2 nodes' 0 "$tmp/nodes.json"
	says "$about" 'on 2 nodes' ' 34 table entries on a node'
	job 'ranks of a node on two' 1 --publish="$tmp/file" "$plan"
	HOOK=
	cause 'rank 0 is on node n0, rank 2 on node n1'
	job '--json' 0 --json "$plan"
	query "$about" '[4,8,true]' "$tmp/out" \
		'[(.ranks | length), (.access | length), .complete]'
}

refuses()
{
	ranks=3
	job '3 processes' 2 --publish="$tmp/file" "$plan"
	ranks=4
	cause 'the plan has 4 ranks, and 3 processes run; start 4'
	job 'bad option' 2 --bad "$plan"
	cause 'option --bad is unknown'
	# shellcheck disable=SC2016
	HOOK='[ $r != 2 ] || set -- "$1" --bad'
	job 'bad option of one' 2 --publish="$tmp/file" "$plan"
	cause 'rank 2 on ' 'option --bad is unknown'
	# shellcheck disable=SC2016
	HOOK='[ $r != 1 ] || export KVPLAN_ALLOC_CACHE_MAX_MB=x'
	job 'bad environment of one' 2 --publish="$tmp/file" "$plan"
	cause 'rank 1 on ' 'KVPLAN_ALLOC_CACHE_MAX_MB'
	HOOK=
	job '--help' 0 --help
	same "$about" 1 "$(grep -ci '^usage' "$tmp/out")"
	job '--publish' 3 --publish="$tmp/nosuch/file" "$plan"
	cause 'rank 0 on ' 'nosuch/file: cannot create'
	# shellcheck disable=SC2016
	HOOK='[ $r != 2 ] || set -- "$1" "${3%/*}/other.json" "$2"'
	job 'another plan' 1 --publish="$tmp/file" "$plan"
	cause 'rank 2 on ' ' has the plan ' 'give the same plan to all'
	# shellcheck disable=SC2016
	HOOK='[ $r != 2 ] || ulimit -f 20000'
	job 'a call that fails' 3 --publish="$tmp/file" "$plan"
	HOOK=
	cause 'rank 2 on ' 'File too large'
}

wrong_launcher()
{
	SLURM_NTASKS=16 SLURM_PROCID=0 "$bin/kvplan-mpi.$mpi" "$plan" \
		>"$tmp/out" 2>"$tmp/err"
	same "$mpi, in a script of Slurm" 2 $?
	says "$mpi, in a script of Slurm" 'started by Slurm' \
		'unset SLURM_NTASKS'
	launch=$([ "$mpi" = openmpi ] && echo mpich || echo openmpi)
	if command -v "mpirun.$launch" >/dev/null; then
		ranks=2
		job 'wrong launcher' 2 --publish="$tmp/file" "$plan"
		cause 'built with ' 'started by ' "use kvplan-mpi.$launch"
	else
		echo "SKIP mpi/wrong-launcher-$mpi: no mpirun.$launch"
		skipped=$((skipped + 1))
	fi
	launch=$mpi ranks=4
}

# deaf: rank 0 hangs after all have published: nobody reads what it prints
deaf()
{
	mkfifo "$tmp/fifo"
	exec 9<>"$tmp/fifo"
	dd if=/dev/zero bs=65536 count=1 status=none >&9
	# shellcheck disable=SC2016
	HOOK='exec 9>&-; [ $r != 0 ] || exec >"$TMPDIR/fifo"'
	start --deadline=1 "$plan"
	ended 'rank 0 hangs after it has published' 4
	cause 'rank 1: error: no progress for 1 s: waiting for rank 0;' \
		'others may serve'
	HOOK=
	exec 9>&-
	rm "$tmp/fifo"
}

ends()
{
	midway --deadline=1 --publish="$tmp/file"
	ended 'a stopped rank' 1
	cause 'no progress for 1 s: waiting for rank ' 3
	within 20 left_names && pass || fail "$about: left is $(left_names)"
	deaf
	midway --publish="$tmp/file"
	kill -9 "$(cat "$PIDS.2")"
	ended 'a killed rank' 137 9
	no_file
	within 20 left_names && pass || fail "$about: left is $(left_names)"
	midway
	# shellcheck disable=SC2046
	kill $(cat "$PIDS".*)
	kill -CONT "$(cat "$PIDS.3")"
	ended SIGTERM 143
	cause 'interrupted by signal 15'
	hold
	kill -9 "$(cat "$PIDS.2")"
	ended 'a killed rank while held' 137 9
	hold
	kill "$(cat "$PIDS.2")"
	ended 'SIGTERM to one rank while held' 0
	hold --deadline=1
	kill -STOP "$(cat "$PIDS.3")"
	sleep 0.3
	kill "$(cat "$PIDS.1")"
	ended 'a rank stopped while held' 4
	says "$about" 'waiting for rank 3; others may serve'
	# shellcheck disable=SC2016
	HOOK='[ $r != 0 ] || exec >/dev/full'
	job 'rank 0 cannot print' 3 --hold "$plan"
	HOOK=
	cause '<stdout>: cannot write'
	hold
	# Stopped, so that no thread of an MPI ends them.
	parent=$(sed 's/.*) . \([0-9]*\) .*/\1/' "/proc/$(cat "$PIDS.0")/stat")
	# shellcheck disable=SC2046
	kill -STOP $(cat "$PIDS".*)
	kill -9 "$launcher" "$parent" 2>/dev/null
	ended 'a killed launcher' 137
	hold
	# Open MPI's kills a second after SIGTERM, whatever was undone.
	kill -s "$([ "$mpi" = openmpi ] && echo USR1 || echo INT)" "$launcher"
	ended 'a signal while held' 0
}

gpus()
{
	if ! grep -q cuMemExportToShareableHandle "$B/fake/libcuda.so.1" \
		2>/dev/null; then
		echo "SKIP mpi/stand-in-$mpi: no $B/fake/libcuda.so.1 that" \
			exports
		skipped=$((skipped + 1))
		return
	fi
	LD_LIBRARY_PATH=$bin/fake FAKE_CUDA_DEVICES=2 FAKE_CUDA_NODE=$tmp/node
	export LD_LIBRARY_PATH FAKE_CUDA_DEVICES FAKE_CUDA_NODE
	job '2 GPUs' 1 --gpus --publish="$tmp/file" "$plan"
	cause '4 processes on this machine need a GPU each, 2 are visible'
	job '2 shared GPUs' 0 --gpus --share-gpu --check "$plan"
	says "$about" 'REALIZED 4 ranks' ' 68 table entries'
	FAKE_CUDA_DEVICES=4
	job '4 GPUs' 0 --gpus --json "$plan"
	query "$about" 4 "$tmp/out" '[.ranks[].uuid] | unique | length'
	unset LD_LIBRARY_PATH FAKE_CUDA_DEVICES FAKE_CUDA_NODE
}

for mpi in openmpi mpich; do
	if ! command -v "mpirun.$mpi" >/dev/null ||
		! [ -x "$bin/kvplan-mpi.$mpi" ]; then
		echo "SKIP mpi/$mpi: no mpicc.$mpi or mpirun.$mpi"
		skipped=$((skipped + 1))
		continue
	fi
	launch=$mpi ranks=4
	realizes
	refuses
	wrong_launcher
	ends
	gpus
done
close
