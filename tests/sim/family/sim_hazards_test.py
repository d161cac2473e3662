#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hazards between PyTorch's operators under `ferry sim run`: programs with a missing wait or record_stream are
reported with their lines and end with 66, their right twins end with 0. Skipped (77) where scripts/torch-env.sh has
made no environment.

usage: sim_hazards_test.py ROOT FERRY"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, FERRY = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PYTHON = ROOT / "build/torch-env/bin/python"
SCHEDULES = ("eager", "lazy", "random;seed=1", "random;seed=2")

PRELUDE = """
import threading
import torch
main, side = torch.cuda.current_stream(), torch.cuda.Stream()
x = torch.randn(1 << 16, device="cuda")
torch.cuda.synchronize()
"""
# By name: the program, and what makes it wrong where it stands for {}.
TWINS = {
    "two operators": ("""
y = x * 2
{}
with torch.cuda.stream(side):
    z = y + 1  # reads early
torch.cuda.synchronize()
""", "side.wait_stream(main)", "reads early"),
    "an operator in place": ("""
with torch.cuda.stream(side):
    y = x.sum()
{}
x.add_(1)  # writes early
torch.cuda.synchronize()
""", "main.wait_stream(side)", "writes early"),
    "part of a tensor": ("""
x[:100].mul_(2)
with torch.cuda.stream(side):
    torch.exp(x[{}:2000])  # reads early
torch.cuda.synchronize()
""", "100", "reads early", "99"),
    "columns": ("""
m = torch.zeros(64, 64, device="cuda")
torch.cuda.synchronize()
m[:, :32].mul_(2)
with torch.cuda.stream(side):
    m[:, {}:].add_(1)  # writes early
torch.cuda.synchronize()
""", "32", "writes early", "31"),
    "memory that goes while a stream uses it": ("""
side.wait_stream(main)
with torch.cuda.stream(side):
    y = x + 1
{}
del x  # goes early
torch.cuda.synchronize()
""", "x.record_stream(side)", "goes early"),
    "memory that goes, waited for": ("""
def work():
    there = torch.ones(1 << 16, device="cuda")
    side.wait_stream(main)
    with torch.cuda.stream(side):
        y = there + 1
    {}
    return y
work()  # goes early
torch.cuda.synchronize()
""", "main.wait_stream(side)", "work()  # goes"),
    "a copy to the host": ("""
there = torch.empty(1 << 16).pin_memory()
y = x * 2
{}
with torch.cuda.stream(side):
    there.copy_(y, non_blocking=True)  # reads early
torch.cuda.synchronize()
""", "side.wait_stream(main)", "reads early"),
    "a thread": ("""
y = x * 2
{}
def work():
    with torch.cuda.stream(side):
        torch.relu(y)  # reads early
thread = threading.Thread(target=work)
thread.start()
thread.join()
torch.cuda.synchronize()
""", "side.wait_stream(main)", "reads early"),
    "a graph": ("""
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    y = x * 2  # captured
graph.replay()
{}
with torch.cuda.stream(side):
    z = y + 1  # reads early
torch.cuda.synchronize()
""", "side.wait_stream(main)", "reads early"),
}
RIGHT = {
    "training with prefetch": """
data = [torch.randn(8, 64).pin_memory() for _ in range(4)]
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.ReLU(), torch.nn.Linear(64, 1)).cuda()
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
side.wait_stream(main)
def load(batch):
    with torch.cuda.stream(side):
        return batch.cuda(non_blocking=True)
ahead = load(data[0])
for step in range(4):
    main.wait_stream(side)
    now = ahead
    now.record_stream(main)
    ahead = load(data[(step + 1) % 4])
    optimizer.zero_grad()
    model(now).sum().backward()
    optimizer.step()
torch.cuda.synchronize()
""",
    "forward and backward on two streams": """
one, two = (torch.nn.Linear(64, 64).cuda() for _ in range(2))
v = torch.randn(8, 64, device="cuda")
for _ in range(3):
    side.wait_stream(main)
    with torch.cuda.stream(side):
        a = one(v)
    b = two(v)
    main.wait_stream(side)
    a.record_stream(main)
    (a + b).sum().backward()
torch.cuda.synchronize()
""",
}


