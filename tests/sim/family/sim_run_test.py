#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ferry sim run -- python ...`: PyTorch without a GPU, by the child's environment alone. Skipped (77) where
scripts/torch-env.sh has made no environment.

usage: sim_run_test.py ROOT FERRY"""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, FERRY = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PYTHON = ROOT / "build/torch-env/bin/python"


class SimRun(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.cache.cleanup()

    def sim_run(self, text, *options, **environment):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("FERRY_", "PYTORCH_", "PYTHON", "LD_"))}
        kept |= {"XDG_CACHE_HOME": self.cache.name, "HOME": self.cache.name}
        return subprocess.run([FERRY, "sim", "run", *options, "--", PYTHON, "-c", text], env={**kept, **environment},
                              capture_output=True, text=True, timeout=300)

    def test_a_program_finds_the_gpu_that_was_asked_for(self):
        result = self.sim_run("""
import torch
print(torch.cuda.get_device_name(0), torch.cuda.device_count(), torch.cuda.get_device_properties(1).total_memory >> 30)
x = torch.arange(4.).cuda()
print(x.cpu().tolist(), torch.cuda.memory_allocated())
""", "--gpu", "h200-pcie5", "--capacity", "24GiB", "--devices", "2")
        self.assertEqual((result.returncode, result.stdout), (0, "NVIDIA H200 2 24\n[0.0, 1.0, 2.0, 3.0] 512\n"), result.stderr)

    def test_a_training_step_under_each_of_torchs_allocators(self):
        program = """
import torch
model = torch.nn.Sequential(torch.nn.Linear(64, 64), torch.nn.LSTM(64, 8, batch_first=True)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for _ in range(2):
    model(torch.randn(2, 5, 64).pin_memory().cuda(non_blocking=True))[0].sum().backward()
    optimizer.step()
print(torch.cuda.max_memory_allocated() > 0, torch.cuda.memory.get_allocator_backend())
"""
        for backend, name in (("backend:native", "native"), ("expandable_segments:True", "native"),
                              ("backend:cudaMallocAsync", "cudaMallocAsync")):
            result = self.sim_run(program, PYTORCH_CUDA_ALLOC_CONF=backend)
            self.assertEqual((result.returncode, result.stdout), (0, f"True {name}\n"), result.stderr)

    def test_a_missing_wait_ends_with_66(self):
        for wait, status in (("side.wait_stream(torch.cuda.current_stream())", 0), ("pass", 66)):
            result = self.sim_run(f"""
import torch
pinned = torch.ones(1 << 20).pin_memory()
there = torch.empty(1 << 20, device="cuda")
torch.cuda.synchronize()
side = torch.cuda.Stream()
there.copy_(pinned, non_blocking=True)
{wait}
with torch.cuda.stream(side):
    back = pinned.clone().pin_memory()
    back.copy_(there, non_blocking=True)
side.synchronize()
""")
            self.assertEqual(result.returncode, status, result.stderr)
            self.assertEqual("hazard: read after write" in result.stderr, status == 66, result.stderr)

    def test_no_empty_kernels_are_left_for_a_real_gpu(self):
        result = self.sim_run("""
import torch
print(torch.special.modified_bessel_i1(torch.ones(3, device="cuda")).shape, torch.sinc(torch.ones(3, device="cuda")).shape)
print(torch.gcd(torch.ones(3, device="cuda", dtype=torch.int), 2 * torch.ones(3, device="cuda", dtype=torch.int)).shape)
""")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual([str(path) for path in Path(self.cache.name).rglob("*") if "kernels" in path.parts], [])

    def test_out_of_memory_is_torchs_own_error(self):
        result = self.sim_run("""
import torch
try:
    torch.empty(2 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    print("total capacity of 1024.00 MiB" in str(error))
""", "--capacity", "1GiB")
        self.assertEqual((result.returncode, result.stdout), (0, "True\n"), result.stderr)

    def test_the_programs_own_sitecustomize_is_read(self):
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "sitecustomize.py").write_text("import builtins; builtins.mine = 7\n")
            result = self.sim_run("print(mine)", PYTHONPATH=folder)
        self.assertEqual((result.returncode, result.stdout), (0, "7\n"), result.stderr)

    def test_stand_ins_that_cannot_be_made_are_named(self):
        result = self.sim_run("import torch", XDG_CACHE_HOME="/dev/null")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("/dev/null", result.stderr)


if __name__ == "__main__":
    if not PYTHON.is_file():
        print(f"skipped: {PYTHON} is missing; scripts/torch-env.sh makes it")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
