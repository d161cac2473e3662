# SPDX-License-Identifier: Apache-2.0
"""What the CPU does for operators that only a device has, or that it has in another form: the fused attentions,
cuDNN's recurrent networks and batch norm, results in another type."""

import math

import torch

from ferry_sim.cpu_recurrent import RECURRENT, with_autograd

aten = torch.ops.aten
_forms = dict(RECURRENT)  # by the name of the operator
_dropout_masks = {}  # of an attention, by the address of what its backward pass is given


def _form(*names):
    def add(function):
        for name in names:
            _forms["aten::" + name] = function
        return function

    return add


def of(function):
    return _forms.get(function._schema.name)


_LOW = (torch.float16, torch.bfloat16)


def _raised(value):
    if isinstance(value, torch.Tensor):
        return value.float() if value.dtype in _LOW else value
    if isinstance(value, (list, tuple)):
        return type(value)(_raised(one) for one in value)
    return value


def plain(function, args, kwargs):
    """The CPU's own; in single precision where it does not know half precision."""
    try:
        return function(*args, **kwargs)
    except (RuntimeError, NotImplementedError) as problem:
        mutates = any(argument.alias_info is not None for argument in function._schema.arguments)
        known = "not implemented for" in str(problem) or "mixed dtype" in str(problem) or "expected scalar type" in str(problem)
        if mutates or not known:
            raise
        return function(*_raised(args), **_raised(kwargs))


# Norms in half precision: a device keeps mean and deviation in single precision, which the CPU's own refuse.


@_form("native_layer_norm")
def _layer_norm(input, shape, weight, bias, eps):
    output, mean, deviation = aten.native_layer_norm(*_raised((input, shape, weight, bias)), eps)
    return output.to(input.dtype), mean, deviation


@_form("native_layer_norm_backward")
def _layer_norm_backward(grad, input, shape, mean, deviation, weight, bias, mask):
    return aten.native_layer_norm_backward(*_raised((grad, input, shape, mean, deviation, weight, bias)), mask)


@_form("native_group_norm")
def _group_norm(input, weight, bias, *sizes):
    return aten.native_group_norm(*_raised((input, weight, bias)), *sizes)


@_form("native_group_norm_backward")
def _group_norm_backward(grad, input, mean, deviation, weight, *rest):
    return aten.native_group_norm_backward(*_raised((grad, input, mean, deviation, weight)), *rest)


@_form("_fused_rms_norm")
def _rms_norm(input, shape, weight, eps):
    raised = input.float()
    eps = torch.finfo(input.dtype).eps if eps is None else eps
    deviation = torch.rsqrt(raised.pow(2).mean(dim=tuple(range(-len(shape), 0)), keepdim=True) + eps)
    output = raised * deviation
    return (output if weight is None else output * weight.float()).to(input.dtype), deviation


@_form("_fused_rms_norm_backward")
def _rms_norm_backward(grad, input, shape, deviation, weight, mask):
    with with_autograd():
        x = input.float().detach().requires_grad_()
        w = None if weight is None else weight.float().detach().requires_grad_()
        # eps is in the deviation: 1 / deviation² = mean(x²) + eps
        square = x.pow(2).mean(dim=tuple(range(-len(shape), 0)), keepdim=True)
        eps = deviation.float().pow(-2) - square.detach()
        output = x * torch.rsqrt(square + eps)
        output = output if w is None else output * w
        wanted = [one for one, want in ((x, mask[0]), (w, mask[1])) if want and one is not None]
        found = iter(torch.autograd.grad(output, wanted, grad.float()))
    return next(found) if mask[0] else None, next(found) if mask[1] and w is not None else None


def _softmax_form(operator):
    return lambda input, dim, half_to_float: operator(input.float() if half_to_float else input, dim, False)


_forms["aten::_softmax"] = _softmax_form(aten._softmax)
_forms["aten::_log_softmax"] = _softmax_form(aten._log_softmax)


# Batch norm.


@_form("cudnn_batch_norm", "miopen_batch_norm")
def _cudnn_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps):
    output, mean, deviation = aten.native_batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps)
    return output, mean if training else None, deviation if training else None, None


@_form("cudnn_batch_norm_backward")
def _cudnn_batch_norm_backward(input, grad, weight, running_mean, running_var, mean, deviation, eps, reserve):
    return aten.native_batch_norm_backward(grad, input, weight, running_mean, running_var, mean, deviation, True, eps,
                                           [True, True, True])


