"""Attention at once, in tiles, with a cache, and of torch; `python3 attention.py NAME` serves one.

Form(...)(q, k, v, seen, scale, cap) returns y and lse. seen [B,1,S,T] is true where a query attends
to a key; q is [B,H,S,D]; k and v have as many heads as q.
"""

import math

import torch

from rotary_forms import working
from subject import WIDE, Unsupported, as_tensor, serve


def of_batch(numbers, B):
    return torch.tensor(numbers if len(numbers) == B else numbers * B)[:, None, None]


def seen_keys(B, S, T, mask, align, query_offset=None, window=None, chunk=None, key_length=None,
              segments=None):  # fmt: skip
    length = of_batch(key_length or [T], B)
    first = length - S if align == "bottom_right" else 0 * length
    if query_offset is not None:
        first = of_batch(query_offset, B)
    key, place = torch.arange(T), torch.arange(S)[:, None] + first
    seen = (key < length) & (place == place)
    if mask == "causal":
        seen = seen & (key <= place)
    if window is not None:
        left, right = window
        if left >= 0:
            seen = seen & (key >= place - left)
        if right >= 0:
            seen = seen & (key <= place + right)
    if chunk is not None:
        whole = [torch.div(x, int(chunk), rounding_mode="floor") for x in (key, place)]
        seen = seen & (whole[0] == whole[1])
    if segments is not None:
        ends = torch.tensor(segments).cumsum(0)
        number = [(x[..., None] >= ends).sum(-1) for x in (key, place)]
        seen = seen & (number[0] == number[1]) & (place >= 0) & (place < T)
    return seen[:, None]


class Whole:
    """All scores at once, masked by -infinity."""

    def scores(self, q, k, seen, scale, cap):
        scores = q @ k.transpose(-1, -2) * scale
        if cap is not None:
            scores = cap * torch.tanh(scores / cap)
        return scores.masked_fill(~seen, -math.inf)

    def __call__(self, q, k, v, seen, scale, cap):
        scores = self.scores(q, k, seen, scale, cap)
        return scores.softmax(-1).nan_to_num(0) @ v, scores.logsumexp(-1)


class Flash(Whole):
    """Tiles of keys with a running maximum and sum, forwards or backwards."""

    def __init__(self, tile, backwards=False, rescales=True, weights_dtype=None):
        self.tile, self.backwards, self.rescales = tile, backwards, rescales
        self.weights_dtype = weights_dtype

    def __call__(self, q, k, v, seen, scale, cap):
        rows = q.shape[:-1]
        largest = torch.full((*rows, 1), -math.inf, dtype=q.dtype)
        total = torch.zeros((*rows, 1), dtype=q.dtype)
        y = torch.zeros((*rows, v.shape[-1]), dtype=q.dtype)
        starts = range(0, k.shape[-2], self.tile)
        for first in reversed(starts) if self.backwards else starts:
            tile = slice(first, first + self.tile)
            scores = self.scores(q, k[..., tile, :], seen[..., tile], scale, cap)
            new = torch.maximum(largest, scores.amax(-1, keepdim=True))
            usable = new.masked_fill(new == -math.inf, 0)  # no key seen so far
            weights = (scores - usable).exp()
            factor = (largest - usable).exp() if self.rescales else 1
            total = total * factor + weights.sum(-1, keepdim=True)
            if self.weights_dtype is not None:
                weights = weights.to(self.weights_dtype).to(weights.dtype)
            y = y * factor + weights @ v[..., tile, :]
            largest = new
        empty = total == 0
        lse = (largest + total.log()).squeeze(-1)
        return (y / total.masked_fill(empty, 1)), lse


class Cache(Whole):
    """Token by token: keys and values of each token are appended to a cache, then it is read."""

    top_left = False

    def __call__(self, q, k, v, seen, scale, cap):
        S, T = q.shape[-2], k.shape[-2]
        steps = []
        for s in range(S):
            T_now = s + 1 if self.top_left else T - S + s + 1
            if T_now < 1:
                raise Unsupported("a query before the first key")
            cached = slice(0, T_now)
            part = seen[..., s : s + 1, cached]
            steps.append(super().__call__(q[..., s : s + 1, :], k[..., cached, :],
                                          v[..., cached, :], part, scale, cap))
        return torch.cat([y for y, _ in steps], -2), torch.cat([lse for _, lse in steps], -1)


class CacheFromStart(Cache):
    """Wrong: treats the first new token as the first token of the sequence."""

    top_left = True


class Library:
    """torch's scaled dot product attention; is_causal aligns the first query with the first key."""

    def __call__(self, q, k, v, seen, scale, cap):
        S, T = seen.shape[-2:]
        causal = seen[0, 0].equal(torch.ones(S, T).tril().bool()) and not seen[0, 0].all()
        if not (causal or seen.all()) or cap is not None:
            raise Unsupported("supports only no mask, or a causal mask with align=top_left")
        q = q * (scale * math.sqrt(q.shape[-1]))
        torch_attention = torch.nn.functional._scaled_dot_product_attention
        return torch_attention(q, k, v, is_causal=causal)[0], None


def attention(form, repeat=None):
    repeat = repeat or (lambda x, groups: x.repeat_interleave(groups, 1))

    def answer(q, k, v, B, H, K, S, T, mask, dtype, align=None, query_offset=None, scale=None,
               soft_cap=None, window=None, chunk=None, key_length=None, segments=None, bias=None,
               sink=None, q_scale=None, k_scale=None, v_scale=None, **_):
        if any(x is not None for x in (bias, sink, q_scale, k_scale, v_scale)):
            raise Unsupported("has no bias, no sink and no scales of q, k and v")
        if query_offset is not None and isinstance(form, Cache):
            raise Unsupported("the new tokens are the last ones of the cache")
        q, k, v = (as_tensor(x, dtype) for x in (q, k, v))
        wide = working(q)
        k, v = (repeat(x, H // K) for x in (k, v))
        seen = seen_keys(B, S, T, mask, align, query_offset, window, chunk, key_length,
                         segments)  # fmt: skip
        scale = q.shape[-1] ** -0.5 if scale is None else scale
        y, lse = form(q.to(wide), k.to(wide), v.to(wide), seen, scale, soft_cap)
        outputs = {"y": y.to(q.dtype)}
        if lse is not None:
            outputs["lse"] = as_tensor(lse, WIDE[dtype])
        return outputs

    return {"attention": answer}


SYSTEMS = {
    "attention_at_once": attention(Whole()),
    "attention_tiled_heads": attention(Whole(), lambda x, groups: x.repeat(1, groups, 1, 1)),
    "flash_1": attention(Flash(1)),
    "flash_2": attention(Flash(2)),
    "flash_3_backwards": attention(Flash(3, backwards=True)),
    "flash_16": attention(Flash(16)),
    "flash_16_weights_in_bf16": attention(Flash(16, weights_dtype=torch.bfloat16)),
    "flash_not_rescaled": attention(Flash(2, rescales=False)),
    "kv_cache": attention(Cache()),
    "kv_cache_from_start": attention(CacheFromStart()),
    "sdpa": attention(Library()),
}

if __name__ == "__main__":
    serve(SYSTEMS)
