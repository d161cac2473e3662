# SPDX-License-Identifier: Apache-2.0
"""The controls of the driver stand-in (ferry/sim.h) as far as Python programs need them."""

import ctypes
import os
import sys


def say(text):
    print(f"ferry-sim: {text}", file=sys.stderr)


def _driver():
    """The libcuda.so.1 that the process has loaded already; None where that is not the stand-in."""
    try:
        library = ctypes.CDLL("libcuda.so.1", mode=os.RTLD_NOW | os.RTLD_NOLOAD)
    except OSError:
        return None
    return library if hasattr(library, "ferry_sim_configure") else None


def is_loaded():
    return _driver() is not None


def skip_kernels():
    """PyTorch's kernels cannot run here; without this they could not be launched either."""
    if "kernels=" in os.environ.get("FERRY_SIM", ""):
        return
    if _driver().ferry_sim_configure(b"kernels=skipped") != 0:
        say("kernels=skipped was refused: PyTorch's kernels cannot be launched")


_found = None


def _controls():
    """The driver, with the types of the controls that tell it of operators."""
    global _found
    if _found is None:
        _found = _driver()
        _found.ferry_sim_operator_begin.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_char_p, ctypes.c_size_t]
        _found.ferry_sim_operator_touches.argtypes = [ctypes.c_int, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
        _found.ferry_sim_storage_end.argtypes = [ctypes.c_char_p, ctypes.c_int, ctypes.c_void_p, ctypes.c_uint64,
                                                 ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t]
        _found.ferry_sim_calls.restype = ctypes.c_uint64
        _found.ferry_sim_call_cost_ps.restype = ctypes.c_uint64
        _found.ferry_sim_memory_in_use.restype = ctypes.c_uint64
        _found.ferry_sim_traffic_mark.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64]
        _found.ferry_sim_host_view.argtypes = [ctypes.c_uint64, ctypes.c_size_t]
        _found.ferry_sim_host_view.restype = ctypes.c_void_p
    return _found


def operator_begin(name, place, inputs):
    _controls().ferry_sim_operator_begin(name, place.encode(), inputs.packed(), inputs.count)


def operator_touches(device, stream, ranges):
    _controls().ferry_sim_operator_touches(device, stream, ranges.packed(), ranges.count)


def operator_end():
    _controls().ferry_sim_operator_end()


def storage_end(place, device, stream, address, size, users):
    handles = (ctypes.c_void_p * len(users))(*users)
    _controls().ferry_sim_storage_end(place.encode(), device, stream, address, size, handles, len(users))


def settle():
    """Queued work runs, and nothing is ordered by it."""
    _controls().ferry_sim_settle()


def host_view(address, size):
    """Where the host finds the bytes of device memory; None where it cannot."""
    return _controls().ferry_sim_host_view(address, size)


def calls(function):
    return _controls().ferry_sim_calls(function.encode())


def call_cost_ps(function):
    return _controls().ferry_sim_call_cost_ps(function.encode())


def memory_in_use():
    """Of all devices."""
    return sum(_controls().ferry_sim_memory_in_use(device) for device in range(16))


def traffic_mark(kind, name, value):
    _controls().ferry_sim_traffic_mark(kind.encode(), name.encode(), value)
