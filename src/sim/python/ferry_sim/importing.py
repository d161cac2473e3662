# SPDX-License-Identifier: Apache-2.0
"""The moment at which torch is imported: before any library of it is loaded, the stand-ins that it needs are."""

import importlib.util
import sys

from ferry_sim import control, family


class _TorchFinder:
    """Stands first among the finders until torch is asked for, and finds nothing itself."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        sys.meta_path.remove(self)
        _prepare(importlib.util.find_spec(name))
        return None


def _prepare(spec):
    if spec is None or not spec.submodule_search_locations:
        return
    folder = spec.submodule_search_locations[0]
    if not family.needs_cuda(folder):
        control.say(f"the torch in {folder} is built without CUDA: it finds no device on the stand-in either")
        return
    family.load(folder)
    control.skip_kernels()


def wait_for_torch():
    if control.is_loaded() and "torch" not in sys.modules:
        sys.meta_path.insert(0, _TorchFinder())
