"""Sinusoidal positions in two forms; `python3 sinusoidal.py NAME` serves one."""

import math

import torch
from torch import nn

from subject import Unsupported, as_tensor, serve


class Encoding(nn.Module):
    """A table with sines in even and cosines in odd channels, added to the input."""

    def __init__(self, rows, width, base, dtype):
        super().__init__()
        position = torch.arange(rows, dtype=dtype)[:, None]
        angle = self.angle(position, torch.arange(0, width, 2).to(dtype), width, base)
        table = torch.zeros(rows, width, dtype=dtype)
        table[:, 0::2] = angle.sin()
        table[:, 1::2] = angle.cos()[:, : width // 2]
        self.register_buffer("table", table)

    def forward(self, x, position):
        return x + self.table[position]  # no dropout


class PowerForm(Encoding):
    """pos / base^(2i/d)."""

    rows = 1024

    def angle(self, position, even, width, base):
        return position / base ** (even / width)


class ExpLogForm(Encoding):
    """pos * exp(2i * -(ln base / d))."""

    rows = 5000

    def angle(self, position, even, width, base):
        return position * torch.exp(even * -(math.log(base) / width))


def sinusoidal(form):
    def answer(position, base, layout, denominator, M, dtype, **_):
        if (layout, denominator) != ("interleaved", "paper"):
            raise Unsupported("only layout=interleaved and denominator=paper")
        position = as_tensor(position)
        if ((position < 0) | (position >= form.rows)).any():
            raise Unsupported(f"the table has rows for positions 0..{form.rows - 1}")
        x = as_tensor(torch.zeros(len(position), M), dtype)
        if x.numel() == 0:
            return x
        encoding = form(form.rows, M, base, torch.promote_types(x.dtype, torch.float32))
        return encoding.to(x.dtype)(x, position)

    return answer


SYSTEMS = {
    "sinusoidal_power": {"sinusoidal": sinusoidal(PowerForm)},
    "sinusoidal_exp_log": {"sinusoidal": sinusoidal(ExpLogForm)},
}

if __name__ == "__main__":
    serve(SYSTEMS)
