"""Shows the findings about PyTorch (../FINDINGS.md) with 60-digit arithmetic, without Sextant.

    /usr/bin/python3 tools/frameworks/pytorch/findings.py
"""

import pathlib
import sys

import mpmath
import torch
import torch.nn.functional as F

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1]))
from shown import show, swish  # noqa: E402


def layer_norm():
    print("layer_norm of one number, f32: x - mean is 0, so the result is the bias")
    x, weight, bias = torch.tensor([[1.3]]), torch.tensor([1.0]), torch.tensor([0.5])
    show("layer_norm([1.3]), bias 0.5", F.layer_norm(x, (1,), weight, bias)[0, 0], "0.5")
    print("layer_norm in bf16: mean and 1 / sigma are stored in bf16")
    row = [100.0, 100.5, 101.5]
    y = F.layer_norm(torch.tensor([row], dtype=torch.bfloat16), (3,))[0]
    mean = mpmath.fsum(row) / 3
    sigma = mpmath.sqrt(mpmath.fsum((x - mean) ** 2 for x in row) / 3 + mpmath.mpf("1e-5"))
    for x, got in zip(row, y):
        show(f"number {x} of {row}", got, (x - mean) / sigma)


def gelu():
    print("gelu in f32: 1 + erf(x / sqrt 2) for negative x")
    for x in (-2.0, -4.0, -5.0):
        exact = mpmath.mpf(x) * mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2
        show(f"gelu({x})", F.gelu(torch.full((16,), x))[0], exact)


def bfloat16():
    print("activations of bf16 numbers")
    for x in (-0.166015625, -3.5):
        y = torch.full((16,), x, dtype=torch.bfloat16)
        show(f"silu({x})", F.silu(y)[0], swish(x))
        exact = mpmath.mpf(x) * mpmath.erfc(-mpmath.mpf(x) / mpmath.sqrt(2)) / 2
        show(f"gelu({x})", F.gelu(y)[0], exact)


def small_products():
    print("bmm of bf16 matrices: the sum of n ones")
    for rows, n in ((1, 256), (1, 300), (1, 4096), (1, 4097)):
        ones = torch.ones(1, rows, n, dtype=torch.bfloat16)
        show(f"{rows} x {n} times {n} x 1", torch.bmm(ones, torch.ones(1, n, 1, dtype=torch.bfloat16))[0, 0, 0], n)
    print("scale of attention in bf16: 1 / sqrt(80) is a number of bf16, and so is q times it")
    scaled = torch.full((), 1.0, dtype=torch.bfloat16) * (1 / 80 ** 0.5)
    show("1 * (1 / sqrt(80))", scaled, 1 / mpmath.sqrt(80))


def codes():
    print("quantize_per_tensor multiplies by 1 / scale: ties by a scale of 61")
    x = torch.tensor([30.5, -91.5, 152.5, -213.5])
    y = torch.quantize_per_tensor(x, 61.0, 0, torch.qint8).int_repr()
    print(f"  {(x / 61).tolist()}: {y.tolist()}")


if __name__ == "__main__":
    print(f"PyTorch {torch.__version__}")
    for finding in (layer_norm, gelu, bfloat16, small_products, codes):
        finding()
