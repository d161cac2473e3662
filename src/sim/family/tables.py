# SPDX-License-Identifier: Apache-2.0
"""The committed tables of src/abi/family, and the versions that an installed torch names."""

import re
from dataclasses import dataclass
from pathlib import Path


class Failure(Exception):
    """A sentence for people."""


@dataclass(frozen=True)
class Library:
    name: str
    begins: re.Pattern
    not_supported: int
    distribution: str
    factors: tuple


@dataclass(frozen=True)
class Function:
    name: str
    returns: str
    parameters: tuple  # (name, kind)


def lines_of(path):
    for line in path.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith("#"):
            yield line.split("\t")


def read_libraries(folder):
    return {name: Library(name, re.compile(begins), int(status), distribution, tuple(int(factor) for factor in factors.split(",")))
            for name, begins, status, distribution, factors in lines_of(folder / "libraries.tsv")}


def read_functions(folder, library):
    """{name: Function}; empty where there is no table of the library."""
    path = folder / f"{library}.tsv"
    functions = {}
    for name, returns, *rest in lines_of(path) if path.is_file() else ():
        words = rest[0].split() if rest else []
        functions[name] = Function(name, returns, tuple(tuple(word.split(":")) for word in words))
    return functions


class Versions:
    """Which versions of NVIDIA's libraries the installed torch was built with: what its METADATA requires."""

    def __init__(self, torch):
        self.required = {}
        metadata = sorted(torch.parent.glob("torch-*.dist-info/METADATA"))
        if metadata:
            text = metadata[-1].read_text(encoding="utf-8", errors="replace")
            for name, version in re.findall(r"^Requires-Dist: ([\w-]+)(?:\[[^\]]*\])? *\(?==([\d.]+)", text, re.MULTILINE):
                self.required[re.sub(r"-cu\d+$", "", name)] = tuple(int(part) for part in version.split("."))
        stated = torch / "version.py"
        match = re.search(r"^cuda\b.*?= *'(\d+)\.(\d+)", stated.read_text(), re.MULTILINE) if stated.is_file() else None
        self.toolkit = (int(match.group(1)), int(match.group(2))) if match else (-1, -1)

    def of(self, library):
        """(major, minor, patch), or None where torch does not say."""
        found = self.required.get(library.distribution)
        if found is None and library.distribution == "cuda-toolkit" and self.toolkit[0] > 0:
            found = (*self.toolkit, 0)
        return (*found, 0, 0)[:3] if found else None

    def at_least(self, library):
        """For functions that return a version and cannot refuse: the libraries of a toolkit are no older than it."""
        found = self.of(library)
        if found is None and self.toolkit[0] > 0 and library.name.startswith("cublas"):
            found = (*self.toolkit, 0)
        return found


def number_of(library, version):
    return sum(part * factor for part, factor in zip(version, library.factors)) if version else -1
