# SPDX-License-Identifier: Apache-2.0
"""CUDA graphs and torch.cuda.MemPool in full mode, on the stand-ins: who gets which memory, beside torch's own allocator."""

import unittest

import torch_runs
from torch_runs import run

FERRY = "backend:ferry,ferry_mode:full"

GRAPH = """
import torch
MIB = 1 << 20
def tensor(mib=4): return torch.empty(mib * MIB // 4, device="cuda")
def held(pool): return sum(segment["total_size"] for segment in torch.cuda.memory_snapshot(pool))
outside = tensor()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    first = tensor()
    address = first.data_ptr()
    del first
    again = tensor()
    tell(reused_in_the_capture=again.data_ptr() == address)
after = tensor()
graph.replay()
torch.cuda.synchronize()
tell(reused_outside=after.data_ptr() == address, pool=graph.pool(), known=held(graph.pool()) >= 4 * MIB,
     segments=sorted({tuple(segment["segment_pool_id"]) for segment in torch.cuda.memory_snapshot()}))
del again
torch.cuda.empty_cache()
kept = held(graph.pool())
pool = graph.pool()
graph.reset()
torch.cuda.empty_cache()
tell(kept=kept >= 4 * MIB, released=held(pool), reserved_falls=torch.cuda.memory_reserved() < kept + torch.cuda.memory_allocated() + 16 * MIB)
"""

MEMPOOL = """
import torch
MIB = 1 << 20
def tensor(mib=4): return torch.empty(mib * MIB // 4, device="cuda")
pool = torch.cuda.MemPool()
outside = tensor()
with torch.cuda.use_mem_pool(pool):
    inside = tensor()
    tell(uses_inside=pool.use_count())
tell(uses=pool.use_count(), active=sum(segment["active_size"] for segment in pool.snapshot()))
address = inside.data_ptr()
del inside
tell(outside_has_it=tensor().data_ptr() == address)
with torch.cuda.use_mem_pool(pool):
    tell(inside_has_it=tensor().data_ptr() == address)
keeps = tensor()
with torch.cuda.use_mem_pool(pool):
    last = tensor()
del pool
tell(alive=last.data_ptr() == address, allocated=torch.cuda.memory_allocated())
del last, keeps, outside
torch.cuda.empty_cache()
tell(reserved=torch.cuda.memory_reserved())
"""

SHARED = """
import torch
def tensor(mib=4): return torch.empty((mib << 20) // 4, device="cuda")
pool = torch.cuda.graph_pool_handle()
graphs = [torch.cuda.CUDAGraph(), torch.cuda.CUDAGraph()]
side = torch.cuda.Stream()
with torch.cuda.graph(graphs[0], pool=pool):
    a = tensor()
    address = a.data_ptr()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        b = tensor()
        a.record_stream(side)
    torch.cuda.current_stream().wait_stream(side)
    del a
    c = tensor()
    tell(used_elsewhere_is_not_reused=c.data_ptr() != address)
    kept = c.data_ptr()
    del c
with torch.cuda.graph(graphs[1], pool=pool):
    tell(the_next_graph_reuses=tensor().data_ptr() in (address, kept))
graphs[0].reset()
tell(in_use_by_the_other=sum(segment["total_size"] for segment in torch.cuda.memory_snapshot(pool)) > 0)
"""


