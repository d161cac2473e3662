#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""PyTorch itself over the stand-ins: eager programs of every library get through. Nothing is computed, so the shapes,
the memory and the errors are what is judged. Skipped (77) where scripts/torch-env.sh has made no environment, or the
build has no stand-in of the runtime.

usage: torch_test.py ROOT SIM_FOLDER"""

import os
import subprocess
import sys
import unittest
from pathlib import Path

ROOT, SIM = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
ENVIRONMENT = ROOT / "build/torch-env"
FAMILY = ENVIRONMENT / "sim-family"

HEAD = """
import torch
import torch.nn.functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel
def rand(*shape, **more): return torch.randn(*shape, device="cuda", **more)
"""


class Torch(unittest.TestCase):
    def run_program(self, text, **environment):
        variables = dict(os.environ, LD_LIBRARY_PATH=f"{FAMILY}:{SIM}", FERRY_SIM="kernels=skipped;capacity=8GiB")
        return subprocess.run([ENVIRONMENT / "bin/python", "-W", "ignore", "-c", HEAD + text], capture_output=True, text=True,
                              env={**variables, **environment})

    def assert_prints(self, text, expected, **environment):
        result = self.run_program(text, **environment)
        self.assertEqual((result.returncode, result.stdout.split("\n")[:-1]), (0, expected), result.stderr)
        return result.stderr

    def test_versions_and_devices(self):
        self.assert_prints("""
print(torch.cuda.is_available(), torch.cuda.device_count(), torch.backends.cudnn.is_available())
print(torch.cuda.nccl.version() >= (2, 0, 0), torch.backends.cudnn.version() > 90000)
""", ["True 2 True", "True True"], FERRY_SIM="kernels=skipped;devices=2")

    def test_hidden_devices_are_not_counted(self):
        self.assert_prints("print(torch.cuda.device_count(), torch.cuda._device_count_nvml())", ["1 1"],
                           FERRY_SIM="kernels=skipped;devices=3", CUDA_VISIBLE_DEVICES="2")

    def test_layers(self):
        self.assert_prints("""
for layer, shape in [(torch.nn.Linear(8, 4), (3, 8)), (torch.nn.Conv2d(3, 4, 3), (2, 3, 9, 9)), (torch.nn.BatchNorm2d(3), (2, 3, 9, 9)),
                     (torch.nn.ConvTranspose2d(3, 4, 3), (2, 3, 9, 9)), (torch.nn.LayerNorm(8), (3, 8)),
                     (torch.nn.TransformerEncoderLayer(8, 2), (5, 3, 8))]:
    layer, input = layer.cuda(), rand(*shape, requires_grad=True)
    result = layer(input)
    result.sum().backward()
    print(tuple(result.shape), input.grad.shape == input.shape, all(p.grad is not None for p in layer.parameters()))
torch.optim.AdamW(layer.parameters(), fused=True).step()
""", ["(3, 4) True True", "(2, 4, 7, 7) True True", "(2, 3, 9, 9) True True", "(2, 4, 11, 11) True True", "(3, 8) True True",
      "(5, 3, 8) True True"])

    def test_recurrent_networks(self):
        self.assert_prints("""
for make, options in [(torch.nn.LSTM, dict(num_layers=2, bidirectional=True, dropout=0.5)), (torch.nn.LSTM, dict(proj_size=3)),
                      (torch.nn.LSTM, dict(bias=False)), (torch.nn.GRU, dict(num_layers=2)), (torch.nn.RNN, {})]:
    network = make(6, 8, **options).cuda()
    result = network(rand(5, 2, 6))[0]
    result.sum().backward()
    print(tuple(result.shape), all(p.grad.shape == p.shape for p in network.parameters()))
""", ["(5, 2, 16) True", "(5, 2, 3) True", "(5, 2, 8) True", "(5, 2, 8) True", "(5, 2, 8) True"])

    def test_attention(self):
        self.assert_prints("""
for backend in (SDPBackend.CUDNN_ATTENTION, SDPBackend.FLASH_ATTENTION, SDPBackend.EFFICIENT_ATTENTION, SDPBackend.MATH):
    query, key, value = (rand(2, 4, 64, 64, dtype=torch.bfloat16, requires_grad=True) for _ in range(3))
    with sdpa_kernel(backend):
        result = F.scaled_dot_product_attention(query, key, value, is_causal=True)
    result.sum().backward()
    print(tuple(result.shape), query.grad.shape == query.shape)
""", ["(2, 4, 64, 64) True"] * 4)

    def test_linear_algebra_transforms_and_sparse_matrices(self):
        self.assert_prints("""
a = rand(6, 6)
print(torch.linalg.inv(a).shape == a.shape, [tuple(part.shape) for part in torch.linalg.svd(a)], torch.linalg.det(a).shape)
print([tuple(f(a)[0].shape) for f in (torch.linalg.qr, torch.linalg.eigh, torch.linalg.lu)], torch.linalg.solve(a, a).shape == a.shape)
print(tuple(torch.fft.rfft2(rand(8, 16)).shape), tuple(torch.fft.ifft(rand(8)).shape))
csr = torch.eye(4).to_sparse_csr().cuda()
print(tuple((csr @ rand(4, 3)).shape), tuple((csr @ csr).shape), tuple(torch.sparse.mm(csr.to_sparse_coo(), rand(4, 2)).shape))
""", ["True [(6, 6), (6,), (6, 6)] torch.Size([])", "[(6, 6), (6,), (6, 6)] True", "(8, 9) (8,)", "(4, 3) (4, 4) (4, 2)"])

    def test_memory(self):
        for settings in ("expandable_segments:False", "expandable_segments:True"):
            self.assert_prints("""
try:
    torch.empty(1 << 40, device="cuda")
except torch.OutOfMemoryError as trouble:
    print("total capacity of 8.00 GiB" in str(trouble), "Tried to allocate 4096.00 GiB" in str(trouble))
torch.empty(64 << 20, dtype=torch.uint8, device="cuda")
print(torch.cuda.max_memory_allocated() >> 20)
""", ["True True", "64"], PYTORCH_ALLOC_CONF=settings)

    def test_what_cannot_run_is_refused_by_name(self):
        result = self.run_program("""
torch.cuda._compile_kernel('extern "C" __global__ void twice(float* x) {}', "twice")
""")
        self.assertNotEqual(result.returncode, 0)
        self.assertIn("ferry-sim: twice.cu is compiled at run time (NVRTC) and cannot run on the stand-in", result.stderr)

    def test_one_process_group(self):
        self.assert_prints("""
import os, torch.distributed as dist
dist.init_process_group("nccl", store=dist.HashStore(), rank=0, world_size=1)
x = rand(4)
dist.all_reduce(x)
dist.barrier()
print(dist.get_world_size())
dist.destroy_process_group()
""", ["1"])


if __name__ == "__main__":
    for needed in (FAMILY / "manifest.json", SIM / "libcudart.so.13"):
        if not needed.is_file():
            print(f"skipped: there is no {needed}")
            sys.exit(77)
    unittest.main(argv=sys.argv[:1])
