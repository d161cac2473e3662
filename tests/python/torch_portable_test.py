# SPDX-License-Identifier: Apache-2.0
"""Portable mode, and the ways in, under the real torch on the stand-ins."""

import unittest

import torch_runs
from torch_runs import run

PORTABLE = "backend:ferry,ferry_mode:portable"


class PortableMode(unittest.TestCase):
    def facts(self, code, conf=PORTABLE, **more):
        done = run(code, conf, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.facts

    def test_questions_from_python_are_answered(self):
        facts = self.facts("""
import torch
tensor = torch.ones(1000, device="cuda")
stats = torch.cuda.memory_stats()
segments = torch.cuda.memory_snapshot()
tell(name=torch.cuda.get_allocator_backend(), cuda=torch.cuda.memory_allocated(), accelerator=torch.accelerator.memory_allocated(),
     requested=stats["requested_bytes.small_pool.current"], names=sorted(stats),
     mapped=sum(s["total_size"] for s in segments), reserved=torch.cuda.memory_reserved(), summary=len(torch.cuda.memory_summary()))
del tensor
torch.cuda.reset_peak_memory_stats()
torch.cuda.empty_cache()
tell(peak=torch.cuda.max_memory_allocated(), emptied=torch.cuda.memory_reserved())
""")
        self.assertEqual((facts["name"], facts["cuda"], facts["accelerator"], facts["requested"]), ("pluggable", 4096, 4096, 4000))
        self.assertEqual(facts["mapped"], facts["reserved"])
        self.assertEqual((facts["peak"], facts["emptied"]), (0, 0))
        native = self.facts("import torch; torch.ones(1, device='cuda'); tell(names=sorted(torch.cuda.memory_stats()))", None)
        self.assertEqual(facts["names"], native["names"])

    def test_hooks_reach_the_pool(self):
        facts = self.facts("""
import torch
side = torch.cuda.Stream()
block = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
block.record_stream(side)
del block
tell(active=torch.cuda.memory_stats()["active_bytes.all.current"])
torch.cuda.set_per_process_memory_fraction(0.125)
try:
    torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
except RuntimeError as error:
    tell(text=str(error), fraction=torch.cuda.get_per_process_memory_fraction())
""", FERRY_SIM="kernels=skipped;capacity=4GiB")
        self.assertEqual(facts["active"], 32 << 20)
        self.assertIn("CUDA out of memory. Ferry: out of memory: 1 GiB", facts["text"])
        self.assertEqual(facts["fraction"], 0.125)

    def test_cudnn_benchmark_is_kept_off_with_a_word(self):
        done = run("""
import torch
torch.backends.cudnn.benchmark = True
tell(shape=list(torch.nn.Conv2d(3, 8, 3).cuda()(torch.randn(2, 3, 16, 16, device="cuda")).shape))
""", PORTABLE)
        self.assertEqual(done.facts["shape"], [2, 8, 14, 14], done.stderr)
        self.assertIn("cudnn.benchmark", done.stderr)


class WaysIn(unittest.TestCase):
    def test_a_key_that_torch_does_not_know_is_refused_by_torch(self):
        done = run("import torch; tell(imported=True); torch.ones(1, device='cuda')", "backend:ferry,ferry_mode:portable,nonsense:1")
        self.assertEqual((done.returncode, done.facts), (1, {"imported": True}))
        self.assertIn("Unrecognized key 'nonsense'", done.stderr)

    def test_a_key_that_torch_knows_reaches_it(self):
        done = run("import torch; torch.ones(1, device='cuda'); tell(set=torch._C._accelerator_getAllocatorSettings())", PORTABLE + ",max_split_size_mb:64")
        self.assertEqual(done.facts, {"set": "max_split_size_mb:64"}, done.stderr)

    def test_set_inside_the_program_after_the_import(self):
        done = run(f"import torch; os.environ['PYTORCH_ALLOC_CONF'] = '{PORTABLE}'; torch.ones(1, device='cuda'); tell(name=torch.cuda.get_allocator_backend())")
        self.assertEqual(done.facts, {"name": "pluggable"}, done.stderr)

    def test_auto_loading_switched_off(self):
        code = "import torch; torch.ones(1, device='cuda'); tell(name=torch.cuda.get_allocator_backend())"
        self.assertEqual(run(code, PORTABLE, TORCH_DEVICE_BACKEND_AUTOLOAD="0").facts, {"name": "pluggable"})

    def test_without_any_hook_torch_refuses(self):
        done = run("hook.uninstall(); import torch; torch.ones(1, device='cuda')", PORTABLE, TORCH_DEVICE_BACKEND_AUTOLOAD="0")
        self.assertEqual(done.returncode, 1)
        self.assertIn("Unknown allocator backend", done.stderr)

    def test_after_cuda_was_used(self):
        done = run("import torch, ferry.torch; torch.ones(1, device='cuda'); ferry.torch.enable()")
        self.assertEqual(done.returncode, 1)
        self.assertIn("CUDA was used already", done.stderr)


if __name__ == "__main__":
    torch_runs.skip_unless_possible()
    unittest.main()
