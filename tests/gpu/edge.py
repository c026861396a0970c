#!/usr/bin/env python3
"""What the driver keeps of a card that is filled to the last byte, by the
driver's own calls and nothing of kvplan.

All but KEEP granules of what is free are allocated in CHUNKS allocations of
one size (the last takes the rest) and mapped VIEWS times.  Expected: with
KEEP 0 the last allocation is refused, with 1 everything works, however many
allocations and views there are; page tables take a granule for every 256 GiB
mapped, where more than one granule is free.
"""
import ctypes as C

GRANULE = 2 << 20
OUT_OF_MEMORY = 2
cu = C.CDLL("libcuda.so.1")


class Location(C.Structure):
    _fields_ = [("type", C.c_int), ("id", C.c_int)]


class Prop(C.Structure):
    _fields_ = [("type", C.c_int), ("handles", C.c_int),
                ("location", Location), ("win32", C.c_void_p),
                ("flags", C.c_ubyte * 8)]


class Access(C.Structure):
    _fields_ = [("location", Location), ("flags", C.c_int)]


def u64(value):
    return C.c_ulonglong(value)


def call(name, *args):
    code = getattr(cu, name)(*args)
    if code:
        raise SystemExit(f"{name}: {code}")


def free():
    left, total = C.c_size_t(), C.c_size_t()
    call("cuMemGetInfo_v2", C.byref(left), C.byref(total))
    return left.value


def create(sizes):
    """Handles, as far as memory goes."""
    prop = Prop(type=1, location=Location(1, 0))
    handles = []
    for size in sizes:
        handle = C.c_ulonglong()
        code = cu.cuMemCreate(C.byref(handle), C.c_size_t(size),
                              C.byref(prop), u64(0))
        if code == OUT_OF_MEMORY:
            break
        if code:
            raise SystemExit(f"cuMemCreate: {code}")
        handles.append(handle)
    return handles


def view(sizes, handles):
    """All of them mapped and granted side by side: the address."""
    address, at = C.c_ulonglong(), 0
    access = Access(Location(1, 0), 3)
    total = sum(sizes)
    call("cuMemAddressReserve", C.byref(address), C.c_size_t(total),
         C.c_size_t(0), u64(0), u64(0))
    for size, handle in zip(sizes, handles):
        call("cuMemMap", u64(address.value + at), C.c_size_t(size),
             C.c_size_t(0), handle, u64(0))
        at += size
    call("cuMemSetAccess", address, C.c_size_t(total), C.byref(access),
         C.c_size_t(1))
    return address, total


def fill(chunks, views, keep):
    start = free()
    granules = start // GRANULE - keep
    sizes = [granules // chunks * GRANULE] * chunks
    sizes[-1] += granules % chunks * GRANULE
    handles = create(sizes)
    created, mapped = free(), []
    whole = len(handles) == chunks
    for _ in range(views if whole else 0):
        mapped.append(view(sizes, handles))
    tables = created - free()
    for address, total in mapped:
        call("cuMemUnmap", address, C.c_size_t(total))
        call("cuMemAddressFree", address, C.c_size_t(total))
    for handle in handles:
        call("cuMemRelease", handle)
    gib = views * granules * GRANULE / 2**30
    # The context's own mappings are in the first table, about 30 GiB.
    expected = max(0, min(keep - 1, int((gib + 32) / 256))) * GRANULE
    good = whole == (keep > 0) and free() == start and \
        (not whole or tables == expected)
    print(f"{'ok' if good else 'FAIL'} {chunks} allocations of all but "
          f"{keep} granules, mapped {views} times ({gib:.0f} GiB): "
          f"{len(handles)} created, {start - sum(sizes)} bytes kept, page "
          f"tables {tables}")
    return good


def main():
    device, context = C.c_int(), C.c_void_p()
    call("cuInit", 0)
    call("cuDeviceGet", C.byref(device), 0)
    call("cuDevicePrimaryCtxRetain", C.byref(context), device)
    call("cuCtxSetCurrent", context)
    good = all([fill(chunks, views, keep) for chunks in (1, 62, 5000)
                for views in (1, 2, 8) for keep in (0, 1, 6)])
    raise SystemExit(0 if good else 1)


main()
