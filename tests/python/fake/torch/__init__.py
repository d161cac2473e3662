# SPDX-License-Identifier: Apache-2.0
"""Just enough of torch for the door: its start of CUDA, and the auto-loading of backends where FAKE_ENTRY_POINT
is set and it is not switched off."""

import os
import types

__version__ = "9.9.9"
version = types.SimpleNamespace(cuda=os.environ.get("FAKE_CUDA", "13.2") or None, git_version="0")
started_with = []  # the settings at each start of CUDA
_settings = []  # what was parsed, once, as torch does


def _parse(text):
    if not _settings:
        _settings.append(os.environ.get("PYTORCH_CUDA_ALLOC_CONF", os.environ.get("PYTORCH_ALLOC_CONF")))
    for known in (_settings[0] or "", text):
        if "backend:ferry" in known or "wrong:1" in known:
            _settings.clear()
            raise ValueError(f"fake torch: {known}")


def _start():
    _parse("")
    started_with.append(_settings[0])


_C = types.SimpleNamespace(_cuda_init=_start, _accelerator_setAllocatorSettings=_parse, _GLIBCXX_USE_CXX11_ABI=True)


def _lazy_init():
    if not started_with:
        _C._cuda_init()


cuda = types.SimpleNamespace(_lazy_init=_lazy_init, is_initialized=lambda: bool(started_with))

if os.environ.get("FAKE_ENTRY_POINT") and os.environ.get("TORCH_DEVICE_BACKEND_AUTOLOAD", "1") == "1":
    from ferry.torch import autoload

    autoload()
