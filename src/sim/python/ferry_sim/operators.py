# SPDX-License-Identifier: Apache-2.0
"""Tells the stand-in of PyTorch's operators: what each reads and writes, on which stream, and the line of the
program. Their kernels are skipped, so that nothing else knows."""

import threading

import torch
from torch.utils._python_dispatch import TorchDispatchMode

from ferry_sim import control, figures, places, storages, traffic, values
from ferry_sim.touches import READS, WRITES, WRITES_NEW, Ranges, add_span, add_tensor

# They make memory and leave it as it is.
_LEFT_AS_IT_IS = {"aten::empty", "aten::empty_strided", "aten::empty_like", "aten::new_empty", "aten::new_empty_strided",
                  "aten::empty_permuted", "aten::resize_", "aten::resize_as_", "aten::set_"}


class _Kind:
    """What an operator's schema says of it."""

    def __init__(self, function):
        schema = function._schema
        self.name = schema.name
        self.label = schema.name.encode()
        self.records_stream = schema.name == "aten::record_stream"
        self.written = [(index, argument.name) for index, argument in enumerate(schema.arguments)
                        if argument.alias_info is not None and argument.alias_info.is_write]
        is_view = not self.written and any(result.alias_info is not None for result in schema.returns)
        self.touches = not is_view and not self.records_stream and schema.name not in _LEFT_AS_IT_IS


_kinds = {}
_with_values = values.are_on()
_with_figures = False
_with_traffic = False
_said = False


def _kind_of(function):
    kind = _kinds.get(function)
    if kind is None:
        kind = _kinds[function] = _Kind(function)
    return kind


def _cuda_tensors(values, found):
    for value in values:
        if isinstance(value, torch.Tensor):
            if value.is_cuda:
                found.append(value)
        elif isinstance(value, (list, tuple)):
            _cuda_tensors(value, found)
    return found


def _is_filled(tensor):
    return tensor.layout is torch.strided and tensor.numel() > 0


def _on_cuda(device):
    return device is not None and torch.device(device).type == "cuda"


class _Operators(TorchDispatchMode):
    supports_higher_order_operators = True

    @classmethod
    def _should_skip_dynamo(cls):
        return False  # its way around torch.compile imports the compiler, for seconds, and costs each operator

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        kwargs = kwargs or {}
        if types and not all(one is torch.Tensor or one is torch.nn.Parameter for one in types):
            return NotImplemented  # their own operators come here
        if not isinstance(function, torch._ops.OpOverload):
            return function(*args, **kwargs)
        inputs = _cuda_tensors(kwargs.values(), _cuda_tensors(args, [])) if kwargs else _cuda_tensors(args, [])
        if not inputs and not _on_cuda(kwargs.get("device")):
            return function(*args, **kwargs)
        return _run(function, args, kwargs, inputs)


def _run(function, args, kwargs, inputs):
    kind = _kind_of(function)
    if kind.records_stream:
        storages.use(args[0], torch.cuda.Stream(stream_id=args[1].stream_id, device_index=args[1].device_index,
                                                device_type=args[1].device_type).cuda_stream)
        return function(*args, **kwargs)
    given = Ranges()
    for tensor in inputs:
        if _is_filled(tensor):
            add_span(given, tensor)
    line = places.current_line()
    control.operator_begin(kind.label, line, given)
    try:
        if _with_values and values.is_shaped_by_values(kind.name, args):
            result = values.run_shaped(function, args, kwargs)
        else:
            result = function(*args, **kwargs)
        _tell(kind, args, kwargs, inputs, result)
        if not _with_values:
            _say_where_values_are_asked_for(kind.name, args, result, line)
        elif kind.touches and not values.is_shaped_by_values(kind.name, args):
            result = values.rerun(kind.name, function, args, kwargs, result)
        return result
    finally:
        control.operator_end()
        if _with_figures:
            figures.sample()
        if _with_traffic:
            traffic.sample()


def _say_where_values_are_asked_for(name, args, result, line):
    """Once: most programs read a loss now and then."""
    global _said
    to_host = name in ("aten::_to_copy", "aten::copy_") and not (result.is_cuda if name == "aten::_to_copy" else args[0].is_cuda)
    if _said or not (to_host or name == "aten::_local_scalar_dense" or values.is_shaped_by_values(name, args)):
        return
    _said = True
    control.say(f"{line}: {name} asks for values, and kernels are not run: what they should have written reads as zeros "
                "(said once). For the CPU's numbers: ferry sim run --values cpu")


def _written_arguments(kind, args, kwargs):
    return _cuda_tensors([args[index] if index < len(args) else kwargs.get(name) for index, name in kind.written], [])


def _tell(kind, args, kwargs, inputs, result):
    written = _written_arguments(kind, args, kwargs)
    for tensor in written:
        storages.check(tensor)
    mutated = {id(tensor) for tensor in written}
    touched = {}

    def touch(tensor, how):
        if kind.touches and _is_filled(tensor):
            add_tensor(touched.setdefault(tensor.device.index, Ranges()), tensor, how)

    for tensor in inputs:
        touch(tensor, WRITES if id(tensor) in mutated else READS)
    for tensor in _cuda_tensors(result if isinstance(result, (list, tuple)) else (result,), []):
        if id(tensor) in mutated or tensor.layout is not torch.strided or storages.is_known(tensor):
            continue
        stream = torch._C._cuda_getCurrentRawStream(tensor.device.index)
        storages.begin(tensor, stream)
        touch(tensor, WRITES if _with_values else WRITES_NEW)
    for device, ranges in touched.items():
        control.operator_touches(device, torch._C._cuda_getCurrentRawStream(device), ranges)


def _follow_threads(mode):
    """A mode holds for the thread that entered it, and for autograd's threads that work for it."""
    start = threading.Thread.start

    def start_with_mode(thread):
        run = thread.run

        def run_with_mode():
            with mode:
                run()

        thread.run = run_with_mode
        start(thread)

    threading.Thread.start = start_with_mode


def watch():
    """Around the whole program, from now on."""
    global _with_figures, _with_traffic
    _with_figures = figures.watch()
    _with_traffic = traffic.watch()
    storages.watch()
    if _with_values:
        values.watch_graphs()
    mode = _Operators()
    mode.__enter__()
    _follow_threads(mode)
