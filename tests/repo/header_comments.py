#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks that a header of the C API says of every function what it must, each on a line of its own: what it requires, its
stream order, whether it blocks the host, its errors. Tools that lay text out anew run such lines together.
Also that every statistic is explained.

usage: header_comments.py HEADER"""

import re
import sys
from pathlib import Path

ASPECTS = ["requires", "stream order", "blocks host", "errors"]


def missing_lines(text):
    """Names the functions that return a status and lack a line, with the line."""
    found = []
    for comment, name in re.findall(r"/\*((?:(?!\*/).)*)\*/\s*FERRY_API ferry_status (\w+)\(", text, re.DOTALL):
        lines = [line.strip(" *") for line in comment.splitlines()]
        found += [f"{name}: {aspect}" for aspect in ASPECTS if not any(l.startswith(f"- {aspect}: ") for l in lines)]
    declared = set(re.findall(r"FERRY_API ferry_status (\w+)\(", text)) - {"ferry_status_string"}
    explained = set(re.findall(r"\*/\s*FERRY_API ferry_status (\w+)\(", text))
    return found + [f"{name}: any comment" for name in sorted(declared - explained)]


def unexplained_figures(text):
    structs = re.findall(r"struct ferry_\w+_(?:stats|figures)_t \{(.*?)\}", text, re.DOTALL)
    lines = [line for struct in structs for line in struct.splitlines()]
    return [line.strip() for line in lines if re.search(r"uint64_t|ferry_figure", line) and "/*" not in line]


def main():
    text = Path(sys.argv[1]).read_text()
    wrong = missing_lines(text) + unexplained_figures(text)
    for entry in wrong:
        print(f"{sys.argv[1]}: {entry} is missing")
    if "FERRY_API ferry_status" not in text:
        print("no function was found")
        return 1
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
