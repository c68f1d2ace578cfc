"""RoPE in the forms that articles teach, right and wrong: systems 3, 4, 5, 7 and 9.

  form = Form(width, base)    knows the frequencies of a rotary width
  form(x, position, sign)     turns x [B,H,S,width] by sign * position [B,S]
"""

import torch


def inverse_frequencies(width, base, dtype=torch.float32):
    """base^(-2k/width), the power first and its reciprocal after, as Hugging Face does."""
    return 1.0 / base ** (torch.arange(0, width, 2).to(dtype) / width)


def working(x):
    """f32 for f32 and 16-bit tensors, f64 for f64."""
    return torch.promote_types(x.dtype, torch.float32)


def angles(position, frequencies):
    """[B,S] and [R/2] -> [B,1,S,R/2]: one angle for all heads."""
    return (position.to(frequencies.dtype)[..., None] * frequencies)[:, None]


def rotate_half(x):
    first, second = x.chunk(2, -1)
    return torch.cat((-second, first), -1)


def rotate_neighbours(x):
    return torch.stack((-x[..., 1::2], x[..., 0::2]), -1).flatten(-2)


class Matrix:
    """3: a block-diagonal rotation matrix for each position, times the vector."""

    pairing = "interleaved"

    def __init__(self, width, base):
        self.frequencies = inverse_frequencies(width, base)

    def matrix(self, position):
        """[S] -> [S,width,width]"""
        angle = position.float()[:, None] * self.frequencies
        cos, sin = angle.cos(), angle.sin()
        blocks = torch.stack((cos, -sin, sin, cos), -1).unflatten(-1, (2, 2))
        return torch.stack([torch.block_diag(*row) for row in blocks])

    def __call__(self, x, position, sign):
        matrix = torch.stack([self.matrix(sign * row) for row in position])[:, None]
        return (matrix @ x.float()[..., None])[..., 0].to(x.dtype)


class Elementwise:
    """4: (q0,q1,..) * cos + (-q1,q0,..) * sin, each frequency for both channels of its pair."""

    pairing = "interleaved"

    def __init__(self, width, base):
        self.width, self.base = width, base

    def channel_frequencies(self, dtype):
        return inverse_frequencies(self.width, self.base, dtype).repeat_interleave(2)

    def __call__(self, x, position, sign):
        angle = angles(sign * position, self.channel_frequencies(working(x)))
        return x * angle.cos().to(x.dtype) + rotate_neighbours(x) * angle.sin().to(x.dtype)


class OneFrequencyPerChannel(Elementwise):
    """4w: wrong, as one article prints it: cos(m t0), cos(m t1), cos(m t2) ... not repeated."""

    def channel_frequencies(self, dtype):
        return 1.0 / self.base ** (2 * torch.arange(self.width, dtype=dtype) / self.width)


class IndexedFromZero(Elementwise):
    """4x: wrong: theta_i = base^(-2(i-1)/d), meant for i from 1, used with i from 0."""

    def channel_frequencies(self, dtype):
        index = torch.arange(self.width // 2, dtype=dtype)
        return (self.base ** (-2 * (index - 1) / self.width)).repeat_interleave(2)


class Complex:
    """5: pairs as complex numbers times e^(i m theta)."""

    pairing = "interleaved"

    def __init__(self, width, base):
        self.frequencies = inverse_frequencies(width, base)

    def __call__(self, x, position, sign):
        angle = angles(sign * position, self.frequencies)
        pairs = torch.view_as_complex(x.float().unflatten(-1, (-1, 2)).contiguous())
        turned = pairs * torch.polar(torch.ones_like(angle), angle)
        return torch.view_as_real(turned).flatten(-2).to(x.dtype)


class MixedRotateHalf:
    """7: wrong: neighbours are taken, but put in half order, and so are the tables."""

    pairing = "half"

    def __init__(self, width, base):
        self.width, self.base = width, base

    def __call__(self, x, position, sign):
        angle = angles(sign * position, inverse_frequencies(self.width, self.base, working(x)))
        angle = torch.cat((angle, angle), -1)
        mixed = torch.cat((-x[..., 1::2], x[..., 0::2]), -1)
        return x * angle.cos().to(x.dtype) + mixed * angle.sin().to(x.dtype)


class Rotator:
    """9: theta_k = (base^(2/D))^-k, the inner power rounded; outer product with the positions."""

    pairing = "half"

    def __init__(self, width, base):
        self.width, self.base = width, base

    def frequencies(self, dtype=torch.float32):
        root = torch.tensor(self.base, dtype=dtype) ** (2 / self.width)
        return root ** -torch.arange(self.width // 2, dtype=dtype)

    def __call__(self, x, position, sign):
        angle = angles(sign * position, self.frequencies(working(x)))
        first, second = x.chunk(2, -1)
        cos, sin = angle.cos().to(x.dtype), angle.sin().to(x.dtype)
        return torch.cat((first * cos - second * sin, first * sin + second * cos), -1)
