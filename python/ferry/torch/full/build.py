# SPDX-License-Identifier: Apache-2.0
"""Compiles full mode's C++ against the installed torch and keeps the result in a cache: one entry for each torch,
ABI, compiler, set of flags and text of the sources.

Two processes may build the same entry at once: each compiles into a folder of its own and renames the file into
place, which is atomic; they make the same file."""

import hashlib
import os
import shlex
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path

from ferry.log import say

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parents[1]
LIBRARY = "libferry_torch.so"


class FullModeUnavailable(RuntimeError):
    """Full mode cannot be had here; the text says why."""


def cache_folder():
    base = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(base) / "ferry" / "torch"


def sources():
    return sorted(HERE.glob("*.cpp"))


def header_folder():
    """The folder of ferry/pytorch.h: in the package, or in the checkout that it lies in."""
    for folder in (PACKAGE / "include", PACKAGE.parents[1] / "include"):
        if (folder / "ferry" / "pytorch.h").is_file():
            return folder
    raise FullModeUnavailable("the package lacks its headers")


def cuda_headers():
    """The folder of cuda_runtime_api.h."""
    tried = []
    if os.environ.get("FERRY_CUDA_INCLUDE"):
        tried.append(Path(os.environ["FERRY_CUDA_INCLUDE"]))
    else:
        if os.environ.get("CUDA_HOME"):
            tried.append(Path(os.environ["CUDA_HOME"]) / "include")
        if nvcc := shutil.which("nvcc"):
            tried.append(Path(os.path.realpath(nvcc)).parents[1] / "include")
        for folder in {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}:
            tried += sorted((Path(folder) / "nvidia").glob("*/include"))
        tried.append(Path("/usr/local/cuda/include"))
        tried += sorted((PACKAGE.parents[1] / "build" / "cuda-toolkit").glob("**/include"))
    for folder in tried:
        if (folder / "cuda_runtime_api.h").is_file():
            return folder
    raise FullModeUnavailable(
        "CUDA's headers (cuda_runtime_api.h) were not found: set CUDA_HOME, or FERRY_CUDA_INCLUDE to their folder, "
        "or install the wheel nvidia-cuda-runtime"
    )


def compiler():
    named = os.environ.get("CXX", "g++")
    words = shlex.split(named)
    if not words or shutil.which(words[0]) is None:
        raise FullModeUnavailable(f"there is no C++ compiler ({named}); install one or set CXX")
    return words


def _identity(words):
    try:
        return subprocess.run([*words, "--version"], capture_output=True, text=True, check=True, timeout=60).stdout.splitlines()[0]
    except (OSError, subprocess.SubprocessError, IndexError) as error:
        raise FullModeUnavailable(f"the C++ compiler does not answer: {error}") from None


def flags(torch):
    root = Path(torch.__file__).resolve().parent
    abi = int(torch._C._GLIBCXX_USE_CXX11_ABI)
    return [
        "-std=c++20", "-O2", "-fPIC", "-shared", "-fvisibility=hidden", "-Wall", "-Wno-deprecated-declarations",
        f"-D_GLIBCXX_USE_CXX11_ABI={abi}",
        f"-I{header_folder()}", "-isystem", str(root / "include"), "-isystem", str(cuda_headers()),
    ], [f"-L{root / 'lib'}", "-lc10", "-lc10_cuda", "-ltorch_cpu", "-ldl"]


def entry(torch):
    """(file in the cache, command without output) for this torch."""
    words = compiler()
    before, after = flags(torch)
    digest = hashlib.sha256()
    parts = [str(torch.__version__), str(getattr(torch.version, "git_version", "")), _identity(words), *words, *before, *after]
    for part in parts:
        digest.update(part.encode() + b"\0")
    for path in [*sorted(HERE.glob("*.[ch]pp")), *sorted((header_folder() / "ferry").glob("*.h"))]:
        digest.update(path.read_bytes() + b"\0")
    folder = f"{torch.__version__}-{digest.hexdigest()[:16]}".replace("+", "-")
    return cache_folder() / folder / LIBRARY, [*words, *before, *map(str, sources())], after


def build(torch):
    """The compiled library; made now where the cache lacks it. FullModeUnavailable."""
    path, command, after = entry(torch)
    if path.is_file():
        return path
    say("info", f"compiling full mode for torch {torch.__version__}, once")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=path.parent) as folder:
            made = Path(folder) / LIBRARY
            done = subprocess.run([*command, "-o", str(made), *after], capture_output=True, text=True, timeout=600)
            if done.returncode != 0:
                log = path.parent / "compiler.log"
                log.write_text(shlex.join(command) + "\n" + done.stdout + done.stderr)
                first = next((line for line in done.stderr.splitlines() if "error" in line), "no message")
                raise FullModeUnavailable(f"it does not compile against torch {torch.__version__}: {first} (all of it: {log})")
            os.replace(made, path)
    except (OSError, subprocess.SubprocessError) as error:
        raise FullModeUnavailable(f"it cannot be compiled: {error}") from None
    return path


def describe(torch):
    try:
        path, _, _ = entry(torch)
    except FullModeUnavailable as error:
        return f"not available: {error}"
    return f"compiled ({path})" if path.is_file() else "will be compiled at its first use"
