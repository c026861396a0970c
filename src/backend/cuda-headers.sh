#!/bin/sh
# Fetch cuda.h and cudaTypedefs.h, types only, from Debian's package
# nvidia-cuda-dev (component non-free) into DIRECTORY.  The package is not
# installed: it is 2.8 GB, and kvplan finds the driver at run time.  Without
# the headers everything except --gpus is built, so a failure exits with 0.
# usage: cuda-headers.sh DIRECTORY
set -u
target=$1
work=$(mktemp -d) || exit 1
trap 'rm -rf "$work"' EXIT
chmod 755 "$work"

give_up() {
	echo "cuda-headers: $1; --gpus stays unbuilt until CUDA_HOME names a toolkit" >&2
	exit 0
}

# Apt with its usual sources, then with non-free of the same mirror.
fetch() {
	(cd "$work" && apt-get -q "$@" download nvidia-cuda-dev) >"$work/log" 2>&1
}

fetch || {
	release=$(. /etc/os-release && echo "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016
	mirror=$(apt-get indextargets --format '$(REPO_URI)' "Codename: $release" \
		"Component: main" "Created-By: Packages" 2>/dev/null | head -n 1)
	[ -n "$mirror" ] || give_up "no Debian mirror found"
	keys=/usr/share/keyrings/debian-archive-keyring.gpg
	mkdir -p "$work/lists/partial"
	echo "deb [signed-by=$keys] $mirror $release contrib non-free" >"$work/list"
	set -- -o "Dir::Etc::sourcelist=$work/list" -o Dir::Etc::sourceparts=/dev/null \
		-o "Dir::State::Lists=$work/lists"
	apt-get -q "$@" update >"$work/log" 2>&1 && fetch "$@" ||
		give_up "nvidia-cuda-dev cannot be fetched"
}
mkdir -p "$target" "$work/root"
# --occurrence lets tar stop reading once both are found.
dpkg-deb --fsys-tarfile "$work"/nvidia-cuda-dev_*.deb 2>/dev/null |
	tar -x -C "$work/root" --occurrence=1 ./usr/include/cuda.h \
		./usr/include/cudaTypedefs.h ||
	give_up "nvidia-cuda-dev holds no headers"
cp "$work/root/usr/include/cuda.h" "$work/root/usr/include/cudaTypedefs.h" "$target/" ||
	give_up "cannot write $target"
echo "cuda-headers: cuda.h and cudaTypedefs.h are in $target"
