"""Feed-forward modules of Transformers; `python3 feed_forward.py NAME` serves one."""

import torch
from torch import nn
from torch.nn import functional

from subject import Unsupported, as_tensor, serve

ACTIVATIONS = {
    "glu": torch.sigmoid,
    "swiglu": functional.silu,
    "reglu": functional.relu,
}


def layer(weight, bias=None):
    """nn.Linear with this weight and bias."""
    linear = nn.Linear(weight.shape[1], weight.shape[0], bias=bias is not None, dtype=weight.dtype)
    linear.weight = nn.Parameter(weight)
    if bias is not None:
        linear.bias = nn.Parameter(bias)
    return linear


class GatedFeedForward(nn.Module):
    """w2(f(w1 x) * (w3 x)), with or without biases."""

    def __init__(self, w1, w3, w2, activation):
        super().__init__()
        self.w1, self.w3, self.w2, self.activation = w1, w3, w2, activation

    def forward(self, x):
        hidden = self.activation(self.w1(x)) * self.w3(x)
        return self.w2(hidden), hidden


class FusedFeedForward(GatedFeedForward):
    """Wrong: one fused weight, with the activation on the second half, as in F.glu."""

    def forward(self, x):
        fused = torch.cat([self.w1(x), self.w3(x)], -1)
        first, second = fused.chunk(2, -1)
        hidden = first * self.activation(second)
        return self.w2(hidden), hidden


def tensors(dtype, *inputs):
    """None, an input that the case does not have, stays None."""
    if dtype == "f16":
        raise Unsupported("this PyTorch has no matrix products for f16 on CPUs")
    return [None if array is None else as_tensor(array, dtype) for array in inputs]


def activation_of(kind):
    if kind not in ACTIVATIONS:
        raise Unsupported(f"no {kind}")
    return ACTIVATIONS[kind]


def feed_forward_by(module):
    def feed_forward(x, gate, up, down, kind, dtype, gate_bias=None, up_bias=None, down_bias=None,
                     **_):
        x, gate, up, down, *biases = tensors(dtype, x, gate, up, down, gate_bias, up_bias, down_bias)
        layers = [layer(w, b) for w, b in zip([gate, up, down], biases)]
        y, hidden = module(*layers, activation_of(kind))(x)
        return {"y": y, "hidden": hidden}

    return feed_forward


def linear(x, weight, dtype, bias=None, **_):
    return functional.linear(*tensors(dtype, x, weight, bias))


def softmax(x, dtype, **_):
    return functional.softmax(as_tensor(x, dtype), -1)


SYSTEMS = {
    "feed_forward": {
        "feed_forward": feed_forward_by(GatedFeedForward),
        "linear": linear,
        "softmax": softmax,
    },
    "feed_forward_fused": {"feed_forward": feed_forward_by(FusedFeedForward)},
}

if __name__ == "__main__":
    serve(SYSTEMS)
