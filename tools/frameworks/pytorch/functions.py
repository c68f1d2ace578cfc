"""The functions of PyTorch, one per operation. Arguments: tensors, attributes, `masking`."""

import inspect

import torch
import torch.nn.functional as F

import masks
from sextant_adapter import Unsupported


def rms_norm(x, weight, eps, unit_offset):
    if not hasattr(F, "rms_norm"):
        raise Unsupported(f"torch {torch.__version__} has no rms_norm")
    weight = 1 + weight if unit_offset else weight
    return F.rms_norm(x, weight.shape, _of(x, weight), eps)


def layer_norm(x, weight, bias, eps):
    return F.layer_norm(x, weight.shape, _of(x, weight), _of(x, bias), eps)


def _of(x, weight):
    """The weight in the dtype of x, which norms of PyTorch expect."""
    narrow = weight.to(x.dtype)
    if not torch.equal(narrow.to(weight.dtype), weight):
        raise Unsupported("weights of norms have the dtype of x")
    return narrow


def softmax(x):
    return F.softmax(x, -1)


def activation(x, kind, beta):
    if kind == "swish":
        if beta != 1:
            raise Unsupported("silu has no beta")
        return F.silu(x)
    if kind == "gelu_tanh":
        return F.gelu(x, approximate="tanh")
    if kind == "relu2":
        raise Unsupported("PyTorch has no relu2")
    return {"sigmoid": torch.sigmoid, "gelu": F.gelu, "relu": F.relu, "tanh": torch.tanh}[kind](x)


def gated(gate, up, kind, beta, limit, alpha, plus_one):
    if kind != "glu" or limit or plus_one:
        raise Unsupported(f"PyTorch has only glu, not {kind}")
    return F.glu(torch.cat((up, gate), -1))


def embedding(token, table, scale):
    if scale != 1:
        raise Unsupported("F.embedding does not scale")
    return F.embedding(token, table)


def linear(x, weight, bias=None):
    return F.linear(x, weight, bias)


def attention(q, k, v, scale, soft_cap, add_bias, empty_rows, masking, bias=None, sink=None):
    """scaled_dot_product_attention; in PyTorch 1.13 it has an underscore and no scale."""
    if soft_cap:
        raise Unsupported("no soft cap")
    masks.expect_none(sink, "sink")
    masks.expect_bias_after_cap(add_bias, soft_cap)
    see = masks.visible(len(q), q.shape[2], k.shape[2], **masking)
    masks.expect_no_zeros(see, empty_rows)
    see = None if see is None else torch.from_numpy(see)[:, None].to(q.device)
    if bias is not None:
        mask = bias if see is None else bias.masked_fill(~see, -torch.inf)
    else:
        mask = see
    k, v = (x.repeat_interleave(q.shape[1] // x.shape[1], 1) for x in (k, v))
    if hasattr(F, "scaled_dot_product_attention"):
        return {"y": F.scaled_dot_product_attention(q, k, v, mask, scale=scale)}
    if scale is not None:
        raise Unsupported(f"torch {torch.__version__} has no scale")
    return {"y": F._scaled_dot_product_attention(q, k, v, mask)[0]}


def operations():
    return {name: function for name, function in globals().items()
            if inspect.isfunction(function) and not name.startswith("_") and name != "operations"}  # fmt: skip
