# SPDX-License-Identifier: Apache-2.0
"""Ferry as PyTorch's CUDA allocator.

    PYTORCH_CUDA_ALLOC_CONF=backend:ferry python train.py

or, before CUDA's first use, `ferry.torch.enable()`. `ferry.torch.status()` says which mode is on, and why."""

from ferry.torch.door import Status, door as _door

__all__ = ["autoload", "enable", "status", "Status"]


def autoload(via="torch's entry point"):
    """What torch calls at the end of its import. Never raises: what is wrong is said, and raised by CUDA's
    first use."""
    _door.autoload(via)


def enable(**options):
    """Makes Ferry the allocator of this process. Options: mode ("auto", "full", "portable"), limit (bytes, or
    "20GiB"), driver, pinned, library. RuntimeError where CUDA was used already, or Ferry cannot serve."""
    return _door.enable(options)


def status():
    """A Status: whether Ferry is on, its mode and why, the library, the versions."""
    return _door.status()
