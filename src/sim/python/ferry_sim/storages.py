# SPDX-License-Identifier: Apache-2.0
"""The memory of tensors, from the operator that made it to its end: when the last tensor of a storage goes, its
memory is given back to PyTorch's allocator for reuse on the stream that it was made on, and the stand-in is told."""

import weakref

import torch

from ferry_sim import control, places

_alive = {}  # by the storage's own address: see _Storage
_captures = 0  # that are going on
_live_bytes = 0


class _Storage:
    __slots__ = ("reference", "device", "stream", "address", "size", "users")

    def __init__(self, storage, device, stream):
        key = storage._cdata
        self.reference = weakref.ref(storage, lambda reference: _end(key, reference))
        self.device = device
        self.stream = stream
        self.size = 0
        self.take(storage)
        self.users = []

    def take(self, storage):
        global _live_bytes
        self.address = storage.data_ptr()
        _live_bytes += storage.nbytes() - self.size
        self.size = storage.nbytes()


def _known(storage):
    """What is kept of it; nothing where that is of an earlier storage at the same address."""
    known = _alive.get(storage._cdata)
    return known if known is not None and known.reference() is storage else None


def is_known(tensor):
    return _known(tensor.untyped_storage()) is not None


def begin(tensor, stream):
    """A storage was made on this stream. Those of a capture belong to the graph, which uses them again and again."""
    storage = tensor.untyped_storage()
    if _captures == 0 and storage.nbytes() > 0:
        _alive[storage._cdata] = _Storage(storage, storage.device.index, stream)


def use(tensor, stream):
    """The program has told the allocator that this stream uses the tensor's memory, too."""
    known = _known(tensor.untyped_storage())
    if known is not None:
        known.users.append(stream)


def check(tensor):
    """An operator may have given the storage other memory (resize_, out=)."""
    storage = tensor.untyped_storage()
    known = _known(storage)
    if known is not None and known.address != storage.data_ptr():
        _tell_end(known)
        known.take(storage)
        known.users = []


def _tell_end(known):
    """Not of those that end within a backward pass: autograd tells the allocator itself of their other streams."""
    line = places.line_of_caller()
    if known.size > 0 and line:
        control.storage_end(line, known.device, known.stream, known.address, known.size, known.users)


def _end(key, reference):
    global _live_bytes
    known = _alive.get(key)
    if known is not None and known.reference is reference:
        del _alive[key]
        _live_bytes -= known.size
        _tell_end(known)


def live_bytes():
    """Of all that are known: what the program has in tensors."""
    return _live_bytes


def _watch_resize():
    """FSDP gives memory back by untyped_storage().resize_(0), which is no operator."""
    resize = torch.UntypedStorage.resize_

    def resize_and_tell(storage, size):
        known = _known(storage)
        if known is not None and size == 0:
            _tell_end(known)
        result = resize(storage, size)
        if known is not None:
            known.take(storage)
            known.stream = torch._C._cuda_getCurrentRawStream(known.device)
            known.users = []
        return result

    torch.UntypedStorage.resize_ = resize_and_tell


def _watch_captures():
    begin_capture, end_capture = torch.cuda.CUDAGraph.capture_begin, torch.cuda.CUDAGraph.capture_end

    def capture_begin(graph, *arguments, **options):
        global _captures
        begin_capture(graph, *arguments, **options)
        _captures += 1

    def capture_end(graph):
        global _captures
        _captures = max(0, _captures - 1)
        return end_capture(graph)

    torch.cuda.CUDAGraph.capture_begin = capture_begin
    torch.cuda.CUDAGraph.capture_end = capture_end


def watch():
    _watch_resize()
    _watch_captures()
