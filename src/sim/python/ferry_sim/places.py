# SPDX-License-Identifier: Apache-2.0
"""Which line of the program asked for an operator: the innermost one outside PyTorch. Operators of a backward pass
run on threads that are in no line of it; they are put down to the line of the forward pass that made their node."""

import os
import sys
import threading

import torch

_OURS = (os.path.dirname(os.path.abspath(torch.__file__)) + os.sep, os.path.dirname(os.path.abspath(__file__)) + os.sep)
_SYSTEM = (os.path.dirname(os.path.abspath(threading.__file__)) + os.sep, "<frozen ")
_MOST_LINES = 1 << 17

_is_program = {}  # by the name of a file, as code objects have it
_forward_lines = {}  # by the sequence number of the node
_no_node = (1 << 64) - 1


def _belongs_to_program(file):
    known = _is_program.get(file)
    if known is None:
        path = os.path.abspath(file)
        in_packages = "site-packages" in path or "dist-packages" in path
        known = not path.startswith(_OURS) and (in_packages or not path.startswith(_SYSTEM)) and file[:8] != "<frozen "
        _is_program[file] = known
    return known


def _shown(file):
    here = os.getcwd() + os.sep
    return file[len(here):] if file.startswith(here) else file


def line_of_caller():
    """The program's line that this thread is in; "" where it is in none."""
    frame = sys._getframe(1)
    while frame is not None:
        if _belongs_to_program(frame.f_code.co_filename):
            return f"{_shown(frame.f_code.co_filename)}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


def _line_of_node():
    node = torch._C._current_autograd_node()
    if node is None:
        return ""
    line = _forward_lines.get(node._sequence_nr())
    return f"backward of {line}" if line else f"backward ({node.name()})"


def _remember(line):
    """The node of the operator that runs now, if it has one, is the latest."""
    _forward_lines[torch.autograd._get_sequence_nr() - 1] = line
    if len(_forward_lines) > _MOST_LINES:
        for old in list(_forward_lines)[: _MOST_LINES // 2]:
            del _forward_lines[old]


def current_line():
    """"train.py:31", or "backward of train.py:31"; "" where neither is known."""
    line = line_of_caller()
    if not line:
        return _line_of_node()
    if torch.is_grad_enabled():
        _remember(line)
    return line
