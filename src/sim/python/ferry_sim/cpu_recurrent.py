# SPDX-License-Identifier: Apache-2.0
"""cuDNN's recurrent networks and the fused cells of PyTorch, in the CPU's own form."""

import contextlib

import torch

_NETWORKS = (torch._VF.rnn_relu, torch._VF.rnn_tanh, torch._VF.lstm, torch._VF.gru)  # by cuDNN's number
_LSTM = 2


@contextlib.contextmanager
def with_autograd():
    """Operators run below autograd; what is differentiated anew needs it."""
    excluded = torch._C._dispatch_tls_local_exclude_set()
    for key in (torch._C.DispatchKey.AutogradCPU, torch._C.DispatchKey.AutogradFunctionality,
                torch._C.DispatchKey.ADInplaceOrView, torch._C.DispatchKey.AutogradOther):
        excluded = excluded.remove(key)
    with torch._C._ForceDispatchKeyGuard(torch._C._dispatch_tls_local_include_set(), excluded), torch.enable_grad():
        yield


def _network(input, weights, step, hx, cx, mode, layers, batch_first, dropout, train, bidirectional, batch_sizes):
    """(output, hy, cy), with None for what there is not."""
    has_biases = step >= 4
    state = (hx, cx) if mode == _LSTM else hx
    if len(batch_sizes) > 0:
        results = _NETWORKS[mode](input, torch.tensor(batch_sizes), state, weights, has_biases, layers, dropout, train,
                                  bidirectional)
    else:
        results = _NETWORKS[mode](input, state, weights, has_biases, layers, dropout, train, bidirectional, batch_first)
    return results if len(results) == 3 else (*results, None)


def _cudnn_rnn(input, weight, weight_stride0, weight_buf, hx, cx, mode, hidden_size, proj_size, num_layers, batch_first,
               dropout, train, bidirectional, batch_sizes, dropout_state):
    output, hy, cy = _network(input, weight, weight_stride0, hx, cx, mode, num_layers, batch_first, dropout, train,
                              bidirectional, batch_sizes)
    return output, hy, cy, None, None


def _cudnn_rnn_backward(input, weight, weight_stride0, weight_buf, hx, cx, output, grad_output, grad_hy, grad_cy, mode,
                        hidden_size, proj_size, num_layers, batch_first, dropout, train, bidirectional, batch_sizes,
                        dropout_state, reserve, output_mask):
    if train and dropout > 0 and num_layers > 1:
        raise NotImplementedError("the backward pass of cuDNN's networks with dropout between layers")
    with with_autograd():
        fresh = [None if one is None else one.detach().requires_grad_() for one in (input, hx, cx, *weight)]
        results = _network(fresh[0], fresh[3:], weight_stride0, fresh[1], fresh[2], mode, num_layers, batch_first, dropout,
                           train, bidirectional, batch_sizes)
        pairs = [(result, grad) for result, grad in zip(results, (grad_output, grad_hy, grad_cy)) if grad is not None]
        wanted = [one for one in fresh if one is not None]
        found = torch.autograd.grad([one for one, _ in pairs], wanted, [grad for _, grad in pairs], allow_unused=True)
    by_input = {id(one): grad for one, grad in zip(wanted, found)}
    grads = [None if one is None else by_input[id(one)] for one in fresh]
    return grads[0], grads[1], grads[2], grads[3:]


def _gates(input_gates, hidden_gates, input_bias, hidden_bias):
    if input_bias is not None:
        input_gates, hidden_gates = input_gates + input_bias, hidden_gates + hidden_bias
    return input_gates, hidden_gates


def _lstm_cell(input_gates, hidden_gates, cx, input_bias=None, hidden_bias=None):
    one, other = _gates(input_gates, hidden_gates, input_bias, hidden_bias)
    i, f, g, o = (one + other).chunk(4, 1)
    i, f, g, o = i.sigmoid(), f.sigmoid(), g.tanh(), o.sigmoid()
    cy = f * cx + i * g
    return o * cy.tanh(), cy, torch.cat([i, f, g, o], 1)


def _lstm_cell_backward(grad_hy, grad_cy, cx, cy, workspace, has_bias):
    i, f, g, o = workspace.chunk(4, 1)
    grad_hy = torch.zeros_like(cy) if grad_hy is None else grad_hy
    grad_cy = torch.zeros_like(cy) if grad_cy is None else grad_cy
    tanh = cy.tanh()
    through = grad_hy * o * (1 - tanh * tanh) + grad_cy
    gates = torch.cat([through * g * i * (1 - i), through * cx * f * (1 - f), through * i * (1 - g * g),
                       grad_hy * tanh * o * (1 - o)], 1)
    return gates, through * f, gates.sum(0) if has_bias else None


def _gru_cell(input_gates, hidden_gates, hx, input_bias=None, hidden_bias=None):
    one, other = _gates(input_gates, hidden_gates, input_bias, hidden_bias)
    (ir, iz, inew), (hr, hz, hnew) = one.chunk(3, 1), other.chunk(3, 1)
    r, z = (ir + hr).sigmoid(), (iz + hz).sigmoid()
    new = (inew + r * hnew).tanh()
    return new + z * (hx - new), torch.cat([r, z, new, hx, hnew], 1)


def _gru_cell_backward(grad_hy, workspace, has_bias):
    r, z, new, hx, hnew = workspace.chunk(5, 1)
    grad_z = grad_hy * (hx - new) * z * (1 - z)
    grad_new = grad_hy * (1 - z) * (1 - new * new)
    grad_r = grad_new * hnew * r * (1 - r)
    of_input, of_hidden = torch.cat([grad_r, grad_z, grad_new], 1), torch.cat([grad_r, grad_z, grad_new * r], 1)
    biases = (of_input.sum(0), of_hidden.sum(0)) if has_bias else (None, None)
    return of_input, of_hidden, grad_hy * z, *biases


RECURRENT = {
    "aten::_cudnn_rnn": _cudnn_rnn,
    "aten::_cudnn_rnn_backward": _cudnn_rnn_backward,
    "aten::_thnn_fused_lstm_cell": _lstm_cell,
    "aten::_thnn_fused_lstm_cell_backward_impl": _lstm_cell_backward,
    "aten::_thnn_fused_gru_cell": _gru_cell,
    "aten::_thnn_fused_gru_cell_backward": _gru_cell_backward,
}
