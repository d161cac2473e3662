# SPDX-License-Identifier: Apache-2.0
"""Portable mode: torch's pluggable allocator over libferry.so, for where full mode cannot be compiled.

torch's C++ answers no questions about a pluggable allocator; those that come from Python are answered here from
Ferry's pools. What only C++ could do stays refused, by torch or here by name."""

import ctypes
import functools
import warnings

from ferry.torch.figures import Pools

# setter of the pluggable allocator -> function of libferry.so. Those that take C++ objects cannot be set.
HOOKS = {
    "set_record_stream_fn": "ferry_plug_record_stream",
    "set_reset_fn": "ferry_plug_empty_cache",
    "set_memory_fraction_fn": "ferry_plug_set_memory_fraction",
    "set_base_alloc_fn": "ferry_plug_base_allocation",
}


class PortableModeUnavailable(RuntimeError):
    """Portable mode cannot be had here; the text says why."""


def enable(torch, library, options, at_start):
    if not library.has("ferry_plug_allocate"):
        raise PortableModeUnavailable(f"{library.path} is too old: it lacks ferry_plug_allocate")
    memory = torch.cuda.memory
    plug = memory.CUDAPluggableAllocator(library.path, "ferry_plug_allocate", "ferry_plug_free")
    for setter, function in HOOKS.items():
        if not hasattr(plug.allocator(), setter):
            raise PortableModeUnavailable(f"torch {torch.__version__} has no {setter}")
        address = ctypes.cast(getattr(library.handle, function), ctypes.c_void_p).value
        getattr(plug.allocator(), setter)(address)
    try:
        memory.change_current_allocator(plug)
    except RuntimeError as error:
        raise PortableModeUnavailable(str(error)) from error
    library.handle.ferry_process_pool_limit(ctypes.c_uint64(options.limit))
    at_start(functools.partial(library.init, options.driver))
    _answer_questions(torch, Pools(library))
    return plug


def _answer_questions(torch, pools):
    """Python's questions end in functions of torch._C, which it looks up at each call."""

    fractions = {}

    def snapshot(which=None):
        pool = tuple(which[:2]) if which is not None else (0, 0)
        if pool not in ((0, 0), (-1, -1)):
            raise NotImplementedError("Ferry's portable mode has no private memory pools")
        devices = range(torch.cuda.device_count())
        return {"segments": [segment for device in devices for segment in pools.segments(device)], "device_traces": [[] for _ in devices],
                "allocator_settings": {}, "external_annotations": [], "host_segments": [], "host_traces": []}

    set_fraction = torch._C._cuda_setMemoryFraction

    def remember_fraction(fraction, device):
        set_fraction(fraction, device)
        fractions[device] = fraction

    def no_benchmark(value):
        if value:
            warnings.warn("cudnn.benchmark asks a pluggable allocator what it cannot answer, so it stays off in Ferry's portable mode.", stacklevel=3)
        set_benchmark(False)

    set_benchmark = torch._C._set_cudnn_benchmark
    answers = {
        "_cuda_memoryStats": pools.stats,
        "_cuda_resetPeakMemoryStats": pools.reset_peaks,
        "_cuda_resetAccumulatedMemoryStats": pools.reset_totals,
        "_cuda_memorySnapshot": snapshot,
        "_cuda_setMemoryFraction": remember_fraction,
        "_cuda_getMemoryFraction": lambda device: fractions.get(device, 1.0),
        "_set_cudnn_benchmark": no_benchmark,
        "_accelerator_isAllocatorInitialized": torch.cuda.is_initialized,
        "_accelerator_getDeviceStats": pools.stats,
        "_accelerator_resetPeakStats": pools.reset_peaks,
        "_accelerator_resetAccumulatedStats": pools.reset_totals,
        "_accelerator_emptyCache": lambda: torch.cuda.is_initialized() and torch._C._cuda_emptyCache(),
    }
    for name, answer in answers.items():
        if hasattr(torch._C, name):
            setattr(torch._C, name, answer)
    # torch.backends.cudnn has taken the function itself.
    benchmark = vars(type(torch.backends.cudnn)).get("benchmark")
    if hasattr(benchmark, "setter"):
        benchmark.setter = no_benchmark
