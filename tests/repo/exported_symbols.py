#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libferry.so exports exactly the functions that ferry.h declares, each at a FERRY_ version node, and no
program of ours is linked with a CUDA driver.

usage: exported_symbols.py ferry.h libferry.so [other programs and libraries]"""

import re
import subprocess
import sys
from pathlib import Path


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared_functions(header):
    text = re.sub(r"/\*.*?\*/", " ", Path(header).read_text(encoding="utf-8"), flags=re.DOTALL)
    return set(re.findall(r"\bFERRY_API\b[^;{]*?\b(ferry_\w+)\s*\(", text))


def exported_symbols(library):
    """(symbol, version node) pairs; the nodes themselves, which nm lists as absolute symbols, left out."""
    symbols = set()
    for line in output_of("nm", "--dynamic", "--defined-only", "--with-symbol-versions", library).splitlines():
        _, kind, name = line.split(maxsplit=2)
        if kind != "A":
            name, _, node = name.partition("@")
            symbols.add((name, node.lstrip("@")))
    return symbols


def linked_libraries(path):
    return re.findall(r"\(NEEDED\).*\[(.*)\]", output_of("readelf", "--dynamic", "--wide", path))


def troubles(header, library, others):
    declared, exported = declared_functions(header), exported_symbols(library)
    if not declared:
        yield f"{header}: declares no function"
    for name in sorted(declared - {name for name, _ in exported}):
        yield f"{library}: does not export {name}, which ferry.h declares"
    for name, node in sorted(exported):
        if name not in declared:
            yield f"{library}: exports {name}, which ferry.h does not declare"
        if not re.fullmatch(r"FERRY_\d+\.\d+", node):
            yield f"{library}: exports {name} without a version node (found '{node}')"
    for path in [library, *others]:
        for needed in linked_libraries(path):
            if re.match(r"lib(cuda|cudart|nvidia-ml)\.so", needed):
                yield f"{path}: is linked with {needed}; the driver is found at run time"


def main(arguments):
    if len(arguments) < 2:
        print(__doc__, file=sys.stderr)
        return 2
    found = list(troubles(arguments[0], arguments[1], arguments[2:]))
    for trouble in found:
        print(trouble)
    print(f"{len(declared_functions(arguments[0]))} functions declared, {len(found)} troubles")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