@_form("_batch_norm_with_update")
def _batch_norm_with_update(input, weight, bias, running_mean, running_var, momentum, eps):
    output, mean, deviation = aten.native_batch_norm(input, weight, bias, running_mean, running_var, True, momentum, eps)
    return output, mean, deviation, None


@_form("batch_norm_backward")
def _batch_norm_backward(grad, input, weight, running_mean, running_var, mean, deviation, update, eps, mask, reserve):
    return aten.native_batch_norm_backward(grad, input, weight, running_mean, running_var, mean, deviation, update, eps, mask)


# Attention: (batch, heads, length, width) throughout.


def _scores(q, k, mask, is_causal, scale):
    scores = q @ k.transpose(-2, -1) * (1 / math.sqrt(q.size(-1)) if scale is None else scale)
    if is_causal:
        scores = scores.masked_fill(~torch.ones(scores.shape[-2:], dtype=torch.bool).tril(), -math.inf)
    return scores if mask is None else scores + mask


def _attend(q, k, v, mask, is_causal, scale, dropout):
    groups = q.size(-3) // k.size(-3)
    if groups > 1:
        k, v = (one.repeat_interleave(groups, -3) for one in (k, v))
    scores = _scores(q, k, mask, is_causal, scale)
    weights = torch.softmax(scores, -1)
    return (weights if dropout is None else weights * dropout) @ v, torch.logsumexp(scores, -1)


def _draw_dropout(q, k, p):
    if p == 0:
        return None
    return torch.empty(*q.shape[:-1], k.size(-2), dtype=q.dtype).bernoulli_(1 - p).div_(1 - p)


def _forward(q, k, v, mask, p, is_causal, scale):
    dropout = _draw_dropout(q, k, p)
    output, sums = _attend(*_raised((q, k, v, mask)), is_causal, scale, dropout)
    output = output.to(q.dtype)
    if dropout is not None:
        _dropout_masks[(q.data_ptr(), k.data_ptr())] = dropout
    return output, sums


def _backward(grad, q, k, v, mask, is_causal, scale, want_mask=False):
    dropout = _dropout_masks.pop((q.data_ptr(), k.data_ptr()), None)
    with with_autograd():
        inputs = [one.float().detach().requires_grad_() for one in (q, k, v)]
        if want_mask:
            inputs.append(mask.float().detach().requires_grad_())
        used = inputs[3] if want_mask else _raised(mask)
        output, _ = _attend(*inputs[:3], used, is_causal, scale, dropout)
        found = torch.autograd.grad(output, inputs, grad.float())
    return tuple(one.to(like.dtype) for one, like in zip(found, (q, k, v, mask)))


def _padded(sums, length):
    return sums if length == sums.size(-1) else torch.nn.functional.pad(sums, (0, length - sums.size(-1)))


@_form("_scaled_dot_product_flash_attention")
def _flash(q, k, v, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    output, sums = _forward(q, k, v, None, dropout_p, is_causal, scale)
    return output, sums, None, None, None, None, None, None, None


@_form("_scaled_dot_product_flash_attention_backward")
def _flash_backward(grad, q, k, v, out, sums, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, seed, offset, *, scale=None):
    return _backward(grad, q, k, v, None, is_causal, scale)


@_form("_scaled_dot_product_efficient_attention")
def _efficient(q, k, v, bias, compute_sums, dropout_p=0.0, is_causal=False, *, scale=None):
    output, sums = _forward(q, k, v, bias, dropout_p, is_causal, scale)
    return output, _padded(sums, -(-sums.size(-1) // 32) * 32) if compute_sums else None, None, None


@_form("_scaled_dot_product_efficient_attention_backward")
def _efficient_backward(grad, q, k, v, bias, out, sums, seed, offset, dropout_p, wanted, is_causal=False, *, scale=None):
    found = _backward(grad, q, k, v, bias, is_causal, scale, bias is not None and wanted[3])
    return (*found, *[None] * (4 - len(found)))


@_form("_scaled_dot_product_cudnn_attention")
def _cudnn(q, k, v, bias, compute_sums, dropout_p=0.0, is_causal=False, return_debug_mask=False, *, scale=None):
    output, sums = _forward(q, k, v, bias, dropout_p, is_causal, scale)
    return output, sums.unsqueeze(-1) if compute_sums else None, None, None, None, None, None, None, None


@_form("_scaled_dot_product_cudnn_attention_backward")
def _cudnn_backward(grad, q, k, v, out, sums, seed, offset, bias, cum_q, cum_k, max_q, max_k, dropout_p, is_causal, *, scale=None):
    return _backward(grad, q, k, v, bias, is_causal, scale)