# Runs all programs in one process, each under a name of its own, and prints what the checker said of each.
RUNNER = """
import ctypes, json, os, sys, tempfile
import torch
take = ctypes.CDLL("libcuda.so.1").ferry_sim_take_hazards
said = {}
for name, text in json.load(open(sys.argv[1])).items():
    with tempfile.TemporaryFile("w+") as log:
        kept = os.dup(2)
        os.dup2(log.fileno(), 2)
        try:
            exec(compile(text, name, "exec"), {})
            torch.cuda.synchronize()
        finally:
            count = take()
            os.dup2(kept, 2)
        log.seek(0)
        said[name] = [count, log.read()]
print(json.dumps(said))
"""
BACKWARD = """
w = torch.ones(1 << 16, device="cuda", requires_grad=True)
loss = torch.nn.functional.silu(w).sum()
torch.cuda.synchronize()
loss.backward()
with torch.cuda.stream(side):
    w.grad.zero_()
torch.cuda.synchronize()
"""


def all_programs():
    programs = dict(RIGHT) | {"backward": BACKWARD}
    for name, (program, right, _, *wrong) in TWINS.items():
        programs[f"{name}, right"] = program.format(right)
        programs[f"{name}, wrong"] = program.format(wrong[0] if wrong else "pass")
    return {name: PRELUDE + program for name, program in programs.items()}


def line_of(text, mark):
    return text.split(mark)[0].count("\n") + 1


class Hazards(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.cache.cleanup()

    def run_python(self, text, schedule, allocator, *arguments):
        program = Path(self.cache.name) / "program.py"
        program.write_text(text)
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("FERRY_", "PYTORCH_", "PYTHON", "LD_"))}
        kept |= {"XDG_CACHE_HOME": self.cache.name, "HOME": self.cache.name, "FERRY_SIM": f"schedule={schedule}",
                 "PYTORCH_CUDA_ALLOC_CONF": allocator}
        return subprocess.run([FERRY, "sim", "run", "--capacity", "8GiB", "--", PYTHON, "program.py", *arguments], env=kept,
                              cwd=self.cache.name, capture_output=True, text=True, timeout=300)

    def check_all(self, schedule, allocator):
        programs = all_programs()
        (Path(self.cache.name) / "programs.json").write_text(json.dumps(programs))
        result = self.run_python(RUNNER, schedule, allocator, "programs.json")
        self.assertEqual(result.returncode, 0, result.stderr)
        said = json.loads(result.stdout)
        for name, text in programs.items():
            with self.subTest(name=name, schedule=schedule, allocator=allocator):
                count, report = said[name]
                if name.endswith(", wrong"):
                    line = line_of(text, TWINS[name.removesuffix(", wrong")][2])
                    self.assertRegex(report, rf"hazard: .*aten::(?s:.*)from {name}:{line}\n")
                elif name == "backward":
                    self.assertIn(f"from backward of {name}:{line_of(text, 'loss = ')}\n", report)
                else:
                    self.assertEqual(count, 0, report)

    def test_only_wrong_programs_are_reported_and_with_their_lines(self):
        for schedule in ("eager", "lazy", "random;seed=1"):
            self.check_all(schedule, "backend:native")

    def test_under_expandable_segments(self):
        self.check_all("lazy", "expandable_segments:True")

    def test_a_process_with_hazards_ends_with_66(self):
        program, _, mark = TWINS["two operators"]
        text = PRELUDE + program.format("pass")
        result = self.run_python(text, "eager", "backend:cudaMallocAsync")
        self.assertEqual(result.returncode, 66, result.stderr)
        self.assertIn(f"from program.py:{line_of(text, mark)}\n", result.stderr)


if __name__ == "__main__":
    if not PYTHON.exists():
        print("skipped: there is no build/torch-env")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
