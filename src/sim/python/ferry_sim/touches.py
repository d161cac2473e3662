# SPDX-License-Identifier: Apache-2.0
"""The bytes of tensors, as the stand-in is told of them: ranges of addresses, packed as ferry_sim_range of
ferry/sim.h."""

import struct

READS, WRITES, WRITES_NEW = 0, 1, 2
# Of a tensor with gaps so many stretches are told; what comes after them is left out, so that nothing is told that
# is not touched.
_MOST_STRETCHES = 1024
_RANGE = struct.Struct("QQQ")


class Ranges:
    """A list of ranges that grows, and what ctypes is given of it."""

    def __init__(self):
        self._packed = bytearray()
        self.count = 0

    def add(self, address, size, kind):
        if size > 0:
            self._packed += _RANGE.pack(address, size, kind)
            self.count += 1

    def packed(self):
        return bytes(self._packed)


def _steps_of(tensor):
    """Its dimensions as (stride, size), the innermost first: without those of one element or of the same again and
    again, and joined where one goes on where the other ends."""
    steps = []
    for stride, size in sorted((stride, size) for stride, size in zip(tensor.stride(), tensor.shape) if size > 1 and stride > 0):
        if steps and steps[-1][0] * steps[-1][1] == stride:
            steps[-1] = (steps[-1][0], steps[-1][1] * size)
        else:
            steps.append((stride, size))
    return steps


def add_tensor(ranges, tensor, kind):
    """What a strided tensor that is not empty covers."""
    size = tensor.element_size()
    start = tensor.data_ptr()
    if tensor.is_contiguous():
        ranges.add(start, tensor.numel() * size, kind)
        return
    steps = _steps_of(tensor)
    run = 1
    if steps and steps[0][0] == 1:
        run = steps.pop(0)[1]
    starts = [start]
    for stride, count in steps:
        starts = [first + i * stride * size for i in range(count) for first in starts[:_MOST_STRETCHES]]
        starts = starts[:_MOST_STRETCHES]
    for first in starts:
        ranges.add(first, run * size, kind)


def add_span(ranges, tensor):
    """From its first byte to its last."""
    last = sum(stride * (size - 1) for stride, size in zip(tensor.stride(), tensor.shape))
    ranges.add(tensor.data_ptr(), (last + 1) * tensor.element_size(), READS)
