"""What the functions of this folder share: where a 16-bit implementation widens and rounds."""

import sys
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).resolve().parents[1] / "torch"))
from subject import Unsupported, as_array, as_tensor, parse_call  # noqa: E402, F401


def wide(x):
    """16-bit tensors as f32: sums, roots, products, frequencies and functions are computed so."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def product(a, b):
    """A product of matrices: 16-bit operands, sums in f32, one rounding."""
    return (wide(a) @ wide(b)).to(a.dtype)


def times(x, factor):
    """A tensor times a number that is no tensor: in f32, one rounding."""
    return (wide(x) * factor).to(x.dtype)
