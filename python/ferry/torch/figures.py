# SPDX-License-Identifier: Apache-2.0
"""The figures and the map of a pool (include/ferry/pytorch.h), as torch's C++ would hand them to Python."""

import ctypes

from ferry.library import LibraryError

_ONE_MOMENT = ("allocations", "allocated_bytes", "requested_bytes", "active", "active_bytes")
IDLE = 2


class Figure(ctypes.Structure):
    _fields_ = [(name, ctypes.c_uint64) for name in ("now", "peak", "added", "removed")]


class Figures(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t), *((name, Figure * 3) for name in _ONE_MOMENT), ("chunks", Figure), ("reserved_bytes", Figure)]


class PoolStats(ctypes.Structure):
    _fields_ = [("struct_size", ctypes.c_size_t)] + [(name, ctypes.c_uint64) for name in (
        "allocated_bytes", "allocated_bytes_peak", "requested_bytes", "requested_bytes_peak", "reserved_bytes",
        "reserved_bytes_peak", "fenced_bytes", "slack_bytes", "allocations", "allocations_total", "frees_total", "chunks",
        "chunks_moved", "num_alloc_retries", "num_ooms", "num_sync_all_streams", "quarantined_blocks")]


class Block(ctypes.Structure):
    _fields_ = [("address", ctypes.c_uint64), ("bytes", ctypes.c_uint64), ("requested", ctypes.c_uint64), ("segment", ctypes.c_uint64),
                ("segment_bytes", ctypes.c_uint64), ("stream", ctypes.c_uint64), ("state", ctypes.c_int32), ("small", ctypes.c_int32),
                ("private_pool", ctypes.c_uint64)]


_COUNTS = ("num_alloc_retries", "num_ooms", "num_sync_all_streams")


class Pools:
    """The process pools of a loaded library."""

    def __init__(self, library):
        self._library = library
        self._handle = library.handle
        self._before = {}  # device -> what _COUNTS were when totals were reset

    def _check(self, status):
        if status != 0:
            raise LibraryError(self._library.last_error())

    def _pool(self, device):
        pool = ctypes.c_void_p()
        self._check(self._handle.ferry_process_pool(ctypes.c_int(device), ctypes.byref(pool)))
        return pool

    def _read(self, device, function, kind):
        out = kind(struct_size=ctypes.sizeof(kind))
        self._check(getattr(self._handle, function)(self._pool(device), ctypes.byref(out)))
        return out

    def blocks(self, device):
        pool, room = self._pool(device), 1024
        while True:
            blocks, count = (Block * room)(), ctypes.c_size_t(room)
            self._check(self._handle.ferry_device_pool_blocks(pool, blocks, ctypes.byref(count)))
            if count.value <= room:
                return blocks[: count.value]
            room = count.value + count.value // 4  # another thread may allocate meanwhile

    def stats(self, device):
        """As torch._C._cuda_memoryStats. Memory is held from the driver by one pool: it counts as the large one's."""
        figures = self._read(device, "ferry_device_pool_figures", Figures)
        pool = self._read(device, "ferry_device_pool_stats", PoolStats)
        pieces, idle = _inactive_split(self.blocks(device))
        before = self._before.get(device, {})
        stats = {name: getattr(pool, name) - before.get(name, 0) for name in _COUNTS}
        stats |= {"max_split_size": 0, "num_device_alloc": figures.chunks.added, "num_device_free": figures.chunks.removed, "num_oom_rejections": 0}
        for name, ours in (("allocation", "allocations"), ("active", "active"), ("allocated_bytes",) * 2, ("active_bytes",) * 2, ("requested_bytes",) * 2):
            stats[name] = dict(zip(("all", "small_pool", "large_pool"), map(_stat, getattr(figures, ours))))
        for name, stat in (("segment", _stat(figures.chunks)), ("reserved_bytes", _stat(figures.reserved_bytes)),
                           ("inactive_split", _now(pieces)), ("inactive_split_bytes", _now(idle))):
            stats[name] = {"all": stat, "small_pool": _now(0), "large_pool": dict(stat)}
        return stats | {"reserved_bytes_by_private_pools": {}, "oversize_allocations": _now(0), "oversize_segments": _now(0)}

    def reset_peaks(self, device):
        self._check(self._handle.ferry_device_pool_reset_peaks(self._pool(device)))

    def reset_totals(self, device):
        self._check(self._handle.ferry_device_pool_reset_totals(self._pool(device)))
        now = self._read(device, "ferry_device_pool_stats", PoolStats)
        self._before[device] = {name: getattr(now, name) for name in _COUNTS}

    def segments(self, device):
        """As the segments of torch._C._cuda_memorySnapshot, without Python frames."""
        segments = []
        for block in self.blocks(device):
            if not segments or segments[-1]["address"] != block.segment:
                segments.append({"device": device, "address": block.segment, "total_size": block.segment_bytes, "allocated_size": 0,
                                 "active_size": 0, "requested_size": 0, "stream": block.stream, "segment_type": "small" if block.small else "large",
                                 "segment_pool_id": (0, 0), "is_expandable": True, "frames": [], "blocks": []})
            segment = segments[-1]
            state = ("active_allocated", "active_pending_free", "inactive")[block.state]
            if block.state != IDLE:
                segment["active_size"] += block.bytes
            if state == "active_allocated":
                segment["allocated_size"] += block.bytes
                segment["requested_size"] += block.requested
            segment["blocks"].append({"address": block.address, "size": block.bytes, "requested_size": block.requested, "state": state, "frames": []})
        return segments


def _inactive_split(blocks):
    """(pieces, bytes) that are free in segments in which something is held."""
    free, held = {}, set()
    for block in blocks:
        if block.state == IDLE:
            pieces, size = free.get(block.segment, (0, 0))
            free[block.segment] = (pieces + 1, size + block.bytes)
        else:
            held.add(block.segment)
    return tuple(sum(free.get(segment, (0, 0))[at] for segment in held) for at in (0, 1))


def _stat(figure):
    return {"current": figure.now, "peak": figure.peak, "allocated": figure.added, "freed": figure.removed}


def _now(value):
    return {"current": value, "peak": value, "allocated": 0, "freed": 0}
