"""Layers with the roundings of Hugging Face; one function per operation."""

import torch

from steps import product, times, wide


def rms_norm(x, weight, eps, unit_offset):
    normed = wide(x) * torch.rsqrt(wide(x).square().mean(-1, keepdim=True) + eps)
    return normed.to(x.dtype) * ((1 + weight) if unit_offset else weight).to(x.dtype)


def add_rms_norm(x, residual, weight, eps, unit_offset):
    total = x + residual
    return {"y": rms_norm(total, weight, eps, unit_offset), "sum": total}


def layer_norm(x, weight, bias, eps):
    centered = wide(x) - wide(x).mean(-1, keepdim=True)
    normed = centered * torch.rsqrt(centered.square().mean(-1, keepdim=True) + eps)
    weighed = normed.to(x.dtype) * weight.to(x.dtype)
    return (weighed + bias).to(x.dtype)


def embedding(token, table, scale):
    return times(table[token], scale)


def linear(x, weight):
    return product(x, weight.T)


def linear_bias(x, weight, bias):
    return (wide(x) @ wide(weight).T + wide(bias)).to(x.dtype)


def activated(x, kind, beta):
    """The activation, computed in f32."""
    x = wide(x)
    if kind == "sigmoid":
        return torch.sigmoid(x)
    if kind == "swish":
        return x * torch.sigmoid(beta * x)
    if kind == "gelu":
        return 0.5 * x * (1 + torch.erf(x / 2**0.5))
    if kind == "gelu_tanh":
        return 0.5 * x * (1 + torch.tanh((2 / torch.pi) ** 0.5 * (x + 0.044715 * x**3)))
    if kind == "tanh":
        return torch.tanh(x)
    return torch.relu(x) ** (2 if kind == "relu2" else 1)


def activation(x, kind, beta):
    return activated(x, kind, beta).to(x.dtype)


GATES = {"swiglu": "swish", "glu": "sigmoid", "geglu": "gelu", "geglu_tanh": "gelu_tanh",
         "reglu": "relu"}  # fmt: skip


def gated(gate, up, kind, beta=1, limit=None, alpha=None, plus_one=False):
    if limit:
        most = torch.tensor(limit, dtype=gate.dtype)
        gate, up = torch.minimum(gate, most), torch.minimum(torch.maximum(up, -most), most)
    activated_gate = activation(gate, GATES[kind], alpha or beta)
    return activated_gate * (up + 1 if plus_one else up)


def feed_forward(x, gate, up, down, kind):
    hidden = gated(linear(x, gate), linear(x, up), kind)
    return {"y": linear(hidden, down), "hidden": hidden}


def feed_forward_bias(x, gate, gate_bias, up, up_bias, down, down_bias, kind):
    hidden = gated(linear_bias(x, gate, gate_bias), linear_bias(x, up, up_bias), kind)
    return {"y": linear_bias(hidden, down, down_bias), "hidden": hidden}
