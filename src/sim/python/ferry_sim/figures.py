# SPDX-License-Identifier: Apache-2.0
"""What `ferry compare` is told of a run when the program ends: FERRY_SIM_FIGURES names the file. Peaks are those of
the device that has the highest, by PyTorch's own statistics."""

import atexit
import json
import os

import torch

from ferry_sim import control, storages

_MOST_SAMPLES = 2048
# What allocators call for memory, and what makes the host wait.
_CALLS = ("cuMemAlloc", "cuMemFree", "cuMemAllocPitch", "cuMemCreate", "cuMemRelease", "cuMemMap", "cuMemUnmap",
          "cuMemSetAccess", "cuMemAddressReserve", "cuMemAddressFree", "cuMemAllocAsync", "cuMemAllocFromPoolAsync",
          "cuMemFreeAsync", "cuMemPoolCreate", "cuMemPoolDestroy", "cuMemPoolTrimTo", "cuMemHostAlloc", "cuMemFreeHost",
          "cuMemHostRegister", "cuMemHostUnregister", "cuCtxSynchronize", "cuStreamSynchronize", "cuEventSynchronize",
          "cuEventQuery", "cuEventRecord", "cuEventCreate")

_peaks = [0, 0]  # allocated and reserved, before the last reset by the program
_samples = []  # [operators, bytes of tensors, bytes of the devices in use], each the highest of as many operators
_operators = 0
_each = 1


def _read_peaks():
    if not torch.cuda.is_initialized():
        return
    for device in range(torch.cuda.device_count()):
        stats = torch.cuda.memory_stats(device)
        for place, name in enumerate(("allocated_bytes.all.peak", "reserved_bytes.all.peak")):
            _peaks[place] = max(_peaks[place], stats.get(name, 0))


def _keep_peaks_at_resets():
    reset = torch._C._cuda_resetPeakMemoryStats

    def keep_and_reset(device):
        _read_peaks()
        reset(device)

    torch._C._cuda_resetPeakMemoryStats = keep_and_reset


def sample():
    """An operator has run."""
    global _operators, _each, _samples
    _operators += 1
    now = [_operators, storages.live_bytes(), control.memory_in_use()]
    if _samples and (_operators - 1) // _each == (_samples[-1][0] - 1) // _each:
        _samples[-1] = [_operators, max(_samples[-1][1], now[1]), max(_samples[-1][2], now[2])]
        return
    _samples.append(now)
    if len(_samples) > _MOST_SAMPLES:
        _each *= 2
        _samples = [[second[0], max(first[1], second[1]), max(first[2], second[2])]
                    for first, second in zip(_samples[::2], _samples[1::2])]


def _write(path):
    _read_peaks()
    counts = {name: control.calls(name) for name in _CALLS}
    figures = {
        "torch": torch.__version__,
        "used_cuda": torch.cuda.is_initialized(),
        "peak_allocated_bytes": _peaks[0],
        "peak_reserved_bytes": _peaks[1],
        "driver_calls": {name: count for name, count in counts.items() if count > 0},
        "driver_ms": sum(control.call_cost_ps(name) for name in _CALLS) / 1e9,
        "samples": _samples,
    }
    with open(path, "w") as file:
        json.dump(figures, file)


def _record_snapshot(path):
    torch.cuda._lazy_call(lambda: torch.cuda.memory._record_memory_history(max_entries=1_000_000, context=None))

    def dump():
        if torch.cuda.is_initialized():
            torch.cuda.memory._dump_snapshot(path)

    atexit.register(dump)


def watch():
    """Whether figures are asked for."""
    path, snapshot = os.environ.get("FERRY_SIM_FIGURES"), os.environ.get("FERRY_SIM_SNAPSHOT")
    if not path:
        return False
    for name in ("FERRY_SIM_FIGURES", "FERRY_SIM_SNAPSHOT"):  # of this process, not of those that it starts
        os.environ.pop(name, None)
    process = os.getpid()
    _keep_peaks_at_resets()
    atexit.register(lambda: _write(path) if os.getpid() == process else None)
    if snapshot:
        _record_snapshot(snapshot)
    return True
