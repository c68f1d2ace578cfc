"""RoPE as the rotary-embedding library that many projects import has it: system 10.

  form = Form(width, base, scaling)    knows the frequencies of a rotary width
  form(x, position, sign)              turns x [B,H,S,width] by sign * position [B,S]
"""

import torch

from rotary_forms import inverse_frequencies, rotate_neighbours, working
from subject import Unsupported, parse_call


class Library:
    """10: interleaved, positions divided by an interpolation factor or the base rescaled (NTK)."""

    pairing = "interleaved"
    scales = True

    def __init__(self, width, base, scaling="none"):
        name, given = parse_call(scaling)
        if name not in ("none", "linear", "ntk"):
            raise Unsupported(f"scaling {name}")
        if name == "ntk":
            base = self.rescaled(base, given["factor"], width)
        self.interpolation = given["factor"] if name == "linear" else 1.0
        self.frequencies = inverse_frequencies(width, base)

    def rescaled(self, base, factor, width):
        return base * factor ** (width / (width - 2))

    def count(self, position, x):
        """The positions as numbers."""
        return position.to(working(x))

    def __call__(self, x, position, sign):
        place = self.count(position, x) / self.interpolation
        angle = place[..., None].to(working(x)) * self.frequencies
        angle = angle.repeat_interleave(2, -1)[:, None]
        return (x * angle.cos() + rotate_neighbours(x) * angle.sin() * sign).to(x.dtype)


class PositionsInInputDtype(Library):
    """10 as it stands today: wrong: positions are counted in x's dtype, however narrow it is."""

    def count(self, position, x):
        return position.to(x.dtype)


class CachedKeys(Library):
    """10: queries against cached keys: they are the last of as many positions as there are keys."""

    def offset(self, queries, keys):
        return keys - queries

    def __call__(self, x, position, sign):
        queries, keys = position.shape[1], int(position[0, -1]) + 1
        if not torch.equal(position, torch.arange(keys - queries, keys).expand_as(position)):
            raise Unsupported("queries are the last positions, one after the other")
        place = torch.arange(queries) + self.offset(queries, keys)
        return super().__call__(x, place.expand_as(position), sign)


class CachedKeysForgotten(CachedKeys):
    """10: wrong: queries are counted from 0 although keys before them are cached."""

    def offset(self, queries, keys):
        return 0


class RescaledByFactor(Library):
    """10: wrong: the base times the factor itself, not its width/(width-2)th power."""

    def rescaled(self, base, factor, width):
        return base * factor


class LearnedFrequencies(torch.nn.Module):
    """10: frequencies are a parameter that training has changed; autograd goes through it."""

    def __init__(self, frequencies):
        super().__init__()
        self.frequencies = torch.nn.Parameter(frequencies)

    def forward(self, x, position, sign):
        angle = position[..., None].to(self.frequencies.dtype) * self.frequencies
        angle = angle.repeat_interleave(2, -1)[:, None]
        return (x * angle.cos() + rotate_neighbours(x) * angle.sin() * sign).to(x.dtype)
