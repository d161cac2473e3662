#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`ferry sim run --values cpu`: PyTorch programs have the CPU's numbers, and the memory that they have without them.
Skipped (77) where scripts/torch-env.sh has made no environment.

usage: sim_values_test.py ROOT FERRY"""

import json
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT, FERRY = Path(sys.argv[1]).resolve(), Path(sys.argv[2]).resolve()
PYTHON = ROOT / "build/torch-env/bin/python"

# Each function of a device returns tensors or numbers; how far those of the two devices may differ.
PROGRAMS = '''
import torch
from torch import nn
from torch.nn import functional as F
from torch.nn.attention import SDPBackend, sdpa_kernel

EXACT, CLOSE, HALF = 0.0, 1e-5, 2e-2
programs = {}


def program(tolerance):
    return lambda function: programs.__setitem__(function.__name__, (function, tolerance))


def trained(device, make, inputs, kind=torch.optim.AdamW, **options):
    torch.manual_seed(1)
    model = make().to(device)
    optimizer = kind(model.parameters(), lr=1e-2, **options)
    inputs = inputs.to(device)
    losses = []
    for _ in range(3):
        optimizer.zero_grad()
        output = model(inputs)
        loss = (output[0] if isinstance(output, tuple) else output).pow(2).mean()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    # Adam turns the rounding errors of gradients that should be zero into whole steps.
    return losses + ([] if kind is torch.optim.AdamW else [parameter.detach() for parameter in model.parameters()])


@program(CLOSE)
def transformer(device):
    return trained(device, lambda: nn.TransformerEncoderLayer(16, 4, 32, batch_first=True), torch.randn(2, 5, 16))


@program(CLOSE)
def convolutions(device):
    return trained(device, lambda: nn.Sequential(nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.MaxPool2d(2),
                                                 nn.GroupNorm(2, 8), nn.Flatten(), nn.Linear(72, 4)),
                   torch.randn(2, 3, 8, 8), torch.optim.SGD, momentum=0.9)


@program(CLOSE)
def recurrent_networks(device):
    return [value for kind in (nn.LSTM, nn.GRU, nn.RNN)
            for value in trained(device, lambda: kind(4, 6, 2, batch_first=True, bidirectional=True), torch.randn(2, 5, 4))]


@program(CLOSE)
def recurrent_cells(device):
    return [value for kind in (nn.LSTMCell, nn.GRUCell) for value in trained(device, lambda: kind(4, 6), torch.randn(3, 4))]


@program(CLOSE)
def norms_and_fused_optimizer(device):
    return trained(device, lambda: nn.Sequential(nn.RMSNorm(8), nn.Linear(8, 8), nn.LayerNorm(8)), torch.randn(5, 8),
                   fused=True)


def attention(device, backend, dtype, dropout=0.0):
    inputs = [torch.randn(2, 4, 8, 16).to(device, dtype).requires_grad_() for _ in range(3)]
    with sdpa_kernel(SDPBackend.MATH if device == "cpu" else backend):
        output = F.scaled_dot_product_attention(*inputs, is_causal=True, dropout_p=dropout)
    output.float().pow(2).mean().backward()
    return [output.detach()] + [one.grad for one in inputs]


@program(HALF)
def flash_attention(device):
    return attention(device, SDPBackend.FLASH_ATTENTION, torch.bfloat16)


@program(HALF)
def cudnn_attention(device):
    return attention(device, SDPBackend.CUDNN_ATTENTION, torch.float16)


@program(CLOSE)
def efficient_attention(device):
    return attention(device, SDPBackend.EFFICIENT_ATTENTION, torch.float32)


@program(CLOSE)
def attention_with_dropout(device):
    return attention(device, SDPBackend.EFFICIENT_ATTENTION, torch.float32, 0.3)


@program(HALF)
def mixed_precision(device):
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.Linear(8, 4)).to(device)
    optimizer, scaler = torch.optim.SGD(model.parameters(), lr=0.1), torch.amp.GradScaler(device)
    losses = []
    for _ in range(3):
        with torch.autocast(device, dtype=torch.bfloat16):
            loss = model(torch.ones(2, 4, device=device)).float().pow(2).mean()
        optimizer.zero_grad()
        scaler.scale(loss).backward()
        scaler.unscale_(optimizer)
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        scaler.step(optimizer)
        scaler.update()
        losses.append(loss.item())
    return losses + [scaler.get_scale()]


@program(EXACT)
def shapes_that_depend_on_values(device):
    x = torch.randn(40).to(device)
    return [torch.nonzero(x > 0), torch.unique((x * 2).round()), x[x > 0], torch.masked_select(x, x < 0),
            x.repeat_interleave(torch.arange(40, device=device) % 3), torch.bincount(torch.arange(5, device=device)),
            torch.unique_consecutive((x > 0).long())]


@program(EXACT)
def operators_in_place(device):
    x = torch.arange(12.0, device=device)
    x[::2].mul_(3)
    x[x > 20] = 7
    x.view(3, 4).t()[1:].add_(1)
    y = torch.zeros(3, 4, device=device)
    torch.add(x.view(3, 4), 1, out=y)
    y[1].copy_(torch.arange(4))
    y.index_add_(0, torch.tensor([2], device=device), torch.ones(1, 4, device=device))
    return [x, y, y.half(), y.double().to(torch.int32), torch.equal(x, x), x.sum().item()]


@program(EXACT)
def random_numbers(device):
    own = torch.Generator(device).manual_seed(5)
    return [torch.randn(4, device=device), torch.rand(3, device=device), torch.randint(0, 9, (5,), device=device),
            torch.randperm(7, device=device), F.dropout(torch.ones(50, device=device)),
            torch.multinomial(torch.ones(2, 6, device=device), 3), torch.bernoulli(torch.full((5,), 0.5, device=device)),
            torch.empty(4, device=device).exponential_(), torch.randn(4, device=device, generator=own)]


@program(EXACT)
def generated_text(device):
    embedding, head = nn.Embedding(50, 16).to(device), nn.Linear(16, 50).to(device)
    tokens = [3]
    while len(tokens) < 12 and tokens[-1] != 0:
        logits = head(embedding(torch.tensor(tokens, device=device)).mean(0))
        tokens.append(torch.multinomial(torch.softmax(logits, -1), 1).item())
    return [float(token) for token in tokens]


@program(CLOSE)
def sparse_and_others(device):
    matrix = torch.sparse_coo_tensor(torch.tensor([[0, 1], [1, 0]]), torch.tensor([1.0, 2.0]), (2, 2)).to(device)
    square = torch.randn(5, 5).to(device)
    return [torch.sparse.mm(matrix, torch.ones(2, 3, device=device)), torch.linalg.inv(square), torch.fft.rfft(square).abs(),
            F.interpolate(torch.arange(16.0, device=device).view(1, 1, 4, 4), scale_factor=2, mode="bilinear"),
            F.cross_entropy(square, torch.arange(5, device=device)), square.sort()[0], square.argmax(1)]


@program(EXACT)
def graph(device):
    layer, x = nn.Linear(4, 4).to(device), torch.zeros(2, 4, device=device)
    if device == "cpu":
        with torch.no_grad():
            return [layer(x.fill_(value)).relu().sum() for value in (1, 2)]
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side), torch.no_grad():
        layer(x)
    torch.cuda.current_stream().wait_stream(side)
    graph = torch.cuda.CUDAGraph()
    with torch.no_grad(), torch.cuda.graph(graph):
        y = layer(x).relu().sum()
    results = []
    for value in (1, 2):
        x.fill_(value)
        graph.replay()
        results.append(y.clone())
    return results
'''
MAIN = PROGRAMS + '''
import json, sys


def seeded(function, device):
    torch.manual_seed(0)
    return [torch.as_tensor(value).detach().cpu().double() for value in function(device)]


def differs(function):
    there, here = seeded(function, "cuda"), seeded(function, "cpu")
    if [one.shape for one in there] != [one.shape for one in here]:
        return "shapes"
    return max(((one - other).abs().max().item() for one, other in zip(there, here) if one.numel()), default=0.0)


found = {name: (tolerance, differs(function)) for name, (function, tolerance) in programs.items()}
print(json.dumps(found))
'''
MEMORY = PROGRAMS + '''
for name in ("transformer", "convolutions", "efficient_attention", "mixed_precision", "operators_in_place", "graph"):
    torch.manual_seed(0)
    programs[name][0]("cuda")
    print(name, torch.cuda.max_memory_allocated(), torch.cuda.max_memory_reserved())
'''


class Values(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.cache = tempfile.TemporaryDirectory()

    @classmethod
    def tearDownClass(cls):
        cls.cache.cleanup()

    def sim_run(self, text, values, schedule="eager", allocator="backend:native"):
        kept = {name: value for name, value in os.environ.items()
                if not name.startswith(("FERRY_", "PYTORCH_", "PYTHON", "LD_"))}
        kept |= {"XDG_CACHE_HOME": self.cache.name, "HOME": self.cache.name, "FERRY_SIM": f"schedule={schedule}",
                 "PYTORCH_CUDA_ALLOC_CONF": allocator}
        return subprocess.run([FERRY, "sim", "run", "--capacity", "8GiB", "--values", values, "--", PYTHON, "-c", text],
                              env=kept, capture_output=True, text=True, timeout=300)

    def check_values(self, schedule, allocator):
        result = self.sim_run(MAIN, "cpu", schedule, allocator)
        self.assertEqual(result.returncode, 0, result.stderr)
        for name, (tolerance, difference) in json.loads(result.stdout).items():
            with self.subTest(name=name, schedule=schedule, allocator=allocator):
                self.assertIsInstance(difference, float)
                self.assertLessEqual(difference, tolerance)

    def test_programs_have_the_numbers_of_the_cpu(self):
        self.check_values("eager", "backend:native")
        self.check_values("lazy", "expandable_segments:True")

    def test_memory_is_what_it_is_without_values(self):
        with_values, without = (self.sim_run(MEMORY, values) for values in ("cpu", "off"))
        self.assertEqual(with_values.returncode, 0, with_values.stderr)
        self.assertEqual(with_values.stdout, without.stdout, without.stderr)

    def test_an_operator_that_the_cpu_does_not_have_stops_the_program_with_its_name(self):
        result = self.sim_run("""
