#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs programs that are built with the thread sanitizer: it names both lines of every race between host code
and queued work, whenever the work runs, and finds nothing where the host waits.

usage: host_races_test.py HOST_RACES"""
import os
import re
import subprocess
import sys
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

PROGRAM = sys.argv.pop(1)
SOURCE = Path(__file__).with_name("racing_with_the_host.cpp")
SCHEDULES = ["schedule=eager", "schedule=lazy", "schedule=lazy;profile=h200-pcie5"]
SCHEDULES += [f"schedule=random;seed={seed}" for seed in range(1, 5)]
RACE_STATUS = 70
OPTIONS = f"exitcode={RACE_STATUS} atexit_sleep_ms=0"  # by default it waits a second for late races
# The second, where the host frees first and work that is queued comes later.
RACE = r"WARNING: ThreadSanitizer: (data race|heap-use-after-free) "


def names(kind):
    return subprocess.run([PROGRAM, "--list", kind], check=True, capture_output=True, text=True).stdout.split()


def run(case):
    name, settings = case
    settings += ";hazards=off"  # the sanitizer alone
    environment = dict(os.environ, FERRY_SIM=settings, TSAN_OPTIONS=OPTIONS)
    return subprocess.run([PROGRAM, name], env=environment, capture_output=True, text=True, timeout=120)


def outcomes(kind):
    cases = [(name, settings) for name in names(kind) for settings in SCHEDULES]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(zip(cases, pool.map(run, cases)))


def racing_lines(name):
    lines = SOURCE.read_text().splitlines()
    return [number for number, line in enumerate(lines, 1) if re.search(rf"// RACE {name}$", line)]


class HostRaces(unittest.TestCase):
    def test_code_that_waits_is_right(self):
        all_outcomes = outcomes("correct")
        self.assertTrue(all_outcomes)
        for case, outcome in all_outcomes:
            with self.subTest(case):
                self.assertEqual((outcome.returncode, outcome.stderr), (0, ""))

    def test_both_lines_of_a_race_are_named(self):
        all_outcomes = outcomes("faulty")
        self.assertTrue(all_outcomes)
        for (name, settings), outcome in all_outcomes:
            with self.subTest((name, settings)):
                self.assertEqual(outcome.returncode, RACE_STATUS, outcome.stderr)
                self.assertRegex(outcome.stderr, RACE)
                lines = racing_lines(name)
                self.assertEqual(len(lines), 2)
                for line in lines:
                    self.assertRegex(outcome.stderr, rf"{re.escape(SOURCE.name)}:{line}[ :]")  # clang adds a column


if __name__ == "__main__":
    unittest.main()
