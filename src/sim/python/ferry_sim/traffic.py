# SPDX-License-Identifier: Apache-2.0
"""What part of a training the program is in, for `ferry sim run --traffic`: the stand-in records every copy, and is
told here of phases, steps, NVTX ranges and the number of parameters.

A step of a training begins with the first forward pass after an optimizer has run. Without the program's own phases
(ferry.torch.phase) these are told: "forward", a module's call that is in no other one and builds a graph; "inference",
one that does not; "backward", the work of autograd; "step", that of an optimizer; "other", what is between them. An
engine that is a module and has backward() and step(), as DeepSpeed's, says by those what belongs to which."""

import functools
import os
import threading

import torch
from torch.optim.optimizer import register_optimizer_step_post_hook, register_optimizer_step_pre_hook

from ferry_sim import control, places, storages
from ferry_sim.touches import Ranges

_OPERATORS_BETWEEN_SAMPLES = 64
_OWN_PHASE = "ferry.phase/"  # how ferry.torch.phase names its NVTX ranges


class _Training:
    """Where the program is. Backward passes run on threads of their own, so this is of the whole process."""

    def __init__(self):
        self._lock = threading.RLock()
        self._open = []  # phases that have begun and not ended, the outermost first
        self._step = 1
        self._micro_steps = 0
        self._optimizer_ran = False
        self._parameters = 0

    def _tell(self):
        control.traffic_mark("allocated", "", storages.live_bytes())
        control.traffic_mark("phase", self._open[0] if self._open else "other", self._step)

    def begin(self, phase):
        with self._lock:
            if not self._open and phase == "forward":
                self._begin_micro_step()
            self._open.append(phase)
            if len(self._open) == 1:
                self._tell()

    def end(self):
        with self._lock:
            if self._open:
                self._open.pop()
                if not self._open:
                    self._tell()

    def optimizer_begins(self):
        self._optimizer_ran = True
        self.begin("step")

    def is_in_phase(self):
        return bool(self._open)

    def _begin_micro_step(self):
        if self._optimizer_ran:
            self._step += 1
            self._micro_steps = 0
            self._optimizer_ran = False
        self._micro_steps += 1
        control.traffic_mark("micro_step", "", self._micro_steps)

    def count_parameters(self, module):
        """Those of the largest module that was called: parts of it may be trained by themselves, too."""
        count = sum(getattr(parameter, "ds_numel", parameter.numel()) for parameter in module.parameters())
        if count > self._parameters:
            self._parameters = count
            control.traffic_mark("parameters", "", count)


_NO_RANGES = Ranges()
_training = _Training()
_ranges = threading.local()
_operators = 0


def sample():
    """An operator has run."""
    global _operators
    _operators += 1
    if _operators % _OPERATORS_BETWEEN_SAMPLES == 0:
        control.traffic_mark("allocated", "", storages.live_bytes())


def _within(phase, function):
    @functools.wraps(function)
    def in_phase(*arguments, **options):
        _training.begin(phase)
        try:
            return function(*arguments, **options)
        finally:
            _training.end()

    return in_phase


def _follow_engine(module):
    """Its own backward() and step() hold more than autograd's and the optimizer's."""
    for phase in ("backward", "step"):
        function = getattr(module, phase, None)
        if callable(function) and not hasattr(function, "_ferry_phase"):
            followed = _within(phase, function)
            followed._ferry_phase = phase
            object.__setattr__(module, phase, followed)


def _watch_modules():
    call = torch.nn.Module.__call__

    def call_in_phase(module, *arguments, **options):
        if _training.is_in_phase():
            return call(module, *arguments, **options)
        _training.count_parameters(module)
        if hasattr(module, "backward") and hasattr(module, "step"):
            _follow_engine(module)
        return _within("forward" if torch.is_grad_enabled() else "inference", call)(module, *arguments, **options)

    torch.nn.Module.__call__ = call_in_phase


def _watch_autograd():
    run = _within("backward", torch.autograd.graph._engine_run_backward)
    torch.autograd.graph._engine_run_backward = torch.autograd._engine_run_backward = run


def _watch_optimizers():
    register_optimizer_step_pre_hook(lambda *_: _training.optimizer_begins())
    register_optimizer_step_post_hook(lambda *_: _training.end())


class _Nvtx:
    """torch's functions of NVTX, with the ranges of each thread followed."""

    def __init__(self, functions):
        self._functions = functions

    def __getattr__(self, name):
        return getattr(self._functions, name)

    def rangePushA(self, name):
        stack = _ranges.__dict__.setdefault("stack", [])
        stack.append(name)
        if name.startswith(_OWN_PHASE):
            _training.begin(name[len(_OWN_PHASE):])
        elif len(stack) == 1:
            control.traffic_mark("range", name, 0)
        return self._functions.rangePushA(name)

    def rangePop(self):
        stack = _ranges.__dict__.setdefault("stack", [])
        if stack:
            name = stack.pop()
            if name.startswith(_OWN_PHASE):
                _training.end()
            elif not stack:
                control.traffic_mark("range", "", 0)
        return self._functions.rangePop()


def _named(label, function):
    """A wait of the program's own, with its line."""

    @functools.wraps(function)
    def wait(*arguments, **options):
        control.operator_begin(label, places.line_of_caller(), _NO_RANGES)
        try:
            return function(*arguments, **options)
        finally:
            control.operator_end()

    return wait


def _watch_waits():
    torch.cuda.synchronize = _named(b"torch.cuda.synchronize", torch.cuda.synchronize)
    torch.cuda.Stream.synchronize = _named(b"Stream.synchronize", torch.cuda.Stream.synchronize)
    torch.cuda.Event.synchronize = _named(b"Event.synchronize", torch.cuda.Event.synchronize)


def watch():
    """Whether anybody wants to know."""
    if "FERRY_SIM_TRAFFIC" not in os.environ:
        return False
    _watch_modules()
    _watch_autograd()
    _watch_optimizers()
    _watch_waits()
    torch.cuda.nvtx._nvtx = _Nvtx(torch.cuda.nvtx._nvtx)
    return True
