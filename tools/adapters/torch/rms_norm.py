"""RMSNorm modules that an article compares by `==`; `python3 rms_norm.py NAME` serves one."""

import torch
from torch import nn

from subject import Unsupported, as_tensor, serve


class OwnRmsNorm(nn.Module):
    """Mean of squares, eps 1e-8 inside the root, division by the root."""

    def __init__(self, weight, eps=1e-8):
        super().__init__()
        self.weight, self.eps = nn.Parameter(weight), eps

    def forward(self, x):
        wide = x.to(self.weight.dtype)
        root = torch.sqrt(torch.mean(wide**2, -1, keepdim=True) + self.eps)
        return (wide / root * self.weight).to(x.dtype)


class LlamaRmsNorm(nn.Module):
    """The module of LLaMA: eps 1e-5, rsqrt, multiplication by the weight in the dtype of x."""

    def __init__(self, weight, eps=1e-5):
        super().__init__()
        self.weight, self.eps = nn.Parameter(weight), eps

    def forward(self, x):
        wide = x.to(self.weight.dtype)
        normed = wide * torch.rsqrt(wide.pow(2).mean(-1, keepdim=True) + self.eps)
        return self.weight.to(x.dtype) * normed.to(x.dtype)


def rms_norm(module, any_eps=False):
    """The operation with the eps of `module`; any_eps: ignores the eps of the case."""

    def answer(x, weight, eps, unit_offset, dtype, **_):
        norm = module(as_tensor(weight))
        if unit_offset:
            raise Unsupported("the weight has no offset")
        if eps != norm.eps and not any_eps:
            raise Unsupported(f"eps is {norm.eps}")
        return norm(as_tensor(x, dtype))

    return answer


SYSTEMS = {
    "rms_norm_own": {"rms_norm": rms_norm(OwnRmsNorm)},
    "rms_norm_llama": {"rms_norm": rms_norm(LlamaRmsNorm)},
    "rms_norm_own_for_any_eps": {"rms_norm": rms_norm(OwnRmsNorm, any_eps=True)},
}

if __name__ == "__main__":
    serve(SYSTEMS)
