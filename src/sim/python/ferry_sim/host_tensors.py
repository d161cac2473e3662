# SPDX-License-Identifier: Apache-2.0
"""Tensors of the CPU over the bytes of tensors on a device, and what else of an operator's arguments has to be told
anew for the CPU."""

import ctypes

import torch

from ferry_sim import control

_generators = {}  # of the CPU, by those of devices


def _span(tensor):
    return sum(stride * (size - 1) for stride, size in zip(tensor.stride(), tensor.shape)) + 1


def over(tensor):
    """The same elements in the same order. It does not keep the device's memory."""
    if tensor.layout is not torch.strided:
        return _sparse_over(tensor)
    if tensor.numel() == 0:
        return torch.empty_strided(tensor.shape, tensor.stride(), dtype=tensor.dtype)
    size = _span(tensor) * tensor.element_size()
    address = control.host_view(tensor.data_ptr(), size)
    if not address:
        raise RuntimeError(
            f"--values cpu: a tensor of {size} bytes lies in memory that the host cannot share. Where "
            "PYTORCH_CUDA_ALLOC_CONF says backend:cudaMallocAsync, take another allocator.")
    flat = torch.frombuffer((ctypes.c_char * size).from_address(address), dtype=tensor.dtype)
    return flat.as_strided(tensor.shape, tensor.stride())


def _sparse_over(tensor):
    if tensor.layout is torch.sparse_coo:
        return torch.sparse_coo_tensor(over(tensor._indices()), over(tensor._values()), tensor.shape,
                                       is_coalesced=tensor.is_coalesced(), check_invariants=False)
    if tensor.layout is torch.sparse_csr:
        return torch.sparse_csr_tensor(over(tensor.crow_indices()), over(tensor.col_indices()), over(tensor.values()),
                                       tensor.shape, check_invariants=False)
    raise RuntimeError(f"--values cpu: tensors of the layout {tensor.layout} are not supported on the stand-in")


def _generator_like(generator):
    """Of the same seed; the default one of the CPU for the default one of a device."""
    if generator.device.type != "cuda":
        return generator
    if any(generator is default for default in torch.cuda.default_generators):
        return None
    known = _generators.get(generator.initial_seed())
    if known is None:
        known = _generators[generator.initial_seed()] = torch.Generator().manual_seed(generator.initial_seed())
    return known


def for_cpu(value):
    """An argument of an operator, for the CPU."""
    if isinstance(value, torch.Tensor):
        return over(value) if value.is_cuda else value
    if isinstance(value, (list, tuple)):
        return type(value)(for_cpu(one) for one in value)
    if isinstance(value, torch.device):
        return torch.device("cpu") if value.type == "cuda" else value
    if isinstance(value, torch.Generator):
        return _generator_like(value)
    return value
