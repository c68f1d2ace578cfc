"""The visible keys of attention (formula of operation `attention`), for frameworks that take a mask."""

import numpy as np

from sextant_adapter import Unsupported


NAMES = ("mask", "align", "query_offset", "window", "chunk", "key_length", "segments")


def visible(B, S, T, /, mask="none", align=None, query_offset=None, window=None, chunk=None,
            key_length=None, segments=None, **_):  # fmt: skip
    """bool [B,S,T]: true where a query sees a key. None if every query sees all keys."""
    if mask == "none" and segments is None and not (window or chunk or key_length):
        return None
    length = _of_batch(key_length or [T], B)
    first = 0 * length if align == "top_left" else length - S
    if query_offset is not None:
        first = _of_batch(query_offset, B)
    t = np.arange(T).reshape(1, 1, T)
    i = np.arange(S).reshape(1, S, 1) + first
    see = np.broadcast_to(t < length, (B, S, T))
    if mask == "causal":
        see = see & (t <= i)
    if window:
        left, right = window
        see = see & ((left < 0) | (t >= i - left)) & ((right < 0) | (t <= i + right))
    if chunk:
        see = see & (i // chunk == t // chunk)
    if segments is not None:
        ends = np.cumsum(segments)
        see = see & (np.searchsorted(ends, i, "right") == np.searchsorted(ends, t, "right"))
        see = see & (0 <= i) & (i < T)
    return see


def _of_batch(numbers, B):
    return np.broadcast_to(np.asarray(numbers, np.int64), B).reshape(B, 1, 1)


def earlier_keys(S, T, /, align=None, query_offset=None, **_):
    """The number of keys before the first query, as a cache holds them; None if batches differ."""
    if query_offset is not None:
        return int(query_offset[0]) if len(set(query_offset)) == 1 else None
    return 0 if align == "top_left" else T - S


def additive(see, bias=None):
    """A mask to be added to scores: 0 (f32) or the bias, and -infinity for keys that are not seen.
    [B,1,S,T], or [B,H,S,T] with a bias, in its type; None without either."""
    if see is None:
        return bias
    base = np.zeros(1, np.float32) if bias is None else np.asarray(bias)
    return np.where(see[:, None], base, base.dtype.type(-np.inf))


def expect_none(tensor, name):
    """For frameworks without an optional input."""
    if tensor is not None:
        raise Unsupported(f"it has no {name}")


def expect_no_scales(q_scale=None, k_scale=None, v_scale=None, **_):
    """For frameworks whose q, k and v are numbers, not codes."""
    if any(scale is not None for scale in (q_scale, k_scale, v_scale)):
        raise Unsupported("q, k and v have no scales")


def expect_bias_after_cap(add_bias, soft_cap):
    """For frameworks that add a bias to the capped score."""
    if add_bias == "before_scale" or (add_bias == "before_cap" and soft_cap):
        raise Unsupported("the bias is added after scale and cap")


def expect_no_zeros(see, empty_rows):
    """For frameworks that promise nothing where a query sees no key; empty_rows=zero expects 0."""
    if empty_rows == "zero" and see is not None and not see.any(-1).all():
        raise Unsupported("the answer to a query that sees no key is not defined")
