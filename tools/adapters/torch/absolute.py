"""Absolute position encodings, added to the input; `python3 absolute.py NAME` serves one.

They implement the operation `rope`, so that its properties are checked on them. The properties do
not hold: the norm of x changes, and scores do not depend on distances alone.
"""

import torch

from rotary_forms import inverse_frequencies
from subject import Unsupported, as_tensor, serve


def learned(position, width):
    """A row per position, with random initial values."""
    generator = torch.Generator().manual_seed(1)
    rows = torch.randn(4096, width, generator=generator)
    return rows[inside(position, len(rows))]


def one_hot(position, width):
    """The unit vector of the position; there are as many positions as channels."""
    return torch.nn.functional.one_hot(inside(position, width), width).float()


def integer(position, width):
    """The position as a number in every channel."""
    return position[..., None].float().expand(*position.shape, width)


def sinusoidal(position, width):
    """Sines in even, cosines in odd channels."""
    angle = position[..., None] * inverse_frequencies(width, 10000.0)
    return torch.stack((angle.sin(), angle.cos()), -1).flatten(-2)


def inside(position, rows):
    if ((position < 0) | (position >= rows)).any():
        raise Unsupported(f"there are {rows} positions")
    return position


def added(encoding):
    def answer(x, position, offset, R, dtype, **_):
        x = as_tensor(x, dtype)
        if R == 0 or x.numel() == 0:
            return x
        y = x.clone()
        y[..., offset : offset + R] += encoding(as_tensor(position), R)[:, None].to(x.dtype)
        return y

    return {"rope": answer}


SYSTEMS = {
    "absolute_learned": added(learned),
    "absolute_one_hot": added(one_hot),
    "absolute_integer": added(integer),
    "absolute_sinusoidal": added(sinusoidal),
}

if __name__ == "__main__":
    serve(SYSTEMS)
