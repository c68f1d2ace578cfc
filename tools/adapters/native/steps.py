"""Steps of native 16-bit implementations: conversion to f32 and rounding."""

import sys
from pathlib import Path

import torch

sys.path.append(str(Path(__file__).resolve().parents[1] / "torch"))
from subject import Unsupported, as_array, as_tensor, parameters_of  # noqa: E402, F401


def wide(x):
    """16-bit tensors converted to f32, for sums, roots, products, frequencies and functions."""
    return x.to(torch.promote_types(x.dtype, torch.float32))


def product(a, b):
    """Matrix product of 16-bit operands with sums in f32 and one rounding."""
    return (wide(a) @ wide(b)).to(a.dtype)


def times(x, factor):
    """A tensor times a Python number, in f32 with one rounding."""
    return (wide(x) * factor).to(x.dtype)
