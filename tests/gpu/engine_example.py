#!/usr/bin/env python3
"""kvplan inside an engine: the KV cache of one rank, used through PyTorch.

usage: engine_example.py [--host] [--lib=build/libkvplan.so] GEOMETRY

Three times at the same addresses, rank 0 is realized in this process and given
back.  In between a snapshot row is owned, written with a kernel and read
through the planes, then a page of its conflicting pages the other way round.
--host does the same in this machine's memory, without GPU and PyTorch.
"""
import argparse, ctypes, json
from ctypes import (POINTER, byref, c_bool, c_char, c_char_p, c_int, c_size_t,
                    c_uint32, c_uint64, c_void_p)

MERGE_ROW, EBUSY = 1, -24       # <kvplan/plan.h>, <kvplan/error.h>

# The two structs that are not opaque here; tests/engine/run.sh checks them.
class Error(ctypes.Structure):          # struct kvp_error
    _fields_ = [("code", c_int), ("text", c_char * 1024)]

class Options(ctypes.Structure):        # struct kvp_realize_options
    _fields_ = [("first_rank", c_uint32), ("nranks", c_uint32),
                ("devices", POINTER(c_uint32)), ("check", c_int),
                ("over_limit", c_bool), ("limits", c_void_p),
                ("handle_type", c_int), ("rdma", c_bool), ("event", c_void_p),
                ("cookie", c_void_p), ("interrupt", c_void_p),
                ("publish", c_char_p), ("addresses", c_void_p),
                ("cap", c_uint64 * 2)]  # none: the policy's

class Kvplan:                           # callers wrap integers of 64 bits
    def __init__(self, path):
        self.lib = ctypes.CDLL(path)
        for name in ("geometry_sizeof", "plan_sizeof", "realization_plane",
                     "realization_arena"):
            getattr(self.lib, "kvp_" + name).restype = c_uint64

    def call(self, name, *args, wanted=0):  # the last parameter is the error
        error = Error()
        if getattr(self.lib, name)(*args, byref(error)) != wanted:
            raise RuntimeError(f"{name}: {error.text.decode() or 'no error'}")

    def new(self, name, *args):         # the first parameter gets the result
        out = c_void_p()
        self.call(name, byref(out), *args)
        return out

    def text(self, name, *args):        # the last two get text and length
        text, length = c_void_p(), c_size_t()
        self.call(name, *args, byref(text), byref(length))
        copy = ctypes.string_at(text, length.value)
        ctypes.CDLL(None).free(text)
        return copy

class Gpu:                              # memory of GPU 0 as tensors of bytes
    def __init__(self, kvp, granularity):
        import torch
        self.torch = torch
        torch.zeros(1, device="cuda:0")         # makes the primary context
        gpus = (c_uint32 * 1)(0)
        self.backend = kvp.new("kvp_backend_cuda", gpus, c_size_t(1))

    def view(self, address, n):
        class Bytes:                # False: not read-only
            __cuda_array_interface__ = dict(
                shape=(n,), typestr="|u1", data=(address, False), version=3)
        return self.torch.as_tensor(Bytes(), device="cuda:0")

    def pattern(self, first, nbytes, seed):     # wider than bytes: copying it
        return (self.torch.arange(first, first + nbytes, device="cuda:0")
                + seed) % 251                   # into a view is a kernel

    def same(self, view, pattern):
        return bool((view == pattern).all())

    def wait(self):
        self.torch.cuda.synchronize()

    def held(self):             # more is more; only differences are used
        self.torch.cuda.empty_cache()
        return -self.torch.cuda.mem_get_info(0)[0]

