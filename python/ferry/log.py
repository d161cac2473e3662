# SPDX-License-Identifier: Apache-2.0
"""What the package says by itself: lines on standard error that begin with "ferry: ". FERRY_LOG chooses how
much: error, warning (the default), info or debug."""

import os
import sys

LEVELS = ["error", "warning", "info", "debug"]


def level():
    named = os.environ.get("FERRY_LOG", "warning").strip().lower()
    return LEVELS.index(named) if named in LEVELS else LEVELS.index("warning")


def say(at, text):
    if LEVELS.index(at) <= level():
        prefix = "" if at == "info" else f"{at}: "
        print(f"ferry: {prefix}{text}", file=sys.stderr, flush=True)
