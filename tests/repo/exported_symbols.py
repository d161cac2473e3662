#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""libferry.so exports exactly the functions that its headers declare, each at a FERRY_ version node, and no
program of ours is linked with a CUDA driver.

usage: exported_symbols.py HEADER... libferry.so [other programs and libraries]; headers end in .h"""

import re
import subprocess
import sys
from pathlib import Path


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def declared_functions(headers):
    text = "".join(Path(header).read_text(encoding="utf-8") for header in headers)
    text = re.sub(r"/\*.*?\*/", " ", text, flags=re.DOTALL)
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


def troubles(headers, library, others):
    declared, exported = declared_functions(headers), exported_symbols(library)
    for header in headers:
        if not declared_functions([header]):
            yield f"{header}: declares no function"
    for name in sorted(declared - {name for name, _ in exported}):
        yield f"{library}: does not export {name}, which a header declares"
    for name, node in sorted(exported):
        if name not in declared:
            yield f"{library}: exports {name}, which no header declares"
        if not re.fullmatch(r"FERRY_\d+\.\d+", node):
            yield f"{library}: exports {name} without a version node (found '{node}')"
    for path in [library, *others]:
        for needed in linked_libraries(path):
            if re.match(r"lib(cuda|cudart|nvidia-ml)\.so", needed):
                yield f"{path}: is linked with {needed}; the driver is found at run time"


def main(arguments):
    headers = [argument for argument in arguments if argument.endswith(".h")]
    others = [argument for argument in arguments if not argument.endswith(".h")]
    if not headers or not others:
        print(__doc__, file=sys.stderr)
        return 2
    found = list(troubles(headers, others[0], others[1:]))
    for trouble in found:
        print(trouble)
    print(f"{len(declared_functions(headers))} functions declared, {len(found)} troubles")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
