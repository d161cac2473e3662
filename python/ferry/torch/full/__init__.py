# SPDX-License-Identifier: Apache-2.0
"""Full mode: Ferry as a C++ allocator of torch's own kind, compiled once against the installed torch."""

import ctypes

from ferry.torch.full.build import FullModeUnavailable, build, describe

__all__ = ["FullModeUnavailable", "build", "describe", "enable"]


def enable(torch, library, options):
    """Builds where needed, loads, and swaps. What it returns must live as long as the process."""
    path = build(torch)
    try:
        door = ctypes.CDLL(str(path), mode=ctypes.RTLD_LOCAL)
        swap = door.ferry_torch_enable
    except (OSError, AttributeError) as error:
        raise FullModeUnavailable(f"{path} cannot be loaded: {error}") from error
    swap.argtypes = [ctypes.c_char_p, ctypes.c_char_p, ctypes.c_uint64, ctypes.c_int]
    swap.restype = ctypes.c_char_p
    trouble = swap(library.path.encode(), (options.driver or "").encode(), options.limit, int(options.pinned))
    if trouble is not None:
        raise FullModeUnavailable(trouble.decode(errors="replace"))
    return door
