# SPDX-License-Identifier: Apache-2.0
"""Runs programs with the real torch on the stand-ins, for the tests labelled torch.

FERRY_TEST_TORCH_PYTHON is a Python that has torch; FERRY_TEST_TORCH_LIBRARIES the folders of the stand-ins. Where
torch cannot be imported so, the test is skipped with the reason."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
SKIPPED = 77
PYTHON = os.environ.get("FERRY_TEST_TORCH_PYTHON", "")
CACHE = tempfile.TemporaryDirectory(prefix="ferry-torch-test-")


def environment(conf=None, **more):
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("PYTORCH_", "FERRY_", "TORCH_"))}
    kept |= {"LD_LIBRARY_PATH": os.environ.get("FERRY_TEST_TORCH_LIBRARIES", ""), "PYTHONPATH": str(ROOT / "python"),
             "FERRY_LIBRARY": os.environ["FERRY_TEST_LIBRARY"], "FERRY_SIM": "kernels=skipped", "XDG_CACHE_HOME": CACHE.name}
    if folder := os.environ.get("FERRY_TEST_CUDA_INCLUDE"):
        kept["FERRY_CUDA_INCLUDE"] = folder
    if conf is not None:
        kept["PYTORCH_CUDA_ALLOC_CONF"] = conf
    return kept | more


PREPARE = """
import json, os, sys
from ferry import hook
hook.install()
def tell(**facts):
    print("FACTS " + json.dumps(facts), flush=True)
"""


def run(code, conf=None, **more):
    """The finished process; its `facts` are what it told."""
    with tempfile.NamedTemporaryFile("w", suffix=".py") as script:
        script.write(PREPARE + code)
        script.flush()
        done = subprocess.run([PYTHON, script.name], env=environment(conf, **more), capture_output=True, text=True, timeout=300)
    done.facts = {}
    for line in done.stdout.splitlines():
        if line.startswith("FACTS "):
            done.facts |= json.loads(line[6:])
    return done


def skip_unless_possible():
    if not PYTHON or not Path(PYTHON).is_file():
        print(f"skipped: no Python with torch ({PYTHON or 'FERRY_TEST_TORCH_PYTHON is not set'})")
        sys.exit(SKIPPED)
    done = run("import torch; torch.ones(1, device='cuda'); tell(version=torch.__version__)")
    if "version" not in done.facts:
        sys.exit(f"torch does not start on the stand-ins:\n{done.stderr[-2000:]}")
