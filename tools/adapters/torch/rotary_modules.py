"""RoPE modules of Hugging Face: LLaMA, LLaMA 2 Long (base 500000) and Qwen2.

  form = Form(width, base)    computes the frequencies for a rotary width
  form(x, position, sign)     rotates x [B,H,S,width] by the angles of sign * position [B,S]
"""

import torch
from torch import nn

import rope_types
from rotary_forms import inverse_frequencies, rotate_half
from subject import UNSCALED, Unsupported


class Llama(nn.Module):
    """Half pairing with a cache of cos and sin that grows for longer sequences."""

    pairing = "half"
    rows = 2048  # max_position_embeddings
    most_rows = 1 << 17  # limits the memory of tests

    def __init__(self, width, base):
        super().__init__()
        self.register_buffer("inv_freq", inverse_frequencies(width, base))
        self.cache(self.rows)

    def cache(self, rows):
        angle = torch.outer(torch.arange(rows).to(self.inv_freq.dtype), self.inv_freq)
        both = torch.cat((angle, angle), -1).float()  # Debian's torch has no cosine for f16 on CPUs
        self.register_buffer("cos", both.cos().to(angle.dtype))
        self.register_buffer("sin", both.sin().to(angle.dtype))

    def forward(self, x, position, sign):
        if position.min() < 0 or position.max() >= self.most_rows:
            raise Unsupported(f"the cache has rows for positions 0..{self.most_rows - 1}")
        if position.max() >= len(self.cos):
            self.cache(int(position.max()) + 1)
        cos = self.cos[position][:, None].to(x.dtype)
        sin = sign * self.sin[position][:, None].to(x.dtype)
        return x * cos + rotate_half(x) * sin


class CastLlama(Llama):
    """Wrong: LLaMA cast to the dtype of x. A growing cache is computed from rounded frequencies."""

    def forward(self, x, position, sign):
        self.to(x.dtype)
        return super().forward(x, position, sign)


class LlamaOfOldBase(Llama):
    """Wrong: ignores the base 500000 of LLaMA 2 Long."""

    def __init__(self, width, base):
        super().__init__(width, 10000.0)


class Qwen2(nn.Module):
    """Half pairing, rope type from a configuration, angles in f32, tables in the dtype of x."""

    pairing = "half"
    scales = True
    follows = rope_types.Length

    def __init__(self, width, base, scaling=UNSCALED):
        super().__init__()
        self.types = self.follows(width, base, scaling)
        frequencies, self.attention_scaling = self.types.original
        self.register_buffer("inv_freq", frequencies)

    def follow(self, length):
        """Sets the frequencies of the rope type for a sequence of this length."""
        self.inv_freq, self.attention_scaling = self.types.at(length)

    def table(self, position, dtype):
        """[B,S] -> cos and sin [B,1,S,R/2]"""
        column = self.inv_freq.float()[None, :, None].expand(len(position), -1, 1)
        with torch.autocast("cpu", enabled=False):
            angle = (column @ position.float()[:, None]).transpose(1, 2)[:, None]
            cos = angle.cos() * self.attention_scaling
            sin = angle.sin() * self.attention_scaling
        return cos.to(dtype), sin.to(dtype)

    @staticmethod
    def rotate(x, cos, sin):
        return x * torch.cat((cos, cos), -1) + rotate_half(x) * torch.cat((sin, sin), -1)

    def forward(self, x, position, sign):
        self.follow(int(position.max()) + 1)
        cos, sin = self.table(position, x.dtype)
        return self.rotate(x, cos, sign * sin)


class CastQwen2(Qwen2):
    """Wrong: Qwen2 cast to the dtype of x, which rounds the frequencies but not the angles."""

    def follow(self, length):
        pass  # keeps the rounded frequencies

    def forward(self, x, position, sign):
        self.to(x.dtype)
        return super().forward(x, position, sign)


class Qwen2NeverRestored(Qwen2):
    """Wrong: keeps the frequencies of a long sequence for shorter ones."""

    follows = rope_types.NeverRestored


class Qwen2Compounding(Qwen2):
    """Wrong: computes the new base from the last one, not from the original base."""

    follows = rope_types.Compounding
