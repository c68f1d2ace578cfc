"""Relative positions inside the attention; `python3 relative.py NAME` serves one.

  Form().rows(query_position, key_position, clip)    rows of Shaw's tables, [S,T]
  Form().bucket(distance, ...)                       rows of T5's table, [S,T]
"""

import math

import torch

from rotary_forms import working
from subject import DTYPES, as_tensor, serve


class Shaw:
    """A vector per clipped distance, added to keys and to values."""

    def rows(self, query_position, key_position, clip):
        distance = key_position[None, :] - query_position[:, None]
        return distance.clamp(-clip, clip) + clip

    def __call__(self, q, k, v, tables, rows, scale):
        key_table, value_table = tables
        content = q @ k.transpose(-1, -2)
        scores = (content + torch.einsum("bhsd,std->bhst", q, key_table[rows])) * scale
        weights = scores.softmax(-1)
        return weights @ v + torch.einsum("bhst,std->bhsd", weights, value_table[rows]), scores


class ShawReversed(Shaw):
    """Wrong: the distance has the opposite sign."""

    def rows(self, query_position, key_position, clip):
        return super().rows(-query_position, -key_position, clip)


class ShawByPlace(Shaw):
    """Wrong: distances of tensor indices; with a cache they differ from distances of tokens."""

    def rows(self, query_position, key_position, clip):
        indices = torch.arange(len(query_position)), torch.arange(len(key_position))
        return super().rows(*indices, clip)


class AbsoluteInAttention(Shaw):
    """A vector per key position: learned absolute positions, so no relative property holds."""

    def rows(self, query_position, key_position, clip):
        row = key_position.remainder(2 * clip + 1)
        return row.expand(len(query_position), -1)


class T5:
    """A bias per head and bucket of distance; buckets by a truncated logarithm in f32."""

    def bucket(self, distance, bidirectional, buckets, max_distance):
        first = torch.zeros_like(distance)
        if bidirectional:
            buckets //= 2
            first = self.after(distance) * buckets
            distance = distance.abs()
        else:
            distance = (-distance).clamp(min=0)
        exact = buckets // 2
        share = self.logarithm(distance.clamp(min=1).float() / exact, max_distance / exact)
        far = (exact + (share * (buckets - exact)).long()).clamp(max=buckets - 1)
        return first + torch.where(distance < exact, distance, far)

    def after(self, distance):
        return (distance > 0).long()

    def logarithm(self, x, base):
        return torch.log(x) / math.log(base)


class T5SelfIsAfter(T5):
    """Wrong: distance 0 is treated as a position after the query."""

    def after(self, distance):
        return (distance >= 0).long()


class T5InBf16(T5):
    """Wrong: distances and logarithms in bf16."""

    def logarithm(self, x, base):
        return (x.bfloat16().log() / torch.tensor(math.log(base)).bfloat16()).float()


def relative_attention(form):
    def answer(
        q, k, v, key_table, value_table, query_position, key_position, clip, dtype, scale=None, **_
    ):
        q, k, v, *tables = (as_tensor(x, dtype) for x in (q, k, v, key_table, value_table))
        wide = working(q)
        rows = form().rows(as_tensor(query_position), as_tensor(key_position), clip)
        if scale is None:
            scale = q.shape[-1] ** -0.5
        tables = [table.to(wide) for table in tables]
        y, scores = form()(q.to(wide), k.to(wide), v.to(wide), tables, rows, scale)
        return {"y": y.to(q.dtype), "scores": scores.to(q.dtype)}

    return {"relative_attention": answer}


def relative_bias(form):
    def answer(table, query_position, key_position, bidirectional, max_distance, P, dtype, **_):
        distance = as_tensor(key_position)[None, :] - as_tensor(query_position)[:, None]
        bucket = form().bucket(distance, bidirectional, P, max_distance)
        return as_tensor(table, dtype)[bucket].permute(2, 0, 1)

    return {"relative_bias": answer}


SYSTEMS = {
    "shaw": relative_attention(Shaw),
    "shaw_reversed": relative_attention(ShawReversed),
    "shaw_by_place": relative_attention(ShawByPlace),
    "absolute_in_attention": relative_attention(AbsoluteInAttention),
    "t5": relative_bias(T5),
    "t5_self_is_after": relative_bias(T5SelfIsAfter),
    "t5_in_bf16": relative_bias(T5InBf16),
}

if __name__ == "__main__":
    serve(SYSTEMS)
