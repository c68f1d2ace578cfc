"""The functions of PyTorch, one per operation. Arguments: tensors, attributes, `masking`."""

import inspect
import math

import torch
import torch.nn.functional as F
from torch.ao.quantization import observer

import masks
import serving
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


def quantize(x, limit, least, scale_rule, ties, codes_by, outputs):
    """Scale and codes of PyTorch: an observer, then quantize_per_tensor or quantize_per_channel."""
    serving.expect_plain(scale_rule=scale_rule, ties=ties, codes_by=codes_by)
    limit = limit or 127
    if (x.dtype, outputs) != (torch.float32, {"scale": "f32", "codes": "i8"}) or x.numel() == 0:
        raise Unsupported("observers see numbers of f32, and give f32 scales for codes of qint8")
    largest = math.floor(limit)
    lowest = largest - math.floor(2 * limit)  # -128 of 127.5, half of the range -128 to 127
    if lowest + 2 * limit != largest or largest > 127:
        raise Unsupported("limits of observers are integers up to 127, or 127.5")
    rows = serving.rows_of_blocks(x)
    known = {"dtype": torch.qint8, "eps": least / limit,
             "quant_min": lowest, "quant_max": largest}  # fmt: skip
    if len(rows) == 1:
        seen = observer.MinMaxObserver(qscheme=torch.per_tensor_symmetric, **known)
        seen(rows)
        scale, zero = seen.calculate_qparams()
        codes = torch.quantize_per_tensor(rows, scale, zero, torch.qint8)
    else:
        seen = observer.PerChannelMinMaxObserver(qscheme=torch.per_channel_symmetric, **known)
        seen(rows)
        scale, zero = seen.calculate_qparams()
        codes = torch.quantize_per_channel(rows, scale, zero, 0, torch.qint8)
    return {"scale": scale.reshape(x.shape[0], -1), "codes": codes.int_repr().reshape(x.shape)}


def dequantize(codes, scale, outputs, zero=None):
    if codes.dtype != torch.int8 or scale.dtype != torch.float32 or outputs != {"y": "f32"}:
        raise Unsupported("qint8 has scales of f32, and becomes f32")
    zero = torch.zeros(scale.numel(), dtype=torch.int64) if zero is None else zero.flatten()
    rows = serving.rows_of_blocks(codes)
    coded = torch._make_per_channel_quantized_tensor(rows, scale.flatten(), zero, 0)
    return coded.dequantize().reshape(codes.shape)


def router(logits, score, groups, renormalise, scale, K, outputs, bias=None):
    """As models in PyTorch compute it, in the dtype of the weights."""
    logits = logits.to({"f64": torch.float64, "f32": torch.float32}[outputs["weights"]])
    scores = torch.sigmoid(logits) if score == "sigmoid" else F.softmax(logits, -1)
    by = scores if bias is None else scores + bias
    if groups["type"] != "none":
        members = by.unflatten(-1, (groups["n_group"], -1))
        best = members.topk(2 if groups["type"] == "top2" else 1, -1).values.sum(-1)
        kept = torch.zeros_like(best).scatter_(-1, best.topk(groups["topk_group"], -1).indices, 1)
        by = members.masked_fill(kept[..., None] == 0, -torch.inf).flatten(-2)
    indices = by.topk(K, -1, sorted=False).indices
    weights = scores.gather(-1, indices)
    if renormalise["type"] == "sum":
        weights = weights / (weights.sum(-1, keepdim=True) + renormalise["eps"])
    return {"indices": indices, "weights": weights * scale}


def attention(q, k, v, scale, soft_cap, add_bias, empty_rows, masking, bias=None, sink=None,
              q_scale=None, k_scale=None, v_scale=None):
    """scaled_dot_product_attention; in PyTorch 1.13 it has an underscore and no scale."""
    if soft_cap:
        raise Unsupported("no soft cap")
    masks.expect_none(sink, "sink")
    masks.expect_no_scales(q_scale, k_scale, v_scale)
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
