# SPDX-License-Identifier: Apache-2.0
"""What the shared libraries of an installed torch import from NVIDIA's, as binutils' readelf tells."""

import mmap
import os
import re
import subprocess
from dataclasses import dataclass, field
from pathlib import Path

from tables import Failure

# NVIDIA's libraries by their file names; the driver's and the runtime's stand-ins are built, not generated.
FAMILY = re.compile(r"lib((?:cu|nv|nccl)[\w-]*)\.so\.\d+")
NOT_OURS = {"cuda", "cudart"}
NVML = "libnvidia-ml.so.1"


@dataclass
class Imports:
    """The functions that are imported from one library: {name: version node, or None}."""
    soname: str
    functions: dict = field(default_factory=dict)

    @property
    def library(self):
        return re.fullmatch(r"lib([\w-]+)\.so\.\d+", self.soname).group(1)


def shared_libraries(torch):
    files = [*torch.glob("*.so"), *torch.glob("lib/*.so"), *torch.glob("lib/*.so.*")]
    if not any(file.name.startswith("libtorch") for file in files):
        raise Failure(f"{torch} holds no installed torch: there is no lib/libtorch*.so")
    return sorted(files)


def read_elf(path):
    """(needed libraries, [(undefined symbol, version or None)], {version: library})"""
    command = ["readelf", "--dynamic", "--version-info", "--dyn-syms", "--wide", str(path)]
    try:
        done = subprocess.run(command, check=True, capture_output=True, text=True, env=dict(os.environ, LC_ALL="C"))
    except FileNotFoundError:
        raise Failure("readelf is missing; the package binutils has it") from None
    except subprocess.CalledProcessError as trouble:
        raise Failure(f"readelf cannot read {path}: {trouble.stderr.strip()}") from None
    needed = re.findall(r"\(NEEDED\).*\[(.+)\]", done.stdout)
    symbols = re.findall(r"^ *\d+: \S+ +\d+ \w+ +(?:GLOBAL|WEAK) +\w+ +UND ([^\s@]+)(?:@(\S+))?", done.stdout, re.MULTILINE)
    owners, owner = {}, None
    for kind, name in re.findall(r"(File|Name): (\S+)", done.stdout):
        if kind == "File":
            owner = name
        else:
            owners.setdefault(name, owner)
    return needed, [(name, version or None) for name, version in symbols], owners


def nvml_names(path):
    """NVML is opened while the program runs, so its functions' names are only text."""
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as content:
        return {name.decode() for name in re.findall(rb"\0(nvml[A-Z]\w+)(?=\0)", content)}


def imports_of(torch, libraries):
    """[Imports], sorted by file name; `libraries` tells how the functions of each begin."""
    found = {NVML: Imports(NVML)}
    for path in shared_libraries(torch):
        needed, symbols, owners = read_elf(path)
        ours = {}
        for soname in needed:
            match = FAMILY.fullmatch(soname)
            if match and match.group(1) not in NOT_OURS:
                ours[soname] = found.setdefault(soname, Imports(soname))
        for name, version in symbols:
            if version is not None:
                soname = owners.get(version)
            else:
                soname = next((one for one in ours if ours[one].library in libraries and
                               libraries[ours[one].library].begins.match(name)), None)
            if soname in ours:
                add(ours[soname], name, version)
        if ours or "libcudart" in " ".join(needed):
            for name in nvml_names(path):
                found[NVML].functions.setdefault(name, None)
    return [found[soname] for soname in sorted(found)]


def add(imports, name, version):
    known = imports.functions.get(name)
    if known and version and known != version:
        raise Failure(f"{name} is imported from {imports.soname} at two versions, {known} and {version}")
    imports.functions[name] = known or version
