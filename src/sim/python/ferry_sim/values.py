# SPDX-License-Identifier: Apache-2.0
"""Real numbers (--values cpu): after an operator has run on the device for its memory alone, the CPU runs it again
over the same bytes and writes the results there."""

import os

import torch

from ferry_sim import control, cpu_forms, host_tensors

# The shape of what they return depends on values: the CPU is asked first.
_SHAPED_BY_VALUES = {"aten::nonzero", "aten::_unique", "aten::_unique2", "aten::unique_dim", "aten::unique_consecutive",
                     "aten::unique_dim_consecutive", "aten::masked_select", "aten::repeat_interleave", "aten::bincount"}
# Their kernels run where other processes are, or not at all.
_BETWEEN_PROCESSES = ("c10d::", "_c10d_functional::", "_c10d_functional_autograd::", "fsdp::", "symm_mem::")
# They only copy bytes, which the driver does, or make what the CPU's own forms have no use for.
_DONE_BY_COPIES = {"aten::_cudnn_rnn_flatten_weight", "aten::_cudnn_init_dropout_state"}

_replays = {}  # what the CPU does for each launch of a graph, by the graph
_capturing = []  # those that are being recorded


def are_on():
    return os.environ.get("FERRY_SIM_VALUES") == "cpu"


def is_shaped_by_values(name, args):
    if name == "aten::index":
        return any(index is not None and index.dtype in (torch.bool, torch.uint8) for index in args[1])
    return name in _SHAPED_BY_VALUES


def run_shaped(function, args, kwargs):
    """The operator's results on the device, of the shapes that the CPU says."""
    device = next(value.device for value in _flat((args, kwargs)) if value.is_cuda)
    control.settle()
    results = _on_cpu(function, host_tensors.for_cpu(args), _kwargs_for_cpu(kwargs))
    several = isinstance(results, (list, tuple))
    there = [torch.empty_strided(one.shape, one.stride(), dtype=one.dtype, device=device)
             for one in (results if several else (results,))]
    for to, one in zip(there, results if several else (results,)):
        if to.numel() > 0:
            host_tensors.over(to).copy_(one)
    return type(results)(there) if several else there[0]


def _flat(value):
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, (list, tuple)):
        for one in value:
            yield from _flat(one)
    elif isinstance(value, dict):
        yield from _flat(list(value.values()))


def _kwargs_for_cpu(kwargs):
    return {name: host_tensors.for_cpu(value) for name, value in kwargs.items() if name != "pin_memory"}


def _is_plain_copy(name, args, result):
    """Between host and device, and the driver moves the very bytes."""
    if name == "aten::copy_":
        to, source = args[0], args[1]
    elif name == "aten::_to_copy":
        to, source = result, args[0]
    else:
        return False
    return (to.is_cuda != source.is_cuda and to.dtype == source.dtype and to.shape == source.shape
            and to.is_contiguous() and source.is_contiguous())


def rerun(name, function, args, kwargs, result):
    """The operator has been queued; its results get their values. Returns what the program is to be given."""
    if name.startswith(_BETWEEN_PROCESSES) or name in _DONE_BY_COPIES:
        return result
    if _capturing:
        _record(name, function, args, kwargs, result)
        return result
    if _is_plain_copy(name, args, result):
        return result
    control.settle()
    return _write(name, _on_cpu(function, host_tensors.for_cpu(args), _kwargs_for_cpu(kwargs), result), result)


def _on_cpu(function, args, kwargs, result=None):
    name = function._schema.name
    form = cpu_forms.of(function)
    try:
        if form is not None:
            return form(*args, **kwargs)
        return cpu_forms.plain(function, args, kwargs)
    except Exception as problem:
        raise RuntimeError(f"--values cpu: {name} could not be run on the CPU: {problem}") from problem


def _write(name, from_cpu, result):
    if isinstance(result, torch.Tensor):
        if result.is_cuda:
            _write_tensor(name, from_cpu, host_tensors.over(result))
        elif from_cpu is not result:
            result.copy_(from_cpu)
        return result
    if isinstance(result, (list, tuple)):
        for one, there in zip(from_cpu, result):
            if there is not None and one is not None:
                _write(name, one, there)
        return result
    return from_cpu  # a number, or nothing


def _write_tensor(name, from_cpu, there):
    if from_cpu.layout is torch.strided and from_cpu.data_ptr() == there.data_ptr():
        return  # in place
    if from_cpu.shape != there.shape:
        raise RuntimeError(f"--values cpu: {name} has the shape {tuple(from_cpu.shape)} on the CPU and "
                           f"{tuple(there.shape)} on the device")
    there.copy_(from_cpu)


def _record(name, function, args, kwargs, result):
    """For a graph: by addresses, so that no tensor is kept alive by it."""
    cpu_args, cpu_kwargs, there = host_tensors.for_cpu(args), _kwargs_for_cpu(kwargs), _all_over(result)

    def again():
        from_cpu = _on_cpu(function, cpu_args, cpu_kwargs)
        _write_all(name, from_cpu, there)

    _capturing[-1].append(again)


def _all_over(result):
    if isinstance(result, torch.Tensor):
        return host_tensors.over(result) if result.is_cuda else result
    if isinstance(result, (list, tuple)):
        return [_all_over(one) for one in result]
    return None


def _write_all(name, from_cpu, there):
    if isinstance(there, list):
        for one, to in zip(from_cpu, there):
            _write_all(name, one, to)
    elif there is not None and from_cpu is not None:
        _write_tensor(name, from_cpu, there)


def watch_graphs():
    graph_class = torch.cuda.CUDAGraph
    begin, end, replay, reset = graph_class.capture_begin, graph_class.capture_end, graph_class.replay, graph_class.reset

    def capture_begin(graph, *arguments, **options):
        begin(graph, *arguments, **options)
        _capturing.append([])

    def capture_end(graph):
        if _capturing:
            _replays[id(graph)] = _capturing.pop()
        return end(graph)

    def replay_with_values(graph):
        replay(graph)
        control.settle()
        for again in _replays.get(id(graph), ()):
            again()

    def reset_with_values(graph):
        _replays.pop(id(graph), None)
        return reset(graph)

    graph_class.capture_begin, graph_class.capture_end = capture_begin, capture_end
    graph_class.replay, graph_class.reset = replay_with_values, reset_with_values
