#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Records examples/traces/gpt_cpu_train.json.gz: the memory events of a real training run on a CPU.

A small GPT (token and position embeddings, four blocks of attention and MLP, an output head) is
built and trained for a few steps with AdamW while PyTorch's profiler notes every allocation. The
profiler starts before the model is built, so the trace begins with nothing live. Sequence lengths
differ from step to step: that is what makes the memory picture, and its fragmentation, interesting.

Everything but the "[memory]" events is stripped, and of these only what `ferry replay` reads is kept:
name, ts, and the arguments Addr, Bytes, Device Type, Device Id, Total Allocated, Total Reserved.

Sizes and their order are the same on every run with the same PyTorch (fixed seed, fixed number of
threads); addresses and times are those of the run.

    python3 scripts/record_trace.py                     with a PyTorch that is already installed
    python3 scripts/record_trace.py --venv /some/dir    installs one there first, for this run only

`--venv` makes a virtual environment, runs `pip install torch numpy` in it (the usual wheel brings
its CUDA libraries: about 3 GB to fetch, 5.4 GB on disk, one to two minutes; no GPU is needed to
import it), records, and removes the folder again unless --keep is given.
"""

import argparse
import gzip
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parent.parent
DEFAULT_OUTPUT = REPOSITORY / "examples" / "traces" / "gpt_cpu_train.json.gz"
SEED = 20240601
THREADS = 2
LAYERS, WIDTH, HEADS, VOCABULARY, BATCH = 4, 256, 8, 4096, 4
STEP_LENGTHS = (96, 224, 160, 320, 128, 272)
KEPT_ARGUMENTS = ("Addr", "Bytes", "Device Type", "Device Id", "Total Allocated", "Total Reserved")


def run_in_venv(folder: Path, keep: bool, arguments: list[str]) -> int:
    """Makes the environment, records in it, and takes it away again."""
    if folder.exists():
        raise SystemExit(f"{folder} exists already: name a folder that may be made and removed")
    try:
        subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True)
        python = folder / "bin" / "python"
        subprocess.run(
            [str(python), "-m", "pip", "install", "--quiet", "--no-cache-dir", "torch", "numpy"],
            check=True,
        )
        return subprocess.run([str(python), __file__, *arguments], check=False).returncode
    finally:
        if not keep:
            shutil.rmtree(folder, ignore_errors=True)


def make_model(torch):
    """A GPT in plain modules: nothing fused, so that every intermediate tensor is seen."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.norm_attention = nn.LayerNorm(WIDTH)
            self.norm_mlp = nn.LayerNorm(WIDTH)
            self.qkv = nn.Linear(WIDTH, 3 * WIDTH)
            self.out = nn.Linear(WIDTH, WIDTH)
            self.mlp = nn.Sequential(
                nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH)
            )

        def forward(self, x):
            batch, length, _ = x.shape
            qkv = self.qkv(self.norm_attention(x)).view(batch, length, 3, HEADS, WIDTH // HEADS)
            q, k, v = qkv.permute(2, 0, 3, 1, 4).unbind(0)
            scores = q @ k.transpose(-2, -1) / (WIDTH // HEADS) ** 0.5
            future = torch.ones(length, length, dtype=torch.bool).triu(1)
            weights = torch.softmax(scores.masked_fill(future, float("-inf")), dim=-1)
            x = x + self.out((weights @ v).transpose(1, 2).reshape(batch, length, WIDTH))
            return x + self.mlp(self.norm_mlp(x))

    class Gpt(nn.Module):
        def __init__(self):
            super().__init__()
            self.tokens = nn.Embedding(VOCABULARY, WIDTH)
            self.positions = nn.Embedding(max(STEP_LENGTHS), WIDTH)
            self.blocks = nn.Sequential(*(Block() for _ in range(LAYERS)))
            self.norm = nn.LayerNorm(WIDTH)
            self.head = nn.Linear(WIDTH, VOCABULARY, bias=False)

        def forward(self, ids):
            x = self.tokens(ids) + self.positions(torch.arange(ids.shape[1]))
            return self.head(self.norm(self.blocks(x)))

    return Gpt()


def train(torch) -> None:
    """Builds the model and takes one optimizer step for each length."""
    torch.manual_seed(SEED)
    model = make_model(torch)
    optimizer = torch.optim.AdamW(model.parameters(), lr=3e-4, weight_decay=0.1)
    for step, length in enumerate(STEP_LENGTHS):
        ids = torch.randint(0, VOCABULARY, (BATCH, length + 1))
        logits = model(ids[:, :-1])
        loss = torch.nn.functional.cross_entropy(
            logits.reshape(-1, VOCABULARY), ids[:, 1:].reshape(-1)
        )
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad(set_to_none=True)
        print(f"step {step}: length {length}, loss {loss.item():.4f}")


def strip(events: list[dict]) -> list[dict]:
    """The memory events in order of time, with nothing but what a replay reads."""
    memory = [event for event in events if event.get("name") == "[memory]"]
    memory.sort(key=lambda event: event["ts"])
    return [
        {
            "name": "[memory]",
            "ts": event["ts"],
            "args": {key: event["args"][key] for key in KEPT_ARGUMENTS if key in event["args"]},
        }
        for event in memory
    ]


def record(output: Path) -> None:
    import torch

    torch.set_num_threads(THREADS)
    with tempfile.TemporaryDirectory() as scratch:
        full = os.path.join(scratch, "full.json")
        with torch.profiler.profile(
            activities=[torch.profiler.ProfilerActivity.CPU],
            profile_memory=True,
            record_shapes=False,
        ) as profiler:
            train(torch)
        profiler.export_chrome_trace(full)
        with open(full, encoding="utf-8") as file:
            events = strip(json.load(file)["traceEvents"])
    if not events:
        raise SystemExit("the profiler recorded no memory events")

    notes = {
        "recorded": "memory events of a training run on a CPU, made by scripts/record_trace.py",
        "torch": torch.__version__,
        "model": f"GPT, {LAYERS} layers, width {WIDTH}, {HEADS} heads, vocabulary {VOCABULARY}, "
        f"batch {BATCH}, lengths {', '.join(map(str, STEP_LENGTHS))}, AdamW, fp32, seed {SEED}",
    }
    text = json.dumps({"notes": notes, "traceEvents": events}, separators=(",", ":"))
    output.parent.mkdir(parents=True, exist_ok=True)
    # No name and no time in the gzip header: the same events give the same file.
    with open(output, "wb") as file, gzip.GzipFile("", "wb", 9, file, mtime=0) as packed:
        packed.write(text.encode())
    peak = max(event["args"]["Total Allocated"] for event in events)
    print(f"{output}: {len(events)} events, {output.stat().st_size} bytes, peak {peak / 2**20:.1f} MiB")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--output", type=Path, default=DEFAULT_OUTPUT)
    parser.add_argument("--venv", type=Path, help="make this environment with PyTorch first")
    parser.add_argument("--keep", action="store_true", help="leave the environment in place")
    options = parser.parse_args()
    if options.venv:
        return run_in_venv(options.venv, options.keep, ["--output", str(options.output)])
    record(options.output)
    return 0


if __name__ == "__main__":
    sys.exit(main())