import torch
from torch.library import custom_op
@custom_op("mine::twice", mutates_args=(), device_types="cuda")
def twice(x: torch.Tensor) -> torch.Tensor:
    return torch.empty_like(x)
print(twice(torch.ones(3, device="cuda")))
""", "cpu")
        self.assertEqual(result.returncode, 1)
        self.assertIn("RuntimeError: --values cpu: mine::twice could not be run on the CPU", result.stderr)
        self.assertEqual(result.stdout, "")

    def test_without_values_a_program_that_asks_for_one_is_told_once(self):
        result = self.sim_run("""
import torch
x = torch.ones(3, device="cuda") * 2
print(x.sum().item(), (x + 1).cpu().tolist(), torch.nonzero(x).shape)
""", "off")
        self.assertEqual((result.returncode, result.stdout), (0, "0.0 [0.0, 0.0, 0.0] torch.Size([0, 1])\n"))
        self.assertEqual(result.stderr.count("asks for values"), 1, result.stderr)
        self.assertIn("<string>:4: aten::_local_scalar_dense asks for values", result.stderr)
        self.assertIn("--values cpu", result.stderr)


if __name__ == "__main__":
    if not PYTHON.exists():
        print("skipped: there is no build/torch-env")
        sys.exit(77)
    unittest.main(argv=sys.argv[:1])
