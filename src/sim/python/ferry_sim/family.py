# SPDX-License-Identifier: Apache-2.0
"""The stand-ins of NVIDIA's libraries that a torch imports. They are made once for each torch, from what its
files import (src/sim/family), and kept in the user's cache; FERRY_SIM_FAMILY names a folder that has them."""

import ctypes
import glob
import hashlib
import os
import subprocess
import sys
import tempfile

from ferry_sim.control import say

_GENERATOR = os.path.join(os.path.dirname(__file__), "..", "..", "family", "generate.py")


def needs_cuda(torch_folder):
    return os.path.exists(os.path.join(torch_folder, "lib", "libtorch_cuda.so"))


def _cache():
    home = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return os.path.join(home, "ferry", "sim-family")


def _key(torch_folder):
    """Another torch, or another generator, has other stand-ins."""
    facts = []
    for path in sorted(glob.glob(os.path.join(torch_folder, "lib", "libtorch*.so"))) + [_GENERATOR]:
        status = os.stat(path)
        facts.append(f"{os.path.basename(path)} {status.st_size} {status.st_mtime_ns}")
    return hashlib.sha256("\n".join([os.path.abspath(torch_folder)] + facts).encode()).hexdigest()[:16]


def _make(torch_folder, folder):
    say(f"making stand-ins of the libraries that the torch in {torch_folder} imports (once)")
    os.makedirs(os.path.dirname(folder), exist_ok=True)
    with tempfile.TemporaryDirectory(dir=os.path.dirname(folder)) as scratch:
        made = os.path.join(scratch, "family")
        command = [sys.executable, _GENERATOR, "--torch", torch_folder, "--output", made]
        environment = {name: value for name, value in os.environ.items() if name not in ("LD_PRELOAD", "PYTHONPATH")}
        result = subprocess.run(command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        if result.returncode != 0:
            raise RuntimeError(f"the stand-ins of torch's libraries could not be made: {result.stdout.strip()}")
        try:
            os.rename(made, folder)
        except OSError:
            if not os.path.isdir(folder):  # another process was first otherwise
                raise


def _folder_for(torch_folder):
    given = os.environ.get("FERRY_SIM_FAMILY")
    if given:
        return given
    folder = os.path.join(_cache(), _key(torch_folder))
    if not os.path.isdir(folder):
        _make(torch_folder, folder)
    return folder


def load(torch_folder):
    """Loads them all. What is loaded is found by its SONAME, wherever torch looks for it later."""
    folder = _folder_for(torch_folder)
    libraries = sorted(glob.glob(os.path.join(folder, "lib*.so.*")))
    if not libraries:
        raise RuntimeError(f"there are no stand-ins of torch's libraries in {folder}")
    for path in libraries:
        ctypes.CDLL(path, mode=os.RTLD_NOW | os.RTLD_LOCAL)
