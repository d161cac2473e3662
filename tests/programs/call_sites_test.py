#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The report of a hazard says where in the program each of its operations was asked for.

usage: call_sites_test.py CALL_SITES"""
import os
import re
import shutil
import subprocess
import sys
import unittest

PROGRAM = os.path.abspath(sys.argv.pop(1))
# What a report begins with, and the functions that it names, in this order.
REPORTS = [
    (r"write after write without order: cuMemsetD8Async \(operation \d+\)", ["fill_first", "fill_again"]),
    ("the host changed the source", ["queue_upload"]),
    ("cuMemFreeHost while", ["queue_upload", "unpin_too_early"]),
    ("cuMemFree while", ["fill_first", "free_too_early"]),
    ("cuMemcpyDtoHAsync .* uses memory that was freed", ["use_when_freed"]),
    ("write after write without order: cuGraphAddMemsetNode .* and cuGraphAddMemsetNode",
     ["add_node", "add_unordered_node", "launch_added"]),
    ("write after write without order: cuMemsetD8Async .* and cuMemsetD8Async .*, a node of a graph",
     ["fill_again", "fill_first", "launch_captured"]),
]
SITE = re.compile(r"^           (?:launched )?from (?:(\w+)\+0x[0-9a-f]+ in )?(\S+) \((addr2line -Cfe \S+ 0x[0-9a-f]+)\)$", re.M)


class CallSites(unittest.TestCase):
    def setUp(self):
        environment = dict(os.environ, FERRY_SIM="schedule=lazy")
        self.outcome = subprocess.run([PROGRAM], env=environment, capture_output=True, text=True, timeout=60)
        self.reports = self.outcome.stderr.split("ferry-sim: hazard: ")[1:]

    def test_every_report_names_the_functions_that_called(self):
        for beginning, functions in REPORTS:
            reports = [report for report in self.reports if re.match(beginning, report)]
            self.assertTrue(reports, f"no report of '{beginning}' in\n{self.outcome.stderr}")
            sites = SITE.findall(reports[0])
            self.assertEqual([site[0] for site in sites], functions, reports[0])
            self.assertEqual({site[1] for site in sites}, {os.path.realpath(PROGRAM)}, reports[0])

    def test_a_library_that_calls_for_the_program_is_seen_through(self):
        by_library = [sites for sites in map(SITE.findall, self.reports)
                      if any(site[0] == "ask_the_library" for site in sites)]
        self.assertEqual(len(by_library), 1, self.outcome.stderr)
        own_thread, asked = by_library[0]
        self.assertEqual(asked[1], os.path.realpath(PROGRAM))
        self.assertIn("libferry_go_between.so", own_thread[1], "a thread that the program has no part in")

    @unittest.skipUnless(shutil.which("addr2line"), "no addr2line here")
    def test_the_command_beside_it_finds_the_function_too(self):
        sites = SITE.findall(self.outcome.stderr)
        self.assertTrue(sites)
        for function, _, command in (site for site in sites if site[0]):
            found = subprocess.run(command.split(), capture_output=True, text=True, timeout=60).stdout
            self.assertIn(function, found.splitlines(), command)


if __name__ == "__main__":
    unittest.main()
