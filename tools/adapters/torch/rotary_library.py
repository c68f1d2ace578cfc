"""RoPE of the rotary-embedding library, which many projects import.

  form = Form(width, base, scaling)   computes the frequencies for a rotary width
  form(x, position, sign)             rotates x [B,H,S,width] by the angles of sign * position [B,S]
"""

import torch

from rotary_forms import inverse_frequencies, rotate_neighbours, working
from subject import UNSCALED, Unsupported


class Library:
    """Interleaved pairs; positions divided by an interpolation factor, or a rescaled base (NTK)."""

    pairing = "interleaved"
    scales = True

    def __init__(self, width, base, scaling=UNSCALED):
        name = scaling["type"]
        if name not in ("none", "linear", "ntk"):
            raise Unsupported(f"scaling {name}")
        if name == "ntk":
            base = self.rescaled(base, scaling["factor"], width)
        self.interpolation = scaling["factor"] if name == "linear" else 1.0
        self.frequencies = inverse_frequencies(width, base)

    def rescaled(self, base, factor, width):
        return base * factor ** (width / (width - 2))

    def count(self, position, x):
        """The positions in the dtype of angles."""
        return position.to(working(x))

    def __call__(self, x, position, sign):
        scaled = self.count(position, x) / self.interpolation
        angle = scaled[..., None].to(working(x)) * self.frequencies
        angle = angle.repeat_interleave(2, -1)[:, None]
        return (x * angle.cos() + rotate_neighbours(x) * angle.sin() * sign).to(x.dtype)


class PositionsInInputDtype(Library):
    """Wrong, the current version of the library: positions are computed in the dtype of x."""

    def count(self, position, x):
        return position.to(x.dtype)


class CachedKeys(Library):
    """Queries for cached keys: with T keys, S queries have the positions T-S..T-1."""

    def offset(self, queries, keys):
        return keys - queries

    def __call__(self, x, position, sign):
        queries, keys = position.shape[1], int(position[0, -1]) + 1
        if not torch.equal(position, torch.arange(keys - queries, keys).expand_as(position)):
            raise Unsupported("queries must have the last positions, in order")
        counted = torch.arange(queries) + self.offset(queries, keys)
        return super().__call__(x, counted.expand_as(position), sign)


class CachedKeysForgotten(CachedKeys):
    """Wrong: query positions start at 0 although there are cached keys."""

    def offset(self, queries, keys):
        return 0


class RescaledByFactor(Library):
    """Wrong: multiplies the base by the factor, not by factor^(width/(width-2))."""

    def rescaled(self, base, factor, width):
        return base * factor


class LearnedFrequencies(torch.nn.Module):
    """The frequencies are a trained parameter, so that autograd is active."""

    def __init__(self, frequencies):
        super().__init__()
        self.frequencies = torch.nn.Parameter(frequencies)

    def forward(self, x, position, sign):
        angle = position[..., None].to(self.frequencies.dtype) * self.frequencies
        angle = angle.repeat_interleave(2, -1)[:, None]
        return (x * angle.cos() + rotate_neighbours(x) * angle.sin() * sign).to(x.dtype)
