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