class Host:                             # the same of this machine's memory
    def __init__(self, kvp, granularity):
        self.backend = kvp.new("kvp_backend_host", c_uint32(1),
                               c_uint64(granularity))

    def view(self, address, nbytes):
        return memoryview((c_char * nbytes).from_address(address)).cast("B")

    def pattern(self, first, nbytes, seed):
        start = (first + seed) % 251
        return (bytes(range(251)) * (nbytes // 251 + 2))[start:start + nbytes]

    def same(self, view, pattern):
        return view == pattern

    def wait(self): pass        # the processor's writes are done

    def held(self):             # mappings: memory is taken when it is touched
        return open("/proc/self/maps").read().count("/memfd:")

def make_plan(kvp, path):
    text = open(path, "rb").read()
    geometry = ctypes.create_string_buffer(kvp.lib.kvp_geometry_sizeof())
    plan = ctypes.create_string_buffer(kvp.lib.kvp_plan_sizeof())
    kvp.call("kvp_geometry_read", geometry, path.encode(), text,
             c_size_t(len(text)))
    kvp.call("kvp_plan_make", plan, geometry, c_int(MERGE_ROW))
    kvp.lib.kvp_geometry_release(geometry)
    return plan, json.loads(kvp.text("kvp_plan_write", plan))

def pieces(says, first):
    """(plane, offset, begin, n): n bytes of the row at `first` from
    `begin` on are those of the plane from `offset` on."""
    end = first + says["geometry"]["row_bytes"]
    for c in (c for c in says["chunks"] if c.get("arena") is not None):
        low = max(first, c["arena"])
        n = min(end, c["arena"] + c["bytes"]) - low
        if n > 0:
            yield c["plane"], c["offset"] + low - c["arena"], low - first, n

def use(kvp, memory, plan, says, r):
    """A row and a page that share bytes: first the row, then the page."""
    g = says["geometry"]
    number, page = next((row["row"], row["pages"][0][0])
                        for row in says["rows"] if row["pages"])
    first = (g["execution_rows"] + number) * g["row_stride"]
    row = memory.view(kvp.lib.kvp_realization_arena(r, 0) + first,
                      g["row_bytes"])
    sizes = [plane["bytes_per_page"] for plane in g["planes"]]
    planes = [memory.view(kvp.lib.kvp_realization_plane(r, 0, i),
                          g["pages"] * n) for i, n in enumerate(sizes)]
    owners = kvp.new("kvp_owners_new", plan)
    the_row, the_page = (owners, c_uint64(number)), (owners, c_uint64(page))

    kvp.call("kvp_owners_acquire_row", *the_row)
    kvp.call("kvp_owners_acquire_page", *the_page, wanted=EBUSY)
    row[:] = memory.pattern(0, g["row_bytes"], 1)
    memory.wait()               # before the same bytes are used elsewhere
    for i, offset, begin, n in pieces(says, first):
        assert memory.same(planes[i][offset:offset + n],
                           memory.pattern(begin, n, 1)), "row"
    kvp.call("kvp_owners_release_row", *the_row)
    kvp.call("kvp_owners_acquire_page", *the_page)
    kvp.call("kvp_owners_acquire_row", *the_row, wanted=EBUSY)
    for i, n in enumerate(sizes):
        planes[i][page * n:page * n + n] = memory.pattern(page * n, n, 2 + i)
    memory.wait()
    shared = 0
    for i, offset, begin, n in pieces(says, first):
        low = max(offset, page * sizes[i])
        n = min(offset + n, (page + 1) * sizes[i]) - low
        if n > 0:
            begin += low - offset
            assert memory.same(row[begin:begin + n],
                               memory.pattern(low, n, 2 + i)), "page"
            shared += n
    kvp.call("kvp_owners_release_page", *the_page)
    kvp.lib.kvp_owners_free(owners)
    memory.wait()               # nothing may use what is given back
    return f"row {number} and page {page} share {shared:,} bytes"

def places(text):                       # what is free may differ
    return [(rank["planes"], rank.get("arena"))
            for rank in json.loads(text)["ranks"]]

def far(text):
    """The published text, moved where nobody else allocates: what one round
    gives back low down, the engine's own allocator may take."""
    says = json.loads(text)
    areas = [a for rank in says["ranks"]
             for a in rank["planes"] + [rank["arena"]]]
    shift = 0x7e0000000000 - min(a["address"] for a in areas)
    for area in areas:
        area["address"] += shift
    return json.dumps(says).encode()

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--host", action="store_true", help="without a GPU")
    parser.add_argument("--lib", default="build/libkvplan.so")
    parser.add_argument("geometry")
    args = parser.parse_args()
    kvp = Kvplan(args.lib)
    plan, says = make_plan(kvp, args.geometry)
    if not any(row["pages"] for row in says["rows"]):
        parser.error("no snapshot row shares memory with a page")
    memory = (Host if args.host else Gpu)(kvp, says["geometry"]["granularity"])
    verdict, addresses = c_void_p(), None
    kvp.call("kvp_verify", plan, None, byref(verdict))
    texts, held = [], [memory.held()]
    for turn in range(3):
        o = Options(first_rank=0, nranks=1, addresses=addresses)
        r = kvp.new("kvp_realize", plan, verdict, memory.backend, byref(o))
        try:
            texts.append(kvp.text("kvp_realization_write", r, c_bool(False)))
            print(f"round {turn + 1}:", use(kvp, memory, plan, says, r))
            assert memory.held() > held[-1], "realizing takes no memory"
        finally:
            kvp.call("kvp_realization_free", r)
        held.append(memory.held())
        if addresses is None:   # graphs hold addresses: they stay the same
            text = far(texts[0])
            addresses = kvp.new("kvp_addresses_read", b"round 1", text,
                                c_size_t(len(text)))
    assert places(texts[2]) == places(texts[1]), "other addresses"
    # The first round loads kernels; from then on no chunk may be lost.
    assert held[3] < held[1] + (1 if args.host else 2 << 20), held
    kvp.lib.kvp_addresses_free(addresses)
    kvp.lib.kvp_backend_close(memory.backend)
    kvp.lib.kvp_verdict_free(verdict)
    kvp.lib.kvp_plan_release(plan)
    print("recorded addresses kept, all memory given back")

if __name__ == "__main__":
    main()
