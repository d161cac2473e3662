#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every small program in a process of its own: the correct ones end with 0 under every schedule, and
those with a fault end with 66 (the hazard checker) or 1 (wrong bytes) under lazy.

usage: programs_test.py SMALL_PROGRAMS"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

EVERY = ["schedule=eager", "schedule=lazy", "schedule=lazy;profile=h200-pcie5"]
EVERY += [f"schedule=random;seed={seed}" for seed in range(1, 8)]
LAZY = ["schedule=lazy"]


def is_right(outcome):
    return outcome.returncode == 0


def is_noticed(outcome):
    """Wrong bytes, or named by the hazard checker or a sanitizer; a call may fail besides (status 2)."""
    named = "ferry-sim: hazard:" in outcome.stderr or "WARNING: ThreadSanitizer: " in outcome.stderr
    return outcome.returncode == 1 or (named and outcome.returncode in (2, 66))


def names(program, kind):
    return subprocess.run([program, "--list", kind], check=True, capture_output=True, text=True).stdout.split()


def run(program, name, settings):
    # A sanitizer would wait a second at each end, for what other threads may still do.
    environment = dict(os.environ, FERRY_SIM=settings, TSAN_OPTIONS="atexit_sleep_ms=0")
    return subprocess.run([program, name], env=environment, capture_output=True, text=True, timeout=60)


def main(program):
    cases = [(name, settings, is_right) for name in names(program, "correct") for settings in EVERY]
    cases += [(name, settings, is_noticed) for name in names(program, "faulty") for settings in LAZY]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        outcomes = list(pool.map(lambda case: run(program, case[0], case[1]), cases))
    failures = 0
    for (name, settings, expected), outcome in zip(cases, outcomes):
        if expected(outcome):
            continue
        failures += 1
        print(f"{name} ({settings}) ended with {outcome.returncode}, not as {expected.__name__}\n{outcome.stderr}")
    print(f"{len(cases)} runs, {failures} failures")
    return 1 if failures or not cases else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
