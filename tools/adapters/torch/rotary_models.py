"""RoPE of models that differ from LLaMA.

  form = Form(width, base)    computes the frequencies for a rotary width
  form(x, position, sign)     rotates x [B,H,S,width] by the angles of sign * position [B,S]
"""

import torch

from rotary_forms import Form, inverse_frequencies, rotate_half, rotate_neighbours
from rotary_modules import Llama
from subject import Unsupported


class GptJ(Form):
    """GPT-J and CodeGen: pairs of neighbours, a table [sin, cos] in the dtype of x."""

    pairing = "interleaved"
    rows = 8192  # of the table

    def table(self, dtype):
        frequencies = inverse_frequencies(self.width, self.base)
        angle = torch.arange(self.rows).float()[:, None] * frequencies
        return torch.cat((angle.sin(), angle.cos()), -1).to(dtype)

    def read(self, table):
        """sin, cos"""
        return table.chunk(2, -1)

    def __call__(self, x, position, sign):
        if position.min() < 0 or position.max() >= self.rows:
            raise Unsupported(f"the table has rows for positions 0..{self.rows - 1}")
        sin, cos = self.read(self.table(x.dtype)[position][:, None])
        sin, cos = sign * sin.repeat_interleave(2, -1), cos.repeat_interleave(2, -1)
        return x * cos + rotate_neighbours(x) * sin


class GptJTableSwapped(GptJ):
    """Wrong: reads the table as [cos, sin]."""

    def read(self, table):
        cos, sin = table.chunk(2, -1)
        return sin, cos


class GptJByHalves(GptJ):
    """Wrong: rotates halves, as in GPT-NeoX, with the weights of GPT-J."""

    def __call__(self, x, position, sign):
        sin, cos = self.read(self.table(x.dtype)[position][:, None])
        return x * torch.cat((cos, cos), -1) + rotate_half(x) * torch.cat((sin, sin), -1) * sign


class Baichuan(Llama):
    """Baichuan 7B: the cache of LLaMA, always in f32; x is converted to f32."""

    def cache(self, rows):
        angle = torch.outer(torch.arange(rows).float(), self.inv_freq)
        both = torch.cat((angle, angle), -1)
        self.cos, self.sin = both.cos(), both.sin()

    def forward(self, x, position, sign):
        return super().forward(x.float(), position, sign).to(x.dtype)
