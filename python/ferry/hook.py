# SPDX-License-Identifier: Apache-2.0
"""The second way in, for programs whose auto-loading of torch's backends is switched off: Ferry's part runs at
the end of `import torch`, as the entry point would have.

It changes nothing before that moment. In particular the allocator variables stay as they are: a variable that was
rewritten without the allocator being swapped would leave the program silently on another one."""

import sys
from importlib.machinery import PathFinder


class _AfterTorch:
    """A finder that finds torch as the others do, and appends Ferry's part to its loading."""

    def find_spec(self, name, path=None, target=None):
        if name != "torch":
            return None
        spec = None
        for finder in sys.meta_path:
            if finder is self or not hasattr(finder, "find_spec"):
                continue
            spec = finder.find_spec(name, path, target)
            if spec is not None:
                break
        if spec is None or spec.loader is None or not hasattr(spec.loader, "exec_module"):
            return spec
        load = spec.loader.exec_module

        def load_and_swap(module):
            load(module)
            uninstall()
            from ferry.torch import autoload

            autoload(via="the import hook")

        try:
            spec.loader.exec_module = load_and_swap
        except AttributeError:  # a loader that takes no attributes: torch's entry point remains
            return spec
        return spec


_finder = _AfterTorch()


def install():
    if "torch" not in sys.modules and _finder not in sys.meta_path:
        at = next((i for i, finder in enumerate(sys.meta_path) if finder is PathFinder), len(sys.meta_path))
        sys.meta_path.insert(at, _finder)


def uninstall():
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
