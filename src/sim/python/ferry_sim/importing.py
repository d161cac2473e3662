# SPDX-License-Identifier: Apache-2.0
"""The moment at which torch is imported: before any library of it is loaded, the stand-ins that it needs are; and
when it is there, its operators are told to the stand-in from then on."""

import importlib.util
import os
import sys

from ferry_sim import control, family


class _TorchFinder:
    """Stands first among the finders until torch is asked for, and finds nothing itself."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        spec = importlib.util.find_spec(name)
        if spec is None or not spec.submodule_search_locations or not _prepare(spec.submodule_search_locations[0]):
            return None
        spec.loader = _WatchingLoader(spec.loader)
        return spec


class _WatchingLoader:
    """Loads torch as its own loader does, which it also hands everything else to."""

    def __init__(self, loader):
        self._loader = loader

    def __getattr__(self, name):
        return getattr(self._loader, name)

    def exec_module(self, module):
        module.__spec__.loader = module.__loader__ = self._loader
        self._loader.exec_module(module)
        from ferry_sim import operators  # imports torch

        operators.watch()
        _bring_ferry()


def _bring_ferry():
    """Where a variable asks for backend:ferry, also in an environment in which its package is not installed."""
    from ferry import config, torch as ferry_torch

    if config.asks_for_ferry(config.winner(os.environ)[1] or ""):
        ferry_torch.autoload(via="ferry sim run")


def _prepare(folder):
    """Whether there is anything to be watched."""
    if not family.needs_cuda(folder):
        control.say(f"the torch in {folder} is built without CUDA: it finds no device on the stand-in either")
        return False
    family.load(folder)
    control.skip_kernels()
    return True


def wait_for_torch():
    if control.is_loaded() and "torch" not in sys.modules:
        sys.meta_path.insert(0, _TorchFinder())
