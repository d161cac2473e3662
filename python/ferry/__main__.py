# SPDX-License-Identifier: Apache-2.0
"""usage: python -m ferry run [KEY:VALUE,...] script.py [ARGUMENT...]   runs a program with Ferry as its allocator
       python -m ferry run [KEY:VALUE,...] -m MODULE [ARGUMENT...]
       python -m ferry status                              says what would be used, and from where"""

import os
import runpy
import sys

from ferry import config, hook
from ferry.library import Library, LibraryError


def _ask_for_ferry(keys):
    name, text = config.winner(os.environ)
    items = [item for item in config.split(text or "") if item.strip()]
    if not config.asks_for_ferry(text or ""):
        items.insert(0, "backend:ferry")
    value = ",".join(items + keys)
    config.parse(value)
    os.environ[name or config.VARIABLES[0]] = value


def run(arguments):
    keys = []
    while arguments and arguments[0].startswith("ferry_"):
        keys.append(arguments.pop(0))
    if not arguments or (arguments[0] == "-m" and len(arguments) < 2):
        print(__doc__, file=sys.stderr)
        return 2
    try:
        _ask_for_ferry(keys)
    except config.ConfigError as error:
        print(f"ferry: {error}", file=sys.stderr)
        return 2
    hook.install()
    if arguments[0] == "-m":
        sys.argv = arguments[1:]
        sys.path[0] = os.getcwd()
        runpy.run_module(arguments[1], run_name="__main__", alter_sys=True)
    else:
        if not os.path.isfile(arguments[0]):
            print(f"ferry: no file {arguments[0]}", file=sys.stderr)
            return 2
        sys.argv = arguments
        sys.path[0] = os.path.dirname(os.path.abspath(arguments[0]))
        runpy.run_path(arguments[0], run_name="__main__")
    return 0


def status():
    good = True
    try:
        library = Library()
        print(f"library: {library.path} ({library.found}), {library.version}")
    except LibraryError as error:
        good = False
        print(f"library: none: {error}")
    name, text = config.winner(os.environ)
    print(f"variable: {name}={text}" if name else "variable: none of " + ", ".join(config.VARIABLES) + " is set")
    try:
        import torch
    except ImportError as error:
        print(f"torch: none ({error})")
        return 0 if good else 1
    from ferry.torch import full, status as of_torch

    print(f"torch: {torch.__version__}, CUDA {torch.version.cuda}")
    print(f"allocator: {of_torch()}")
    print(f"full mode: {full.describe(torch)}")
    return 0 if good else 1


def main(arguments=None):
    arguments = list(sys.argv[1:] if arguments is None else arguments)
    command = arguments.pop(0) if arguments else None
    if command == "run":
        return run(arguments)
    if command == "status" and not arguments:
        return status()
    print(__doc__, file=sys.stderr)
    return 0 if command in ("-h", "--help") else 2


if __name__ == "__main__":
    sys.exit(main())
