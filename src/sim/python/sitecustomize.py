# SPDX-License-Identifier: Apache-2.0
"""Read by every Python that `ferry sim run` starts, since its folder stands first in PYTHONPATH: waits for
torch to be imported, then makes way for the sitecustomize that would have been read otherwise."""

import importlib.machinery
import importlib.util
import os
import sys

import ferry_sim.importing

ferry_sim.importing.wait_for_torch()


def _run_next():
    here = os.path.dirname(os.path.abspath(__file__))
    others = [place for place in sys.path if os.path.abspath(place) != here]
    spec = importlib.machinery.PathFinder.find_spec("sitecustomize", others)
    if spec is not None and spec.loader is not None:
        module = importlib.util.module_from_spec(spec)
        sys.modules["sitecustomize"] = module
        spec.loader.exec_module(module)


_run_next()
