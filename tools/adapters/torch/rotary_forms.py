"""RoPE in the forms that articles teach, correct and wrong.

  form = Form(width, base)    computes the frequencies for a rotary width
  form(x, position, sign)     rotates x [B,H,S,width] by the angles of sign * position [B,S]
"""

import torch

from subject import Unsupported


def inverse_frequencies(width, base, dtype=torch.float32):
    """base^(-2k/width) as the reciprocal of a power, as in Hugging Face."""
    return 1.0 / base ** (torch.arange(0, width, 2).to(dtype) / width)


def working(x):
    """f32 for f32 and 16-bit tensors, f64 for f64."""
    return torch.promote_types(x.dtype, torch.float32)


def angles(position, frequencies):
    """[B,S] and [R/2] -> [B,1,S,R/2]: all heads have the same angles."""
    return (position.to(frequencies.dtype)[..., None] * frequencies)[:, None]


def rotate_half(x):
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


def rotate_neighbours(x):
    return torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)


class Form:
    def __init__(self, width, base):
        self.width, self.base = width, base

    def frequencies(self, dtype):
        return inverse_frequencies(self.width, self.base, dtype)


class Matrix(Form):
    """A block-diagonal rotation matrix per position, times the vector."""

    pairing = "interleaved"

    def matrix(self, position, dtype):
        """[S] -> [S,width,width]"""
        angle = position.to(dtype)[:, None] * self.frequencies(dtype)
        cos, sin = angle.cos(), angle.sin()
        blocks = torch.stack((cos, -sin, sin, cos), -1).unflatten(-1, (2, 2))
        return torch.stack([torch.block_diag(*row) for row in blocks])

    def __call__(self, x, position, sign):
        if not x.isfinite().all():
            raise Unsupported("a dense product spreads NaN and infinities over all channels")
        wide = working(x)
        matrix = torch.stack([self.matrix(sign * row, wide) for row in position])[:, None]
        return (matrix @ x.to(wide)[..., None])[..., 0].to(x.dtype)


class Elementwise(Form):
    """(q0,q1,..) * cos + (-q1,q0,..) * sin; both channels of a pair have the same frequency."""

    pairing = "interleaved"

    def channel_frequencies(self, dtype):
        return self.frequencies(dtype).repeat_interleave(2)

    def __call__(self, x, position, sign):
        angle = angles(sign * position, self.channel_frequencies(working(x)))
        return x * angle.cos().to(x.dtype) + rotate_neighbours(x) * angle.sin().to(x.dtype)


class OneFrequencyPerChannel(Elementwise):
    """Wrong, as in an article: cos(m t0), cos(m t1), cos(m t2) ..., not repeated per pair."""

    def channel_frequencies(self, dtype):
        return 1.0 / self.base ** (2 * torch.arange(self.width, dtype=dtype) / self.width)


class IndexedFromZero(Elementwise):
    """Wrong: theta_i = base^(-2(i-1)/d), a formula for i from 1, with i from 0."""

    def channel_frequencies(self, dtype):
        index = torch.arange(self.width // 2, dtype=dtype)
        return (self.base ** (-2 * (index - 1) / self.width)).repeat_interleave(2)


class Complex(Form):
    """Pairs as complex numbers, multiplied by e^(i m theta)."""

    pairing = "interleaved"

    def __call__(self, x, position, sign):
        wide = working(x)
        angle = angles(sign * position, self.frequencies(wide))
        pairs = torch.view_as_complex(x.to(wide).clone().unflatten(-1, (-1, 2)))
        rotated = pairs * torch.polar(torch.ones_like(angle), angle)
        return torch.view_as_real(rotated).flatten(-2).to(x.dtype)


class MixedRotateHalf(Form):
    """Wrong: reads pairs of neighbours, but writes them and the tables in half order."""

    pairing = "half"

    def __call__(self, x, position, sign):
        angle = angles(sign * position, self.frequencies(working(x)))
        angle = torch.cat((angle, angle), -1)
        mixed = torch.cat((-x[..., 1::2], x[..., 0::2]), -1)
        return x * angle.cos().to(x.dtype) + mixed * angle.sin().to(x.dtype)


class Rotator(Form):
    """theta_k = (base^(2/D))^-k with a rounded inner power; outer product with the positions."""

    pairing = "half"

    def frequencies(self, dtype):
        root = torch.tensor(self.base, dtype=dtype) ** (2 / self.width)
        return root ** -torch.arange(self.width // 2, dtype=dtype)

    def __call__(self, x, position, sign):
        angle = angles(sign * position, self.frequencies(working(x)))
        first, second = x.chunk(2, -1)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)
