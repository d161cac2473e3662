# SPDX-License-Identifier: Apache-2.0
"""Full mode under the real torch, on the stand-ins, beside torch's own allocator where both can answer."""

import subprocess
import tempfile
import unittest

import torch_runs
from torch_runs import PREPARE, PYTHON, environment, run

FERRY = "backend:ferry,ferry_mode:full"

TRAINING = """
import torch
if HISTORY: torch.cuda.memory._record_memory_history(context=None)
model = torch.nn.Sequential(torch.nn.Linear(512, 2048), torch.nn.ReLU(), torch.nn.Linear(2048, 10)).cuda()
optimizer = torch.optim.AdamW(model.parameters())
for size in (64, 32, 96):
    model(torch.randn(size, 512, device="cuda")).sum().backward()
    optimizer.step()
    optimizer.zero_grad()
"""


class FullMode(unittest.TestCase):
    def facts(self, code, conf=FERRY, **more):
        done = run(code, conf, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.facts

    def test_both_registrations_are_ferrys(self):
        facts = self.facts("""
import torch, ferry.torch
tensor = torch.ones(1000, device="cuda")
status = ferry.torch.status()
tell(name=torch.cuda.get_allocator_backend(), cuda=torch.cuda.memory_allocated(), accelerator=torch.accelerator.memory_allocated(),
     mode=status.mode, conf=os.environ["PYTORCH_CUDA_ALLOC_CONF"], library=status.library)
""")
        self.assertEqual((facts["name"], facts["mode"]), ("ferry", "full"))
        self.assertEqual((facts["cuda"], facts["accelerator"]), (4096, 4096))
        self.assertEqual(facts["conf"], FERRY)

    def test_statistics_mean_what_torchs_do(self):
        code = TRAINING.replace("HISTORY", "False") + "tell(**torch.cuda.memory_stats())"
        ours, native = self.facts(code), self.facts(code, None)
        self.assertEqual(set(ours), set(native))
        for figure in ("allocation", "requested_bytes", "active"):
            for pool in ("all", "small_pool", "large_pool"):
                for kind in ("current", "peak", "allocated", "freed"):
                    name = f"{figure}.{pool}.{kind}"
                    self.assertEqual(ours[name], native[name], name)
        self.assertGreaterEqual(ours["allocated_bytes.all.peak"], ours["requested_bytes.all.peak"])
        self.assertGreaterEqual(ours["reserved_bytes.all.current"], ours["active_bytes.all.current"])
        self.assertEqual(ours["num_device_alloc"] - ours["num_device_free"], ours["segment.all.current"])

    def test_the_history_is_torchs(self):
        code = TRAINING.replace("HISTORY", "True") + """
trace = torch.cuda.memory._snapshot()["device_traces"][0]
tell(events=[(entry["action"], entry["size"]) for entry in trace if entry["action"] in ("alloc", "free_requested", "free_completed")])
"""
        ours, native = self.facts(code)["events"], self.facts(code, None)["events"]
        self.assertGreater(len(ours), 100)
        self.assertEqual(ours, native)

    def test_snapshots_are_read_by_torchs_viewer(self):
        facts = self.facts(TRAINING.replace("HISTORY", "True") + """
import pickle, tempfile
from torch.cuda import _memory_viz
with tempfile.NamedTemporaryFile() as file:
    torch.cuda.memory._dump_snapshot(file.name)
    snapshot = pickle.load(open(file.name, "rb"))
segments = snapshot["segments"]
tell(page=len(_memory_viz.trace_plot(snapshot)), table=_memory_viz.segsum(snapshot)[:4000],
     total=sum(s["total_size"] for s in segments), active=sum(s["active_size"] for s in segments),
     tiled=all(sum(b["size"] for b in s["blocks"]) == s["total_size"] for s in segments),
     live=sum(b["requested_size"] for s in segments for b in s["blocks"] if b["state"] == "active_allocated"),
     stats=torch.cuda.memory_stats())
""")
        self.assertGreater(facts["page"], 1000)
        self.assertTrue(facts["tiled"])
        self.assertEqual(facts["total"], facts["stats"]["reserved_bytes.all.current"])
        self.assertEqual(facts["active"], facts["stats"]["active_bytes.all.current"])
        self.assertEqual(facts["live"], facts["stats"]["requested_bytes.all.current"])

    def test_peaks_totals_and_the_cache(self):
        facts = self.facts("""
import torch
torch.empty(8 << 20, device="cuda")
torch.cuda.synchronize()
tell(held=torch.cuda.memory_reserved(), peak=torch.cuda.max_memory_reserved())
torch.cuda.empty_cache()
tell(emptied=torch.cuda.memory_reserved())
torch.cuda.reset_peak_memory_stats()
torch.cuda.reset_accumulated_memory_stats()
tell(peak_after=torch.cuda.max_memory_allocated(), total_after=torch.cuda.memory_stats()["allocation.all.allocated"])
""")
        self.assertGreaterEqual(facts["held"], 32 << 20)
        self.assertEqual(facts["emptied"], 0)
        self.assertEqual((facts["peak_after"], facts["total_after"]), (0, 0))

    def test_a_recorded_stream_keeps_a_block_active(self):
        facts = self.facts("""
import torch
side = torch.cuda.Stream()
block = torch.empty(32 << 20, dtype=torch.uint8, device="cuda")
block.record_stream(side)
del block
stats = torch.cuda.memory_stats()
tell(allocated=stats["allocated_bytes.all.current"], active=stats["active_bytes.all.current"])
torch.cuda.empty_cache()
tell(after=torch.cuda.memory_stats()["active_bytes.all.current"])
""")
        self.assertEqual((facts["allocated"], facts["active"], facts["after"]), (0, 32 << 20, 0))

    def test_out_of_memory_is_torchs_error_with_ferrys_report_and_leaves_the_program_going(self):
        facts = self.facts("""
import torch
seen = []
torch._C._cuda_attach_out_of_memory_observer(lambda device, alloc, total, free: seen.append(alloc))
kept = torch.empty(6 << 20, dtype=torch.uint8, device="cuda")
try:
    torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    tell(text=str(error))
tell(ooms=torch.cuda.memory_stats()["num_ooms"], seen=seen, kept=kept.numel(), after=torch.empty(4 << 20, dtype=torch.uint8, device="cuda").numel())
""", "backend:ferry,ferry_limit:16MiB")
        for part in ("CUDA out of memory. Tried to allocate 64.00 MiB", "largest live blocks", "16 MiB (its limit)"):
            self.assertIn(part, facts["text"])
        self.assertEqual((facts["ooms"], facts["seen"], facts["after"]), (1, [64 << 20], 4 << 20))

    def test_the_memory_fraction(self):
        code = """
import torch
torch.ones(1, device="cuda")
SET
try:
    torch.empty(1 << 30, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError:
    tell(oom=True)
tell(fraction=torch.cuda.get_per_process_memory_fraction())
"""
        sim = "kernels=skipped;capacity=4GiB"
        by_call = self.facts(code.replace("SET", "torch.cuda.set_per_process_memory_fraction(0.125)"), FERRY_SIM=sim)
        by_key = self.facts(code.replace("SET", ""), FERRY + ",per_process_memory_fraction:0.125", FERRY_SIM=sim)
        for facts in (by_call, by_key):
            self.assertEqual(facts, {"oom": True, "fraction": 0.125})

    def test_pinned_memory_is_ferrys(self):
        facts = self.facts("""
import torch
pinned = torch.arange(10000).pin_memory()
on_gpu = pinned.to("cuda", non_blocking=True)
torch.cuda.synchronize()
tell(back=on_gpu.cpu().sum().item(), pinned=pinned.is_pinned(), stats=torch.cuda.host_memory_stats())
del pinned
tell(after=torch.cuda.host_memory_stats()["active_bytes.current"])
""")
        self.assertEqual((facts["back"], facts["pinned"], facts["after"]), (sum(range(10000)), True, 0))
        # 80,000 bytes take whole pages, where torch's own allocator takes the next power of two.
        self.assertEqual(facts["stats"]["active_bytes.current"], 81920)
        self.assertEqual(self.facts("import torch; torch.cuda.init(); torch.empty(20000).pin_memory(); tell(n=torch.cuda.host_memory_stats()['active_bytes.peak'])",
                                    FERRY + ",ferry_pinned:False")["n"], 131072)

    def test_what_is_not_there_is_refused_by_name(self):
        facts = self.facts("""
import torch
tensor = torch.ones(4, device="cuda")
attempts = dict(pool=lambda: torch.cuda.MemPool(use_on_oom=True), unsplit=lambda: torch.cuda.MemPool(no_split=True), ipc=lambda: tensor.untyped_storage()._share_cuda_(),
                uncached=lambda: torch.cuda.caching_allocator_enable(False))
for name, attempt in attempts.items():
    try:
        attempt()
        tell(**{name: "it worked"})
    except NotImplementedError as error:
        tell(**{name: str(error)})
tell(still=(tensor + 1).numel())
""")
        for name in ("pool", "unsplit", "ipc", "uncached"):
            self.assertIn("Ferry does not support", facts[name], name)
        self.assertEqual(facts["still"], 4)

    def test_forks_workers_and_the_end_of_the_process(self):
        done = run("""
import torch
data = torch.utils.data.TensorDataset(torch.arange(64.0))
loader = torch.utils.data.DataLoader(data, batch_size=8, num_workers=2, pin_memory=True)
kept = [batch.cuda(non_blocking=True) for (batch,) in loader]
tell(sum=sum(tensor.cpu().sum().item() for tensor in kept))
child = os.fork()
if child == 0:
    kept.clear()  # the parent's blocks are not the child's to give back
    os._exit(0)
tell(child=os.waitpid(child, 0)[1])
sys.modules["kept for the end"] = kept
""", FERRY)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.facts, {"sum": 2016.0, "child": 0})
        self.assertNotIn("rror", done.stderr)

    def test_two_processes_may_compile_at_once(self):
        with tempfile.TemporaryDirectory() as cache, tempfile.NamedTemporaryFile("w", suffix=".py") as script:
            script.write(PREPARE + "import torch, ferry.torch; torch.ones(1, device='cuda'); print(ferry.torch.status().mode)")
            script.flush()
            runs = [subprocess.Popen([PYTHON, script.name], env=environment(FERRY, XDG_CACHE_HOME=cache), stdout=subprocess.PIPE, text=True)
                    for _ in range(2)]
            self.assertEqual([each.communicate(timeout=300)[0].strip() for each in runs], ["full", "full"])

    def test_what_cannot_be_compiled_is_said(self):
        with tempfile.TemporaryDirectory() as empty:
            done = run("import torch, ferry.torch; torch.ones(1, device='cuda'); tell(mode=ferry.torch.status().mode, why=ferry.torch.status().why)",
                       "backend:ferry", FERRY_CUDA_INCLUDE=empty)
            self.assertEqual(done.facts["mode"], "portable")
            self.assertIn("cuda_runtime_api.h", done.facts["why"])
            self.assertIn("ferry: warning: portable mode", done.stderr)
            refused = run("import torch; tell(imported=True); torch.ones(1, device='cuda')", FERRY, FERRY_CUDA_INCLUDE=empty)
            self.assertEqual((refused.returncode, refused.facts), (1, {"imported": True}))
            self.assertIn("full mode was asked for: CUDA's headers", refused.stderr)


if __name__ == "__main__":
    torch_runs.skip_unless_possible()
    unittest.main()
