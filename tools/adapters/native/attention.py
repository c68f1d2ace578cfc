"""Attention as in the eager implementation of Hugging Face; one function per operation."""

import torch

from layer import linear_bias
from rope import rope
from steps import product, times, wide


def capped(x, cap):
    """cap * tanh(x / cap) in f32."""
    return cap * torch.tanh(wide(x) / cap)


def soft_cap(x, cap):
    return capped(x, cap).to(x.dtype)


def softmax(x):
    return torch.softmax(wide(x), -1).to(x.dtype)


def scaled(scores, scale, width):
    return times(scores, width**-0.5 if scale is None else scale)


def attention_scores(q, k, scale):
    k = k.repeat_interleave(q.shape[1] // k.shape[1], 1)
    return scaled(product(q, k.transpose(-1, -2)), scale, q.shape[-1])


def of_batch(numbers, B):
    return torch.tensor(numbers if len(numbers) == B else numbers * B)[:, None, None]


def seen(B, S, T, mask, align, query_offset, window, chunk, key_length, segments):
    """[B,S,T]: true where a query attends to a key."""
    t = torch.arange(T)[None, None]
    length = of_batch(key_length or [T], B)
    if query_offset is None:
        first = length - S if align == "bottom_right" else 0 * length
    else:
        first = of_batch(query_offset, B)
    i = torch.arange(S)[None, :, None] + first
    see = (t < length) & (t >= 0) & (i == i)
    if mask == "causal":
        see = see & (t <= i)
    if window:
        left, right = window
        see = see & ((left < 0) | (t >= i - left)) & ((right < 0) | (t <= i + right))
    if chunk:
        see = see & (i.div(chunk, rounding_mode="floor") == t.div(chunk, rounding_mode="floor"))
    if segments is not None:
        ends = torch.tensor(segments).cumsum(0)
        see = see & ((i[..., None] >= ends).sum(-1) == (t[..., None] >= ends).sum(-1))
        see = see & (0 <= i) & (i < T)
    return see


def mean_of(scores, v, see, sink=None):
    """y and lse of scores [B,H,S,T] and values [B,K,T,E]; y is 0 where a query sees no key."""
    see = see[:, None].expand(scores.shape)
    masked = wide(scores).masked_fill(~see, -torch.inf)
    lse = torch.logsumexp(masked, -1)
    if sink is not None:
        masked = torch.cat((masked, sink[None, :, None, None].expand(*masked.shape[:3], 1)), -1)
    weights = torch.softmax(masked, -1).to(v.dtype)[..., : scores.shape[-1]]
    v = v.repeat_interleave(scores.shape[1] // v.shape[1], 1)
    terms = wide(weights)[..., None] * wide(v)[:, :, None]
    y = terms.masked_fill(~see[..., None], 0).sum(-2).to(v.dtype)
    return {"y": y, "lse": lse}


def attention(q, k, v, scale=None, soft_cap=None, mask="none", align="bottom_right",
              query_offset=None, window=None, chunk=None, key_length=None, segments=None,
              empty_rows="unspecified", bias=None, scale_bias=False, sink=None):  # fmt: skip
    scores = attention_scores(q, k, 1 if scale_bias else scale)
    if scale_bias:
        scores = scaled(scores + bias, scale, q.shape[-1])
    if soft_cap:
        scores = capped(scores, soft_cap).to(q.dtype)
    if bias is not None and not scale_bias:
        scores = scores + bias
    B, _, S, T = scores.shape
    see = seen(B, S, T, mask, align, query_offset, window, chunk, key_length, segments)
    return mean_of(scores, v, see, sink)


def attention_bias(q, k, v, bias, scale_bias, **attending):
    return attention(q, k, v, bias=bias, scale_bias=scale_bias, **attending)


def attention_sink(q, k, v, sink, **attending):
    return attention(q, k, v, sink=sink, **attending)


def attention_merge(y1, lse1, y2, lse2, empty_rows):
    lse = torch.logaddexp(lse1, lse2)
    parts = [(wide(y) * torch.exp(part - lse)[:, None].to(y.dtype)).masked_fill(
        torch.isneginf(part)[:, None], 0) for y, part in ((y1, lse1), (y2, lse2))]  # fmt: skip
    return {"y": (parts[0] + parts[1]).to(y1.dtype), "lse": lse}


def rope_attention(q, k, v, position_q, position_k, pairing, base, scaling, seq_len, offset,
                   direction, R, **attending):  # fmt: skip
    rotary = (pairing, base, scaling, seq_len, offset, direction, R)
    return attention(rope(q, position_q, *rotary), rope(k, position_k, *rotary), v, **attending)


def relative_attention(q, k, v, key_table, value_table, query_position, key_position, clip, scale):
    row = (key_position - query_position[:, None]).clamp(-clip, clip) + clip
    relative = (wide(q)[..., None, :] * wide(key_table)[row]).sum(-1).to(q.dtype)
    content = product(q, k.transpose(-1, -2))
    scores = scaled(content + relative, scale, q.shape[-1])
    weights = softmax(scores)
    mean = (wide(weights)[..., None] * wide(value_table)[row]).sum(-2).to(q.dtype)
    return {"y": product(weights, v) + mean, "scores": scores}


def split(x, heads):
    """[S,H*D] -> [1,H,S,D]"""
    return x.unflatten(-1, (heads, -1)).transpose(0, 1)[None]


def cross_attention(x, memory, wq, bq, wk, bk, wv, bv, wo, bo, scale, soft_cap, key_length,
                    empty_rows, H, K, mask="none"):  # fmt: skip
    q = split(linear_bias(x, wq, bq), H)
    k, v = (split(linear_bias(memory, w, b), K) for w, b in ((wk, bk), (wv, bv)))
    answer = attention(q, k, v, scale, soft_cap, mask, "top_left", key_length=key_length,
                       empty_rows=empty_rows)  # fmt: skip
    mean = answer["y"][0].transpose(0, 1).flatten(1)
    return {"y": linear_bias(mean, wo, bo), "q": q[0], "k": k[0], "v": v[0], "mean": mean}