class Pools(unittest.TestCase):
    def facts(self, code, conf=FERRY, **more):
        done = run(code, conf, **more)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertNotIn("hazard", done.stderr)
        return done.facts

    def test_a_graph_owns_its_memory_as_under_torchs_own_allocator(self):
        ours = self.facts(GRAPH)
        self.assertEqual(ours, self.facts(GRAPH, None))
        self.assertTrue(ours["reused_in_the_capture"] and ours["kept"])
        self.assertFalse(ours["reused_outside"])
        self.assertEqual(ours["segments"], [[0, 0], ours["pool"]])
        self.assertEqual(ours["released"], 0)

    def test_a_mempool_has_memory_of_its_own_as_under_torchs_own_allocator(self):
        ours = self.facts(MEMPOOL)
        self.assertEqual(ours, self.facts(MEMPOOL, None))
        self.assertEqual((ours["uses_inside"], ours["uses"], ours["active"]), (2, 1, 4 << 20))
        self.assertEqual((ours["outside_has_it"], ours["inside_has_it"], ours["reserved"]), (False, True, 0))

    def test_graphs_share_a_pool_and_no_block_that_another_stream_uses(self):
        for schedule in ("eager", "lazy", "random;seed=3"):
            ours = self.facts(SHARED, FERRY_SIM=f"kernels=skipped;schedule={schedule}")
            self.assertEqual(ours, {"used_elsewhere_is_not_reused": True, "the_next_graph_reuses": True, "in_use_by_the_other": True}, schedule)

    def test_launches_come_back_to_their_memory(self):
        for schedule in ("eager", "lazy", "random;seed=3"):
            facts = self.facts("""
import torch
source = torch.arange(1 << 20, dtype=torch.float32).pin_memory().cuda()
torch.cuda.synchronize()
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    staged = torch.empty_like(source)
    staged.copy_(source)
    result = torch.empty_like(source)
    result.copy_(staged)
    del staged
others = [torch.full((1 << 20,), 7.0).cuda() for _ in range(8)]
for _ in range(3): graph.replay()
torch.cuda.synchronize()
tell(result=bool((result.cpu() == torch.arange(1 << 20)).all()), others=all(bool((other.cpu() == 7).all()) for other in others))
""", FERRY_SIM=f"kernels=skipped;schedule={schedule}")
            self.assertEqual(facts, {"result": True, "others": True}, schedule)

    def test_pinned_memory_that_a_graph_reads_is_kept_for_it(self):
        facts = self.facts("""
import torch
pinned = torch.arange(4096.).pin_memory()
address = pinned.data_ptr()
on_gpu = torch.zeros(4096, device="cuda")
graph = torch.cuda.CUDAGraph()
with torch.cuda.graph(graph):
    on_gpu.copy_(pinned, non_blocking=True)
del pinned
other = torch.ones(4096).pin_memory()
graph.replay()
torch.cuda.synchronize()
tell(kept=other.data_ptr() != address, sum=on_gpu.cpu().sum().item())
graph.reset()
tell(given_back=torch.ones(4096).pin_memory().data_ptr() == address)
""")
        self.assertEqual(facts, {"kept": True, "sum": sum(range(4096)), "given_back": True})

    def test_out_of_memory_in_a_capture_says_who_holds_what_and_spoils_no_other_graph(self):
        facts = self.facts("""
import torch
torch.cuda.set_per_process_memory_fraction(0.001)
limit = int(torch.cuda.get_device_properties(0).total_memory * 0.001)
graph = torch.cuda.CUDAGraph()
try:
    with torch.cuda.graph(graph):
        kept = torch.empty(limit // 2, dtype=torch.uint8, device="cuda")
        torch.empty(limit, dtype=torch.uint8, device="cuda")
except torch.OutOfMemoryError as error:
    tell(report=str(error))
del kept, graph
torch.cuda.empty_cache()
again = torch.cuda.CUDAGraph()
with torch.cuda.graph(again):
    tensor = torch.empty(limit // 2, dtype=torch.uint8, device="cuda")
again.replay()
torch.cuda.synchronize()
tell(again=tensor.numel() == limit // 2, ooms=torch.cuda.memory_stats()["num_ooms"])
""")
        self.assertIn("CUDA out of memory", facts["report"])
        self.assertIn("largest live blocks (1 in all)", facts["report"])
        self.assertEqual((facts["again"], facts["ooms"]), (True, 1))

    def test_another_gpu_reads_and_writes_the_memory(self):
        facts = self.facts("""
import torch
here = torch.arange(1 << 18, dtype=torch.float32).to("cuda:0")
tell(reachable=torch.cuda.can_device_access_peer(1, 0))
there = here.to("cuda:1")
back = torch.zeros(1 << 18, device="cuda:0")
back.copy_(there, non_blocking=True)
torch.cuda.synchronize(0)
torch.cuda.synchronize(1)
tell(sums=[tensor.cpu().double().sum().item() for tensor in (there, back)], device=str(there.device))
# What a kernel of one GPU would do with the other's memory, and may do with the pool's.
import ctypes
runtime = ctypes.CDLL("libcudart.so.13")
torch.cuda.set_device(1)
written = runtime.cudaMemset(ctypes.c_void_p(here.data_ptr()), 0, ctypes.c_size_t(4096))
torch.cuda.synchronize(1)
tell(written=written, left=here.cpu()[:1024].sum().item())
""", FERRY_SIM="kernels=skipped;devices=2")
        total = float(sum(range(1 << 18)))
        self.assertEqual(facts, {"reachable": True, "sums": [total, total], "device": "cuda:1", "written": 0, "left": 0.0})

    def test_the_history_names_the_pool(self):
        code = """
import torch
pool = torch.cuda.MemPool()
torch.cuda.memory._record_memory_history(context=None)
with torch.cuda.use_mem_pool(pool):
    inside = torch.empty(1 << 20, device="cuda")
outside = torch.empty(1 << 20, device="cuda")
del inside
trace = torch.cuda.memory._snapshot()["device_traces"][0]
tell(pool=pool.id, actions=[(entry["action"], entry.get("mempool_id", entry.get("segment_pool_id"))) for entry in trace
                            if entry["action"] in ("alloc", "free_requested", "free_completed")])
"""
        self.assertEqual(self.facts(code), self.facts(code, None))


if __name__ == "__main__":
    torch_runs.skip_unless_possible()
    unittest.main()
