"""LayerNorm by hand and of PyTorch; `python3 layer_norm.py NAME` serves one."""

import torch
from torch import nn

from subject import as_tensor, serve


class ByHand(nn.Module):
    """Biased variance, eps inside the root."""

    def __init__(self, weight, bias, eps):
        super().__init__()
        self.weight, self.bias, self.eps = nn.Parameter(weight), nn.Parameter(bias), eps

    def forward(self, x):
        mean = x.mean(-1, keepdim=True)
        return (x - mean) / self.deviation(x, mean) * self.weight + self.bias

    def deviation(self, x, mean):
        return torch.sqrt(((x - mean) ** 2).mean(-1, keepdim=True) + self.eps)


class Unbiased(ByHand):
    """Wrong: torch.var divides by M - 1 by default."""

    def deviation(self, x, mean):
        return torch.sqrt(x.var(-1, keepdim=True) + self.eps)


class EpsOutside(ByHand):
    """Wrong: adds eps to the deviation."""

    def deviation(self, x, mean):
        return x.std(-1, unbiased=False, keepdim=True) + self.eps


class OnePass(ByHand):
    """Mean of squares minus square of the mean: inaccurate if the mean is far from 0."""

    def deviation(self, x, mean):
        variance = (x * x).mean(-1, keepdim=True) - mean * mean
        return torch.sqrt(variance.clamp(min=0) + self.eps)


class PyTorch(nn.LayerNorm):
    """torch.nn.LayerNorm."""

    def __init__(self, weight, bias, eps):
        super().__init__(len(weight), eps=eps, dtype=weight.dtype)
        self.weight, self.bias = nn.Parameter(weight), nn.Parameter(bias)


def layer_norm(module):
    """The operation in the dtype of the weights, with one rounding to the dtype of x."""

    def answer(x, weight, bias, eps, dtype, **_):
        norm, x = module(as_tensor(weight), as_tensor(bias), eps), as_tensor(x, dtype)
        return norm(x.to(norm.weight.dtype)).to(x.dtype)

    return {"layer_norm": answer}


SYSTEMS = {
    "layer_norm_by_hand": layer_norm(ByHand),
    "layer_norm_pytorch": layer_norm(PyTorch),
    "layer_norm_unbiased": layer_norm(Unbiased),
    "layer_norm_eps_outside": layer_norm(EpsOutside),
    "layer_norm_one_pass": layer_norm(OnePass),
}

if __name__ == "__main__":
    serve(SYSTEMS)
